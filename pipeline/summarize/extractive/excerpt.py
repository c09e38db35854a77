"""An excerpt: a verbatim stretch of the document that the extractive writer keeps or drops as a whole.

Excerpts are written as the Markdown of their document, which is read back as the same, or as paragraphs or one list.
There a table's row names its columns, and an item of a list has a full stop.

Texts are read as pieces: sentences, list items, lines of listings, rows of tables. Each knows what stands around it,
and which pieces it cannot stand without.
"""

import re
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
from pipeline.reading.rules import Rule
from pipeline.reading.sentences import Antecedent, points_back, split_sentences, starts_inside
from pipeline.reading.terms import Term, find_terms
from pipeline.reading.words import count_words
from pipeline.summarize.steering.wishes import SummaryForm

GAP_MARK = "[…]"
"""Stands where lines of a listing were left out."""
LABEL_LEVEL = 7
"""Below all headings of markdown."""
TEXT_KINDS = frozenset({BlockKind.PROSE, BlockKind.BULLET, BlockKind.STEP, BlockKind.TURN})
"""Kinds that say something in words, which an embedder and an NLI model can compare."""
STATEMENTS = (BlockKind.PROSE, BlockKind.BULLET, BlockKind.TURN)
ANSWERS = TEXT_KINDS | {BlockKind.TABLE_ROW}  # kinds that may answer a question
_PARAGRAPH_WORDS = 90
_FEWEST_WORDS = 4  # of a list item that is written as a sentence
_BACKTICKS = re.compile(r"`{3,}")
_TIGHT_KINDS = (*LIST_KINDS, BlockKind.TURN)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One excerpt and its place."""

    kind: BlockKind
    text: str  # the document's characters; white space collapsed but for code, without marks such as "##" or "- "
    level: int = 0  # 1 to 6 of a heading, `LABEL_LEVEL` of a label; indentation in spaces of a list item; else 0
    mark: str = ""  # "1." of a step, "-" of a bullet, "Ann:" of a turn; the words behind the fence of code; else empty
    block: int = 0  # excerpts of one paragraph, list item or listing share this number
    origin: int = 0  # which text it was read from: a chunk of a batch, an extraction of a group; from 0
    section: int = -1  # position of the heading above it; -1 without one
    # positions of excerpts without which it would dangle: heading, lead-in, antecedent, neighbouring steps
    needs: tuple[int, ...] = ()
    token_count: int = 0  # as it is written, with its marks
    terms: tuple[Term, ...] = ()  # technical terms that it has, in order
    # it begins or ends in the middle of a sentence, or is none; fit to save a value, not to fill space
    is_cut: bool = False
    dangles: bool = False  # what it points back to is not there or too far away; it is not chosen


def write_markdown(excerpts: Sequence[Excerpt], positions: Sequence[int]) -> str:
    """Writes the excerpts at some positions, rising."""
    text, kind_before = "", None
    # Sentences of a paragraph or item, lines of a listing and rows of a table are written together.
    for _, members in groupby(positions, key=lambda position: excerpts[position].block):
        group = list(members)
        kind = excerpts[group[0]].kind
        if text:
            text += "\n" if kind in _TIGHT_KINDS and kind_before in _TIGHT_KINDS else "\n\n"
        text += _block([excerpts[position] for position in group], group)
        kind_before = kind
    return text


def _block(group: Sequence[Excerpt], positions: Sequence[int]) -> str:
    first = group[0]
    if first.kind is BlockKind.HEADING:
        return "#" * first.level + " " + first.text
    if first.kind is BlockKind.LABEL:
        return f"**{first.text}**" if "**" not in first.text else first.text
    if first.kind is BlockKind.CODE:
        return _fenced(group, positions)
    text = ("\n" if first.kind in TABLE_KINDS else " ").join(excerpt.text for excerpt in group)
    mark = f"{' ' * first.level}{first.mark or '-'}" if first.kind in LIST_KINDS else first.mark
    return f"{mark} {text}" if mark else text


def _fenced(group: Sequence[Excerpt], positions: Sequence[int]) -> str:
    """Writes listings in one fence; a mark stands where lines are missing between them."""
    longest = max((len(run) for excerpt in group for run in _BACKTICKS.findall(excerpt.text)), default=2)
    fence = "`" * (longest + 1)
    lines = [fence + group[0].mark]
    for number, excerpt in enumerate(group):
        is_gap = number > 0 and positions[number] != positions[number - 1] + 1
        if is_gap and not excerpt.text.startswith(GAP_MARK):
            lines.append(GAP_MARK)
        lines.extend(excerpt.text.split("\n"))
    return "\n".join([*lines, fence])


def writable(excerpts: Sequence[Excerpt], form: SummaryForm) -> set[int]:
    """Returns the positions of what can be written in a form."""
    return {at for at, each in enumerate(excerpts) if form is SummaryForm.MARKDOWN or _is_statement(each, form)}


def _is_statement(excerpt: Excerpt, form: SummaryForm) -> bool:
    kind, text = excerpt.kind, excerpt.text
    if kind not in TEXT_KINDS or text.endswith(":"):  # the list or listing that it announces is not there
        return kind is BlockKind.TABLE_ROW
    is_item = kind in LIST_KINDS and form is SummaryForm.PROSE
    return not is_item or is_sentence_end(text) or count_words(text) >= _FEWEST_WORDS


def resized(excerpts: list[Excerpt], form: SummaryForm, count: Callable[[str], int]) -> list[Excerpt]:
    """Returns excerpts that know how long they are in a form, by some count, and not as Markdown."""
    if form is SummaryForm.MARKDOWN:
        return excerpts
    return [replace(each, token_count=count(_said(excerpts, at, -1))) for at, each in enumerate(excerpts)]


def write_form(excerpts: Sequence[Excerpt], positions: Sequence[int], form: SummaryForm) -> str:
    """Writes the excerpts at some positions, rising, in a form."""
    if form is SummaryForm.MARKDOWN:
        return write_markdown(excerpts, positions)
    groups: list[list[str]] = []
    before = -1
    for position in positions:
        text = _said(excerpts, position, before)
        if before < 0 or _begins(excerpts, before, position, groups[-1], form):
            groups.append([])
        groups[-1].append(text)
        before = position
    if form is SummaryForm.PROSE:
        return "\n\n".join(" ".join(group) for group in groups)
    return "\n".join(f"- {' '.join(group)}" for group in groups)


def _begins(excerpts: Sequence[Excerpt], before: int, position: int, group: list[str], form: SummaryForm) -> bool:
    """Tells whether a paragraph or list item begins: nothing that points back does."""
    excerpt, previous = excerpts[position], excerpts[before]
    is_other = excerpt.block != previous.block
    if before in excerpt.needs and previous.kind is BlockKind.PROSE and not is_other:
        return False
    is_long = is_other and sum(map(count_words, group)) >= _PARAGRAPH_WORDS
    return form is SummaryForm.BULLETS or excerpt.section != previous.section or is_long


def _said(excerpts: Sequence[Excerpt], position: int, before: int) -> str:
    """Returns an excerpt as a sentence: a row with its columns, an item with its full stop, each with its label."""
    excerpt = excerpts[position]
    text = words_of(excerpts, excerpt)
    if excerpt.kind is BlockKind.TURN and excerpt.mark:
        text = f"{excerpt.mark} {text}"
    if excerpt.kind in (*LIST_KINDS, BlockKind.TABLE_ROW) and not is_sentence_end(text):
        text = f"{text.rstrip(' ;,')}."
    labels = [need for need in excerpt.needs if excerpts[need].kind is BlockKind.LABEL]
    is_said = before >= 0 and any(label in excerpts[before].needs for label in labels)
    if labels and not is_said and not excerpts[labels[-1]].text.startswith("|"):
        text = f"{excerpts[labels[-1]].text.strip('*: ')}: {text}"
    return text


def words_of(excerpts: Sequence[Excerpt], excerpt: Excerpt) -> str:
    """Returns what an excerpt says: the cells of a row, each behind the name of its column."""
    if excerpt.kind is not BlockKind.TABLE_ROW:
        return excerpt.text
    above = [excerpts[need] for need in excerpt.needs]
    heads = [one.text.split("\n")[0] for one in above if one.kind is BlockKind.TABLE_HEAD]
    names = _cells(heads[0]) if heads else []
    cells = _cells(excerpt.text)
    names += [""] * (len(cells) - len(names))
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


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
    kind, text = block.kind, _original(source, block.start, block.end)
    if kind in _LISTINGS:
        yield from _listing_pieces(text, block.mark)
    elif kind in TABLE_KINDS:
        yield Excerpt(kind, "\n".join(line.strip() for line in text.splitlines()))
    elif kind in STRUCTURE:
        yield Excerpt(kind, _flat(text), block.level or LABEL_LEVEL)
    elif kind in LIST_KINDS and count_words(text) <= _PARAGRAPH_WORDS // 2:  # clauses are paragraphs with a number
        yield Excerpt(kind, _flat(text), block.level, block.mark)
    else:
        sentences = split_sentences(source.text[block.start : block.end], _MAX_SENTENCE_CHARS)
        if kind in LIST_KINDS and count_words(source.text[block.start : block.start + sentences[0].end]) <= _FEW_WORDS:
            sentences[:2] = [replace(each, start=0) for each in sentences[1:2] or sentences]  # "- **Fees.** They rise."
        for number, sentence in enumerate(sentences):
            lines = _original(source, block.start + sentence.start, block.start + sentence.end).splitlines()
            is_quoted = all(line.lstrip().startswith(">") for line in lines[1:])
            text = _flat(" ".join(line.lstrip("> ") if is_quoted else line for line in lines))
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
    """Reads neighbouring texts of one document, in linear time: sentences, lists and sections may go on in the next.

    Args:
        texts: chunks of a batch, or texts that this writer made, in the order of the document.
        starts_document: nothing stands before them that their first sentence could point back to.
    """
    reader = _Reader(starts_document)
    for piece in _cut_pieces(texts):
        reader.place(piece, count_tokens)
    return _with_later_needs(reader.excerpts)


@dataclass(slots=True)
class _Reader:
    """Places pieces one by one, and knows what stands above."""

    starts_document: bool
    excerpts: list[Excerpt] = field(default_factory=list)
    open_headings: list[int] = field(default_factory=list)
    label: int = -1  # position of the one that the current block stands under; -1 without one
    chain_length: int = 0  # of sentences in a row that point back

    def place(self, piece: Excerpt, count_tokens: Callable[[str], int]) -> None:
        """Adds the piece with its section, and with those of its needs that stand before it."""
        if piece.kind is BlockKind.HEADING:
            while self.open_headings and self.excerpts[self.open_headings[-1]].level >= piece.level:
                self.open_headings.pop()
        self._find_label(piece)
        section = self.open_headings[-1] if self.open_headings else -1
        before, dangles = self._leans_on(piece)
        above = [position for position in (section, self.label) if position >= 0]
        excerpt = replace(
            piece,
            section=section,
            needs=tuple(dict.fromkeys([*above, *before])),
            token_count=count_tokens(_block([piece], [0])),  # alone: an upper bound of what it adds to a text
            terms=tuple(find_terms("# " + piece.text if piece.kind is BlockKind.HEADING else piece.text)),
            is_cut=_is_cut(piece),
            dangles=dangles,
        )
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
        if excerpt.kind is previous.kind in LIST_KINDS and (excerpt.mark or not _continues(excerpt, previous)):
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
    "The steps of a procedure are kept or dropped as a whole; clauses, with titles or in brackets, are no steps.",
    "1. Close the valve. 2. Start the pump.",
    "both steps or none",
)


def _are_clauses(items: Sequence[Excerpt]) -> bool:
    """Tells clauses by titles, "3. Rent. The Tenant shall pay.", by brackets where they are long, or as paragraphs."""
    parts = (item.text.partition(". ") for item in items)
    titles = sum(bool(text) and count_words(title) < _FEW_WORDS for title, _, text in parts)
    is_long = sum(count_words(item.text) for item in items) > 2 * _FEW_WORDS * len(items)
    is_law = is_long and items[0].mark.startswith("(")
    return is_law or 2 * titles > len(items) or len(items) > len({item.block for item in items})


def _with_later_needs(excerpts: list[Excerpt]) -> list[Excerpt]:
    """Adds needs that stand behind: what a lead-in announces, and all steps of a procedure."""
    needs = [set(excerpt.needs) for excerpt in excerpts]
    for is_step, group in groupby(range(len(excerpts)), key=lambda position: excerpts[position].kind is BlockKind.STEP):
        steps = list(group) if is_step and WHOLE_PROCEDURE.is_on else []
        if is_step and _are_clauses([excerpts[step] for step in steps]):
            for step in steps:
                excerpts[step] = replace(excerpts[step], kind=BlockKind.BULLET)
            steps = []
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
