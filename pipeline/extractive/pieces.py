"""Cuts texts that follow each other into pieces: sentences, list items, lines of listings, rows of tables."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent

from pipeline.extractive.excerpt import LABEL_LEVEL, ExcerptKind
from pipeline.extractive.listing_lines import is_prompt, is_sentence_end
from pipeline.extractive.source_blocks import GAP_MARK, BlockKind, SourceBlock, split_source
from pipeline.extractive.wording import starts_inside
from pipeline.text.normalize import NormalizedText, normalize
from pipeline.text.sentences import split_sentences

_MAX_SENTENCE_CHARS = 1_500
_MAX_ITEM_CHARS = 500  # a longer list item is cut into sentences
_MAX_LISTING_LINES = 8  # a longer listing is cut, so that one value does not keep a page of output
_MAX_LISTING_CHARS = 2_000
_ITEM_KINDS = {BlockKind.BULLET: ExcerptKind.BULLET, BlockKind.STEP: ExcerptKind.STEP}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece before it is known what stands around it; the attributes are those of `Excerpt`."""

    kind: ExcerptKind
    text: str
    level: int = 0
    mark: str = ""
    follows_gap: bool = False
    block: int = 0
    origin: int = 0


def cut_pieces(texts: Sequence[str]) -> Iterator[Piece]:
    """Yields pieces in order. A sentence, a list or a fence may go on in the next text."""
    joined, starts = _join(texts)
    source = normalize("", joined)
    listing_end, number = -1, -1
    for block in split_source(source.text):
        is_next_listing = block.kind is BlockKind.LISTING and not source.text[listing_end : block.start].strip()
        if not (is_next_listing and listing_end >= 0):
            number += 1
        listing_end = block.end if block.kind is BlockKind.LISTING else -1
        origin = bisect_right(starts, source.offsets.to_original(block.start, block.end)[0]) - 1
        for piece in _block_pieces(source, block):
            yield replace(piece, block=number, origin=origin)


def _join(texts: Sequence[str]) -> tuple[str, list[int]]:
    """Returns one text, and where each part starts in it."""
    parts: list[str] = []
    starts: list[int] = []
    position = 0
    for text in texts:
        if parts:
            parts.append(_seam(parts[-1], text))
            position += len(parts[-1])
        starts.append(position)
        parts.append(text)
        position += len(text)
    return "".join(parts), starts


def _seam(before: str, after: str) -> str:
    """Returns what to put between two parts: a sentence that goes on must not be cut by a blank line."""
    if before.endswith("\n") and is_sentence_end(before) and not starts_inside(after):
        return "\n"  # the end of a page: a heading on top of the next one is no comment below a command
    if before[-1:].isspace() or after[:1].isspace():  # cut out of one text as they stood there
        return ""
    return "\n" if not is_sentence_end(before) and starts_inside(after) else "\n\n"


def _block_pieces(source: NormalizedText, block: SourceBlock) -> Iterator[Piece]:
    if block.kind is BlockKind.LISTING:
        yield from _listing_pieces(_original(source, block.start, block.end), block.mark)
    elif block.kind is BlockKind.TABLE:
        yield from _table_pieces(_original(source, block.start, block.end))
    elif block.kind in (BlockKind.HEADING, BlockKind.LABEL):
        kind = ExcerptKind.HEADING if block.kind is BlockKind.HEADING else ExcerptKind.LABEL
        level = block.level or LABEL_LEVEL
        yield Piece(kind, _flat(_original(source, block.start, block.end)), level)
    else:
        yield from _prose_pieces(source, block)


def _prose_pieces(source: NormalizedText, block: SourceBlock) -> Iterator[Piece]:
    kind = _ITEM_KINDS.get(block.kind, ExcerptKind.SENTENCE)
    if block.kind in _ITEM_KINDS and block.end - block.start <= _MAX_ITEM_CHARS:
        yield Piece(kind, _flat(_original(source, block.start, block.end)), block.level, block.mark)
        return
    for number, sentence in enumerate(split_sentences(source.text[block.start : block.end], _MAX_SENTENCE_CHARS)):
        text = _flat(_original(source, block.start + sentence.start, block.start + sentence.end))
        yield Piece(kind, text, block.level, block.mark if number == 0 else "")


def _listing_pieces(text: str, mark: str) -> Iterator[Piece]:
    """Cuts a long listing before prompts or after some lines; notices the gaps that an earlier cut left."""
    lines: list[str] = []
    follows_gap = False
    for line in [*dedent(text.replace("\r\n", "\n")).split("\n"), GAP_MARK]:
        is_gap = line.strip() == GAP_MARK
        is_full = len(lines) >= _MAX_LISTING_LINES or sum(map(len, lines)) + len(line) > _MAX_LISTING_CHARS
        if lines and (is_gap or is_full or is_prompt(line)):
            if any(character.isalnum() for each in lines for character in each):
                yield Piece(ExcerptKind.CODE, "\n".join(lines), 0, mark, follows_gap)
                follows_gap = False
            lines = []
        follows_gap = follows_gap or is_gap
        if not is_gap:
            lines.append(line.rstrip())


def _table_pieces(text: str) -> Iterator[Piece]:
    rows = [line.strip() for line in text.splitlines()]
    head = 2 if len(rows) > 1 and not any(character.isalnum() for character in rows[1]) else 1
    yield Piece(ExcerptKind.TABLE_HEAD, "\n".join(rows[:head]))
    for row in rows[head:]:
        yield Piece(ExcerptKind.TABLE_ROW, row)


def _original(source: NormalizedText, start: int, end: int) -> str:
    first, last = source.offsets.to_original(start, end)
    return source.original[first:last]


def _flat(text: str) -> str:
    return " ".join(text.split())
