"""What the caller of a summary wishes: how long, in which form, about what."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from pipeline.reading.words import count_words

TOLERANCE = 0.1
"""Share of a length by which a text may miss it."""


class SummaryDetail(Enum):
    """How much a summary says where no length is asked for. The values are the words of settings."""

    SCHEDULE = "schedule"  # as long as the evaluation's compression schedule asks for
    FULL = "full"  # extraction: everything that the writer has room for


class SummaryForm(Enum):
    """How a summary is written. The values are the words of cache keys."""

    MARKDOWN = "markdown"  # the document's headings, lists, tables and code
    PROSE = "prose"  # paragraphs alone
    BULLETS = "bullets"  # one list


class LengthUnit(Enum):
    """What a length is counted in."""

    TOKENS = "tokens"  # as the writer counts them
    WORDS = "words"  # runs of characters between white space; characters of scripts that are written without it


@dataclass(frozen=True, slots=True)
class LengthGoal:
    """A length to be met within `TOLERANCE`."""

    amount: int  # at least 1
    unit: LengthUnit

    def is_met(self, size: int) -> bool:
        """Tells whether a text of this size is as long as asked for."""
        return abs(size - self.amount) <= TOLERANCE * self.amount


@dataclass(frozen=True, slots=True)
class Shape:
    """What the final text must look like."""

    goal: LengthGoal | None = None  # its length; None: as long as the writer makes it
    form: SummaryForm = SummaryForm.MARKDOWN
    language: str = ""  # that it is written in, as its caller names it; empty for the document's

    @property
    def is_plain(self) -> bool:
        """Whether an extraction has this shape as it is."""
        return self == PLAIN


def counter(shape: Shape, count_tokens: Callable[[str], int]) -> Callable[[str], int]:
    """Returns what counts a text in the unit of a shape's goal; tokens without one."""
    is_words = shape.goal is not None and shape.goal.unit is LengthUnit.WORDS
    return count_words if is_words else count_tokens


@dataclass(frozen=True, slots=True)
class Wishes:
    """What every text of a summary is written for; a caller's words, data and never a rule."""

    focus: str = ""  # a subject or question that comes first; empty for none
    instructions: str = ""  # what else matters in choice and wording, for a language model; empty for none

    @property
    def texts(self) -> tuple[str, ...]:
        """All words of the caller."""
        return self.focus, self.instructions


PLAIN, NO_WISHES = Shape(), Wishes()


@dataclass(frozen=True, slots=True)
class SummaryLength:
    """A length asked for, and got."""

    unit: LengthUnit
    target: int  # not more than the document has
    actual: int  # of the text, without the remarks of the gate behind it
    is_met: bool
