"""An excerpt: a verbatim stretch of the document that the extractive writer keeps or drops as a whole.

`forms.py` writes excerpts as Markdown that people like to read, and `read_excerpts.py` reads them back as the same.
"""

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
