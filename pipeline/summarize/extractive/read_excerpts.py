"""Parses texts into excerpts: what stands around each, and which cannot stand without which.

Texts that follow each other are cut into pieces: sentences, list items, lines of listings, rows of tables.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from textwrap import dedent

from pipeline.reading.blocks import (
    LIST_KINDS,
    STRUCTURE,
    TABLE_KINDS,
    Block,
    BlockKind,
    is_entry,
    is_prompt,
    is_sentence_end,
    read_blocks,
)
from pipeline.reading.characters import NormalizedText, normalize
from pipeline.reading.references import Antecedent, points_back, starts_inside
from pipeline.reading.rules import Rule
from pipeline.reading.sentences import split_sentences
from pipeline.reading.values import find_terms
from pipeline.reading.words import count_words
from pipeline.summarize.extractive.excerpt import GAP_MARK, LABEL_LEVEL, TEXT_KINDS, Excerpt, written_alone

_MAX_SENTENCE_CHARS = 1_500
_LISTINGS = (BlockKind.CODE, BlockKind.LISTING)
_MAX_LISTING_LINES = 8  # a longer listing is cut, so that one value does not keep a page of output


def _cut_pieces(texts: Sequence[str]) -> Iterator[Excerpt]:
    """Yields excerpts in order, still without their places. A sentence, list or fence may go on in the next text."""
    joined, starts = join_texts(texts)
    source = normalize("", joined)
    listing_end, number = -1, -1
    for block in read_blocks(source.text):
        if not any(map(str.isalnum, source.text[block.start : block.end])):
            continue  # a number in front of nothing
        is_listing = block.kind in _LISTINGS
        is_next_listing = is_listing and listing_end >= 0 and not source.text[listing_end : block.start].strip()
        number += not (is_next_listing or block.kind is BlockKind.TABLE_ROW)
        listing_end = block.end if is_listing else -1
        origin = bisect_right(starts, source.offsets.to_original(block.start, block.end)[0]) - 1
        for piece in _block_pieces(source, block):
            yield replace(piece, block=number, origin=origin)


def join_texts(texts: Sequence[str]) -> tuple[str, list[int]]:
    """Returns texts that follow each other in a document as one, and where each of them starts in it."""
    joined, starts = list[str](), list[int]()
    position = 0
    for text in texts:
        if joined:
            joined.append(_seam(joined[-1], text))
            position += len(joined[-1])
        starts.append(position)
        joined.append(text)
        position += len(text)
    return "".join(joined), starts


def _seam(before: str, after: str) -> str:
    """Returns what to put between two parts: a sentence that goes on must not be cut by a blank line."""
    if before.endswith("\n") and is_sentence_end(before) and not starts_inside(after):
        return "\n"  # the end of a page: a heading on top of the next one is no comment below a command
    if before[-1:].isspace() or after[:1].isspace():  # cut out of one text as they stood there
        return ""
    return "\n" if not is_sentence_end(before) and starts_inside(after) else "\n\n"


def _block_pieces(source: NormalizedText, block: Block) -> Iterator[Excerpt]:
    text = _original(source, block.start, block.end)
    if block.kind in _LISTINGS:
        yield from _listing_pieces(text, block.mark)
    elif block.kind in TABLE_KINDS:
        yield Excerpt(block.kind, "\n".join(line.strip() for line in text.splitlines()))
    elif block.kind in STRUCTURE:
        yield Excerpt(block.kind, _flat(text), block.level or LABEL_LEVEL)
    else:
        yield from _prose_pieces(source, block)


def _prose_pieces(source: NormalizedText, block: Block) -> Iterator[Excerpt]:
    kind = block.kind
    if kind in LIST_KINDS:
        yield Excerpt(kind, _flat(_original(source, block.start, block.end)), block.level, block.mark)
        return
    for number, sentence in enumerate(split_sentences(source.text[block.start : block.end], _MAX_SENTENCE_CHARS)):
        text = _flat(_original(source, block.start + sentence.start, block.start + sentence.end))
        is_marked = number == 0 or kind is BlockKind.TURN
        yield Excerpt(kind, text, block.level, block.mark if is_marked else "")


def _listing_pieces(text: str, mark: str) -> Iterator[Excerpt]:
    """Cuts a long listing before prompts, after some lines, and at the gaps that an earlier cut left."""
    lines: list[str] = []
    for line in [*dedent(text.replace("\r\n", "\n")).split("\n"), GAP_MARK]:
        if lines and (len(lines) >= _MAX_LISTING_LINES or is_prompt(line) or line.strip() == GAP_MARK):
            if any(character.isalnum() for each in lines for character in each):
                yield Excerpt(BlockKind.CODE, "\n".join(lines), mark=mark)
            lines = []
        lines.append(line.rstrip())


def _original(source: NormalizedText, start: int, end: int) -> str:
    first, last = source.offsets.to_original(start, end)
    return source.original[first:last]


def _flat(text: str) -> str:
    return " ".join(text.split())


_WHOLE_CHARS = 6_000  # a procedure with a missing step is wrong; one of many pages is a document
_FEW_WORDS = 5  # "Be careful!"
_LONGEST_CHAIN = 4  # neighbours that point back one after the other: all "It ..." would be one excerpt else


def read_excerpts(
    texts: Sequence[str], count_tokens: Callable[[str], int], *, starts_document: bool = True
) -> list[Excerpt]:
    """Reads texts that follow each other in one document: sentences, lists and sections may go on in the next.

    Args:
        texts: chunks of a batch, or texts that this writer made, in the order of the document.
        starts_document: nothing stands before them that their first sentence could point back to.

    Returns:
        Excerpts in the order of the document. Linear in the length of the texts.
    """
    reader = _Reader(starts_document)
    for piece in _cut_pieces(texts):
        reader.place(piece, count_tokens)
    return _with_later_needs(reader.excerpts)


@dataclass(slots=True)
class _Reader:
    """Places pieces one by one, and knows what stands above.

    Attributes:
        label: position of the label that the current block stands under; -1 without one.
        chain_length: how many sentences in a row point back.
    """

    starts_document: bool
    excerpts: list[Excerpt] = field(default_factory=list)
    open_headings: list[int] = field(default_factory=list)
    label: int = -1
    chain_length: int = 0

    def place(self, piece: Excerpt, count_tokens: Callable[[str], int]) -> None:
        """Adds the piece with its section, and with those of its needs that stand before it."""
        if piece.kind is BlockKind.HEADING:
            while self.open_headings and self.excerpts[self.open_headings[-1]].level >= piece.level:
                self.open_headings.pop()
        self._find_label(piece)
        section = self.open_headings[-1] if self.open_headings else -1
        marked = "# " + piece.text if piece.kind is BlockKind.HEADING else piece.text
        terms = tuple(find_terms(marked))
        excerpt = replace(piece, section=section, terms=terms, is_cut=_is_cut(piece))
        before, dangles = self._leans_on(excerpt)
        above = [position for position in (section, self.label) if position >= 0]
        needs = tuple(dict.fromkeys([*above, *before]))
        excerpt = replace(excerpt, needs=needs, dangles=dangles, token_count=count_tokens(written_alone(excerpt)))
        if piece.kind is BlockKind.HEADING:
            self.open_headings.append(len(self.excerpts))
        self.excerpts.append(excerpt)

    def _find_label(self, piece: Excerpt) -> None:
        """Notes under which label a piece stands: that of its block, or of an entry, which goes on to the next one."""
        previous = self.excerpts[-1] if self.excerpts else None
        if previous is None or BlockKind.HEADING in (piece.kind, previous.kind) or piece.kind is BlockKind.LABEL:
            self.label = -1
        elif previous.kind is BlockKind.LABEL:
            self.label = len(self.excerpts) - 1
        elif self.label >= 0 and piece.block != previous.block and not is_entry(self.excerpts[self.label].text):
            self.label = -1

    def _leans_on(self, excerpt: Excerpt) -> tuple[tuple[int, ...], bool]:
        """Returns the excerpt before it that must not be missing, at most one, and whether even that is not enough."""
        previous = self.excerpts[-1] if self.excerpts else None
        if previous is None or previous.kind in STRUCTURE or excerpt.kind in STRUCTURE:
            self.chain_length = 0
            return (), previous is None and not self.starts_document and _continues(excerpt, excerpt)
        position = len(self.excerpts) - 1
        if excerpt.kind is BlockKind.TABLE_ROW:
            return (position,) if previous.kind is BlockKind.TABLE_HEAD else previous.needs[-1:], False
        if excerpt.kind in LIST_KINDS and excerpt.kind is previous.kind and excerpt.mark:  # the lead-in of the list
            return tuple(need for need in previous.needs if self.excerpts[need].text.endswith(":")), False
        is_linked = _continues(excerpt, previous, has_label=self.label >= 0)
        self.chain_length = self.chain_length + 1 if is_linked else 0
        is_too_long = self.chain_length > _LONGEST_CHAIN
        return (position,) if is_linked and not is_too_long else (), is_too_long


ANTECEDENTS = Rule(
    "antecedents",
    "extractive",
    "A sentence that points back stands with the one before it, or with the name of the entry that it is about.",
    "The pump moves water. It is red.",
    "both sentences or the first",
)


def _continues(excerpt: Excerpt, previous: Excerpt, *, has_label: bool = False) -> bool:
    """Tells whether an excerpt was announced, or points back."""
    if excerpt.kind is BlockKind.CODE:  # commands without a word about them are of no use
        return previous.kind in TEXT_KINDS
    if previous.kind in TEXT_KINDS and previous.text.endswith(":"):
        return True
    is_answer = excerpt.kind is BlockKind.TURN and excerpt.block != previous.block
    if excerpt.kind not in TEXT_KINDS or is_answer or not ANTECEDENTS.is_on:
        return False
    if antecedent := points_back(excerpt.text):
        return antecedent is Antecedent.SENTENCE or not has_label
    is_fragment = starts_inside(excerpt.text) or (count_words(excerpt.text) < _FEW_WORDS and not has_label)
    return excerpt.kind is previous.kind is BlockKind.PROSE and is_fragment


def _is_cut(piece: Excerpt) -> bool:
    if piece.kind is BlockKind.TURN:
        return count_words(piece.text) < _FEW_WORDS
    if piece.kind is not BlockKind.PROSE:
        is_title = piece.kind is BlockKind.BULLET and count_words(piece.text) < _FEW_WORDS
        return is_title and not is_sentence_end(piece.text)
    is_whole = is_sentence_end(piece.text) or piece.text.endswith(":")
    return not is_whole or starts_inside(piece.text)


WHOLE_PROCEDURE = Rule(
    "whole-procedure",
    "extractive",
    "The steps of a procedure are kept or dropped as a whole.",
    "1. Close the valve. 2. Start the pump.",
    "both steps or none",
)


def _with_later_needs(excerpts: list[Excerpt]) -> list[Excerpt]:
    """Adds needs that stand behind: what a lead-in announces, and all steps of a procedure."""
    needs = [set(excerpt.needs) for excerpt in excerpts]
    for is_step, group in groupby(range(len(excerpts)), key=lambda position: excerpts[position].kind is BlockKind.STEP):
        steps = list(group) if is_step and WHOLE_PROCEDURE.is_on else []
        if sum(len(excerpts[step].text) for step in steps) <= _WHOLE_CHARS:
            for step, following_step in pairwise(steps):
                needs[step].add(following_step)
                needs[following_step].add(step)
    for position, (excerpt, following) in enumerate(pairwise(excerpts)):
        is_lead_in = excerpt.kind in (BlockKind.LABEL, BlockKind.TABLE_HEAD) or excerpt.text.endswith(":")
        stands_alone = excerpt.kind is BlockKind.HEADING or is_entry(excerpt.text)
        if is_lead_in and not stands_alone and position in following.needs:
            needs[position].add(position + 1)
    return [replace(excerpt, needs=tuple(sorted(all_))) for excerpt, all_ in zip(excerpts, needs, strict=True)]
