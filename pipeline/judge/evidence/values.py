"""Numbers and dates of a whole text, looked up by place."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pipeline.judge.evidence.dates import DatePart, find_date_parts
from pipeline.judge.evidence.quantities import Quantity, find_quantities

Placed = TypeVar("Placed", Quantity, DatePart)

_PRONOUN = "one"


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Numbers and parts of dates, each in order; a number inside a date is no number of its own."""

    quantities: tuple[Quantity, ...]
    date_parts: tuple[DatePart, ...]

    @classmethod
    def of(cls, text: str) -> "Values":
        """Reads a normalised text. Linear in its length."""
        parts = find_date_parts(text)
        starts = [part.start for part in parts]
        quantities = tuple(
            quantity
            for quantity in find_quantities(text)
            if not _covers(parts, starts, quantity) and text[quantity.start : quantity.end].lower() != _PRONOUN
        )
        return cls(quantities, parts)

    def between(self, start: int, end: int) -> "Values":
        """Returns what begins at `start` or after it, and before `end`."""
        return Values(_slice(self.quantities, start, end), _slice(self.date_parts, start, end))


def _covers(parts: Sequence[DatePart], starts: Sequence[int], quantity: Quantity) -> bool:
    index = bisect_left(starts, quantity.start)
    return index < len(parts) and parts[index].start < quantity.end


def _slice(items: tuple[Placed, ...], start: int, end: int) -> tuple[Placed, ...]:
    starts = [item.start for item in items]
    return items[bisect_left(starts, start) : bisect_left(starts, end)]
