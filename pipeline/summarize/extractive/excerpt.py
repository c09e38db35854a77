"""An excerpt: a verbatim stretch of the document that the extractive writer keeps or drops as a whole.

Excerpts are written as Markdown that people like to read, and that `read_excerpts.py` reads back as the same excerpts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from pipeline.reading.values import Term

GAP_MARK = "[…]"
"""Stands where lines of a listing were left out."""

LABEL_LEVEL = 7
"""Below all headings of markdown."""


class ExcerptKind(Enum):
    """What an excerpt is, which decides how it is written and what it may stand without."""

    HEADING = auto()
    LABEL = auto()  # a short line above something: "CAUTION First start", "Example 3. The file smb.conf"
    SENTENCE = auto()
    BULLET = auto()
    STEP = auto()  # of a procedure
    CODE = auto()  # lines that must stay lines: commands, files, listings
    TURN = auto()  # sentence of somebody who speaks in a dialogue
    TABLE_HEAD = auto()  # with the rule below it
    TABLE_ROW = auto()


PROSE = frozenset({ExcerptKind.SENTENCE, ExcerptKind.BULLET, ExcerptKind.STEP, ExcerptKind.TURN})
"""Kinds that say something in words, which an embedder and an NLI model can compare."""

LIST_KINDS = (ExcerptKind.BULLET, ExcerptKind.STEP)
STRUCTURE = (ExcerptKind.HEADING, ExcerptKind.LABEL)
STATEMENTS = (ExcerptKind.SENTENCE, ExcerptKind.BULLET, ExcerptKind.TURN)


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

    kind: ExcerptKind
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


_BACKTICKS = re.compile(r"`{3,}")
_TIGHT_KINDS = (*LIST_KINDS, ExcerptKind.TURN)
_TABLE_KINDS = (ExcerptKind.TABLE_HEAD, ExcerptKind.TABLE_ROW)


def written_alone(excerpt: Excerpt) -> str:
    """Returns an excerpt as it is written without neighbours: an upper bound of what it adds to a text."""
    return "\n".join(_block([excerpt], [0]))


def write_markdown(excerpts: Sequence[Excerpt], positions: Sequence[int]) -> str:
    """Writes some excerpts in their order.

    Args:
        positions: of those to write, rising.
    """
    blocks: list[tuple[ExcerptKind, str]] = []
    for group in _groups(excerpts, positions):
        kind = excerpts[group[0]].kind
        blocks.append((kind, "\n".join(_block([excerpts[position] for position in group], group))))
    parts: list[str] = []
    for number, (kind, text) in enumerate(blocks):
        if number:
            parts.append("\n" if kind in _TIGHT_KINDS and blocks[number - 1][0] in _TIGHT_KINDS else "\n\n")
        parts.append(text)
    return "".join(parts)


def _groups(excerpts: Sequence[Excerpt], positions: Sequence[int]) -> Iterator[list[int]]:
    """Yields what is written together: sentences of a paragraph or item, lines of a listing, rows of a table."""
    group: list[int] = []
    for position in positions:
        if group and excerpts[position].block != excerpts[group[-1]].block:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


def _block(group: Sequence[Excerpt], positions: Sequence[int]) -> list[str]:
    first = group[0]
    if first.kind is ExcerptKind.HEADING:
        return ["#" * first.level + " " + first.text]
    if first.kind is ExcerptKind.LABEL:
        return [f"**{first.text}**" if "**" not in first.text else first.text]
    if first.kind is ExcerptKind.CODE:
        return _fenced(group, positions)
    if first.kind in _TABLE_KINDS:
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
