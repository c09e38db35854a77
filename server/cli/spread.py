"""What many numbers amount to: means and deciles, counts in tenths of a range, the worst of them."""

import heapq
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from server.cli.console import Grid, number

NamedScores = Iterable[tuple[str, Sequence[float]]]
NAME_LIMIT = 40
BIN_COUNT = 10
PLAIN = "items"  # what is counted when nothing is told apart

T = TypeVar("T")


def spread_grid(rows: NamedScores, *, heading: str = "", digits: int = 3) -> Grid:
    """Builds the table of means and quantiles; a row without numbers is left out."""
    headings = (heading, ">mean", ">p10", ">median", ">p90", ">items")
    spreads = spread_fields(rows).items()
    cells = [[name, *(number(one[key], digits) for key in SPREAD[:-1]), str(one["count"])] for name, one in spreads]
    return Grid(headings, cells, NAME_LIMIT)


SPREAD = ("mean", "p10", "median", "p90", "count")


def spread_fields(rows: NamedScores) -> dict[str, dict[str, float]]:
    """Gives means and quantiles as plain data; a row without numbers is left out."""
    return {
        name: dict(zip(SPREAD, (statistics.fmean(values), *deciles(values), len(values)), strict=True))
        for name, values in rows
        if values
    }


def deciles(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns the 10th, 50th and 90th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]


@dataclass(frozen=True, slots=True)
class Bin:
    """A tenth of a histogram's range, from `low` to `high`; the last one has its upper end.

    Attributes:
        counts: of values, by kind.
    """

    low: float
    high: float
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        """Counts all kinds."""
        return self.counts.total()


def histogram(values: Iterable[tuple[float, str]], limit: float) -> list[Bin]:
    """Counts values of [0, limit], each with its kind, in tenths of the range."""
    bins = [Bin(limit * at / BIN_COUNT, limit * (at + 1) / BIN_COUNT) for at in range(BIN_COUNT)]
    for value, kind in values:
        bins[min(int(value / limit * BIN_COUNT), BIN_COUNT - 1)].counts[kind] += 1
    return bins


def plain_histogram(values: Iterable[float | None], limit: float) -> list[Bin]:
    """Counts values of one kind; None is left out."""
    return histogram(((value, PLAIN) for value in values if value is not None), limit)


@dataclass
class WorstItems(Generic[T]):
    """Keeps the `limit` items with the greatest badness; of equals the one that came earlier."""

    limit: int
    seen_count: int = 0
    _heap: list[tuple[float, int, T]] = field(default_factory=list)

    def add(self, badness: float, item: T) -> None:
        """Takes one item in."""
        entry = (badness, -self.seen_count, item)  # the count is unique: items themselves are never compared
        self.seen_count += 1
        (heapq.heappush if len(self._heap) < self.limit else heapq.heappushpop)(self._heap, entry)

    def ranked(self) -> list[tuple[float, T]]:
        """Lists what is kept with its badness, worst first."""
        return [(badness, item) for badness, _, item in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]
