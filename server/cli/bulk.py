"""How the numbers of many items spread: mean and deciles.

The worst items of a bulk run, without keeping the others.

Items of a bulk run that have no result: how many, and the first of them as one line each.
"""

import heapq
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from google.rpc import code_pb2
from precis.v1 import common_pb2
from rich import box
from rich.console import Console
from rich.table import Table

from server.cli.console import shown


def spread_table(rows: Iterable[tuple[str, Sequence[float]]], *, digits: int = 3) -> Table:
    """Builds the table of means and quantiles; a row without numbers is left out."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for heading in ("mean", "p10", "median", "p90", "items"):
        table.add_column(heading, justify="right")
    for name, values in rows:
        if values:
            numbers = (statistics.fmean(values), *deciles(values))
            table.add_row(name, *(f"{number:.{digits}f}" for number in numbers), str(len(values)))
    return table


def deciles(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns the 10th, 50th and 90th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]


T = TypeVar("T")


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


SHOWN_FAILURES = 10


@dataclass
class FailedItems:
    """Counts failures and keeps the first few."""

    count: int = 0
    first: list[tuple[str, common_pb2.ItemError]] = field(default_factory=list)

    def add(self, item_id: str, error: common_pb2.ItemError) -> None:
        """Takes one failure in."""
        self.count += 1
        if len(self.first) < SHOWN_FAILURES:
            self.first.append((item_id, error))

    def print(self, console: Console) -> None:
        """Prints a line for each failure that was kept, and how many more there are."""
        for item_id, error in self.first:
            where = f"{error.field}: " if error.field else ""
            console.print(shown(f"{item_id}: {code_name(error.code)}: {where}{error.message}", style="red"))
        if self.count > len(self.first):
            console.print(f"... and {self.count - len(self.first)} more failed items", style="red")


def code_name(code: int) -> str:
    """Names a google.rpc.Code; a number that is none is UNKNOWN."""
    return str(code_pb2.Code.Name(code)) if code in code_pb2.Code.values() else "UNKNOWN"
