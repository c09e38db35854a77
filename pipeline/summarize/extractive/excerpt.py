"""An excerpt: a verbatim stretch of the document that the extractive writer keeps or drops as a whole; and its writing.

Excerpts are written as the Markdown of their document, which `read_excerpts.py` reads back as the same, or in a form of
its own, paragraphs or one list. There a table's row names its columns, and an item of a list has a full stop.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pipeline.reading.blocks import LIST_KINDS, TABLE_KINDS, BlockKind, is_sentence_end
from pipeline.reading.values import Term
from pipeline.reading.words import count_words
from pipeline.summarize.steering.wishes import SummaryForm

GAP_MARK = "[…]"
"""Stands where lines of a listing were left out."""
LABEL_LEVEL = 7
"""Below all headings of markdown."""
TEXT_KINDS = frozenset({BlockKind.PROSE, BlockKind.BULLET, BlockKind.STEP, BlockKind.TURN})
"""Kinds that say something in words, which an embedder and an NLI model can compare."""
STATEMENTS = (BlockKind.PROSE, BlockKind.BULLET, BlockKind.TURN)
_PARAGRAPH_WORDS = 90
_FEWEST_WORDS = 4  # of a list item that is written as a sentence
_BACKTICKS = re.compile(r"`{3,}")
_TIGHT_KINDS = (*LIST_KINDS, BlockKind.TURN)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One excerpt and its place.

    Attributes:
        text: the document's characters; white space collapsed but for code, without marks such as "##" or "- ".
        level: 1 to 6 of a heading, `LABEL_LEVEL` of a label; indentation in spaces of a list item; else 0.
        mark: "1." of a step, "-" of a bullet, "Ann:" of a turn; the words behind the fence of code; else empty.
        block: excerpts of one paragraph, list item or listing share this number.
        origin: which text it was read from: a chunk of a batch, an extraction of a group; from 0.
        section: position of the heading above it; -1 without one.
        needs: positions of excerpts without which it would dangle: heading, lead-in, antecedent, neighbouring steps.
        token_count: as it is written, with its marks.
        terms: technical terms that it has, in order.
        is_cut: it begins or ends in the middle of a sentence, or is none; fit to save a value, not to fill space.
        dangles: what it points back to is not there or too far away; it is not chosen.
    """

    kind: BlockKind
    text: str
    level: int = 0
    mark: str = ""
    block: int = 0
    origin: int = 0
    section: int = -1
    needs: tuple[int, ...] = ()
    token_count: int = 0
    terms: tuple[Term, ...] = ()
    is_cut: bool = False
    dangles: bool = False


def written_alone(excerpt: Excerpt) -> str:
    """Returns an excerpt as it is written without neighbours: an upper bound of what it adds to a text."""
    return "\n".join(_block([excerpt], [0]))


def write_markdown(excerpts: Sequence[Excerpt], positions: Sequence[int]) -> str:
    """Writes some excerpts in their order.

    Args:
        positions: of those to write, rising.
    """
    text, kind_before = "", None
    # Sentences of a paragraph or item, lines of a listing and rows of a table are written together.
    for _, members in groupby(positions, key=lambda position: excerpts[position].block):
        group = list(members)
        kind = excerpts[group[0]].kind
        if text:
            text += "\n" if kind in _TIGHT_KINDS and kind_before in _TIGHT_KINDS else "\n\n"
        text += "\n".join(_block([excerpts[position] for position in group], group))
        kind_before = kind
    return text


def _block(group: Sequence[Excerpt], positions: Sequence[int]) -> list[str]:
    first = group[0]
    if first.kind is BlockKind.HEADING:
        return ["#" * first.level + " " + first.text]
    if first.kind is BlockKind.LABEL:
        return [f"**{first.text}**" if "**" not in first.text else first.text]
    if first.kind is BlockKind.CODE:
        return _fenced(group, positions)
    if first.kind in TABLE_KINDS:
        return [excerpt.text for excerpt in group]
    text = " ".join(excerpt.text for excerpt in group)
    if first.kind in LIST_KINDS:
        return [f"{' ' * first.level}{first.mark or '-'} {text}"]
    return [f"{first.mark} {text}" if first.mark else text]


def _fenced(group: Sequence[Excerpt], positions: Sequence[int]) -> list[str]:
    """Writes listings in one fence; a mark stands where lines are missing between them."""
    longest = max((len(run) for excerpt in group for run in _BACKTICKS.findall(excerpt.text)), default=2)
    fence = "`" * (longest + 1)
    lines = [fence + group[0].mark]
    for number, excerpt in enumerate(group):
        is_gap = number > 0 and positions[number] != positions[number - 1] + 1
        if is_gap and not excerpt.text.startswith(GAP_MARK):
            lines.append(GAP_MARK)
        lines.extend(excerpt.text.split("\n"))
    return [*lines, fence]


def writable(excerpts: Sequence[Excerpt], form: SummaryForm) -> set[int]:
    """Returns the positions of what can be written in a form."""
    if form is SummaryForm.MARKDOWN:
        return set(range(len(excerpts)))
    return {position for position, excerpt in enumerate(excerpts) if _is_statement(excerpt, form)}


def _is_statement(excerpt: Excerpt, form: SummaryForm) -> bool:
    if excerpt.kind is BlockKind.TABLE_ROW:
        return True
    if excerpt.kind not in TEXT_KINDS or excerpt.text.endswith(
        ":"
    ):  # the list or listing that it announces is not there
        return False
    is_item = excerpt.kind in LIST_KINDS and form is SummaryForm.PROSE
    return not is_item or is_sentence_end(excerpt.text) or count_words(excerpt.text) >= _FEWEST_WORDS


def resized(excerpts: list[Excerpt], form: SummaryForm, count: Callable[[str], int]) -> list[Excerpt]:
    """Returns excerpts that know how long they are in a form, by some count, and not as Markdown."""
    if form is SummaryForm.MARKDOWN:
        return excerpts
    return [replace(each, token_count=count(_said(excerpts, at, None))) for at, each in enumerate(excerpts)]


def write_form(excerpts: Sequence[Excerpt], positions: Sequence[int], form: SummaryForm) -> str:
    """Writes some excerpts in their order, in a form.

    Args:
        positions: of those to write, rising.
    """
    if form is SummaryForm.MARKDOWN:
        return write_markdown(excerpts, positions)
    groups: list[list[str]] = []
    before = -1
    for position in positions:
        text = _said(excerpts, position, before if before >= 0 else None)
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
    if before in excerpt.needs and previous.kind is BlockKind.PROSE and excerpt.block == previous.block:
        return False
    is_other = excerpt.block != previous.block
    if form is SummaryForm.BULLETS:
        return True
    return excerpt.section != previous.section or (is_other and sum(map(count_words, group)) >= _PARAGRAPH_WORDS)


def _said(excerpts: Sequence[Excerpt], position: int, before: int | None) -> str:
    """Returns an excerpt as a sentence: a row with its columns, an item with its full stop, each with its label."""
    excerpt = excerpts[position]
    text = _row(excerpts, excerpt) if excerpt.kind is BlockKind.TABLE_ROW else excerpt.text
    if excerpt.kind is BlockKind.TURN and excerpt.mark:
        text = f"{excerpt.mark} {text}"
    if excerpt.kind in (*LIST_KINDS, BlockKind.TABLE_ROW) and not is_sentence_end(text):
        text = f"{text.rstrip(' ;,')}."
    labels = [need for need in excerpt.needs if excerpts[need].kind is BlockKind.LABEL]
    is_said = before is not None and any(label in excerpts[before].needs for label in labels)
    if labels and not is_said and not excerpts[labels[-1]].text.startswith("|"):
        text = f"{excerpts[labels[-1]].text.strip('*: ')}: {text}"
    return text


def _row(excerpts: Sequence[Excerpt], row: Excerpt) -> str:
    """Returns the cells of a row, each behind the name of its column."""
    heads = [excerpts[need].text.split("\n")[0] for need in row.needs if excerpts[need].kind is BlockKind.TABLE_HEAD]
    names = _cells(heads[0]) if heads else []
    cells = _cells(row.text)
    names += [""] * (len(cells) - len(names))
    pairs = zip(names, cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
