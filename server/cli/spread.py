"""What many results amount to: means and deciles, the worst items, the failed ones."""

import heapq
import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from google.rpc import code_pb2
from precis.v1 import common_pb2
from rich.console import Console
from rich.table import Table

from server.cli.console import new_table, print_note, shown
from server.cli.errors import CliError
from server.cli.files import to_json_document
from server.cli.results import Answer, I, R

NamedScores = Iterable[tuple[str, Sequence[float]]]


def spread_table(rows: NamedScores, *, heading: str = "", digits: int = 3) -> Table:
    """Builds the table of means and quantiles; a row without numbers is left out."""
    table = new_table(heading, ">mean", ">p10", ">median", ">p90", ">items")
    for name, values in rows:
        if values:
            numbers = (statistics.fmean(values), *deciles(values))
            table.add_row(shown(name, limit=40), *(f"{number:.{digits}f}" for number in numbers), str(len(values)))
    return table


def spread_fields(rows: NamedScores) -> dict[str, dict[str, float]]:
    """Gives means and quantiles as plain data; a row without numbers is left out."""
    names = ("mean", "p10", "median", "p90", "count")
    return {
        name: dict(zip(names, (statistics.fmean(values), *deciles(values), len(values)), strict=True))
        for name, values in rows
        if values
    }


def deciles(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns the 10th, 50th and 90th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]


SHOWN_ITEMS = 10  # of the worst, and of the failed
MAX_CATEGORIES = 100
NO_CATEGORY, OTHER_CATEGORIES = "(none)", "(others)"

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


def worst_table(heading: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Builds the table of the worst items: name, and what is bad about it."""
    table = new_table("worst items", f">{heading}")
    for item_id, badness in rows:
        table.add_row(shown(item_id, limit=80), badness)
    return table


@dataclass
class FailedItems:
    """Counts failures and keeps the first few."""

    count: int = 0
    first: list[tuple[str, common_pb2.ItemError]] = field(default_factory=list)

    def add(self, item_id: str, error: common_pb2.ItemError) -> None:
        """Takes one failure in."""
        self.count += 1
        if len(self.first) < SHOWN_ITEMS:
            self.first.append((item_id, error))

    def print(self, console: Console) -> None:
        """Prints a line for each failure that was kept, and how many more there are."""
        for item_id, error in self.first:
            console.print(shown(f"{item_id}: {describe(error)}", style="red"))
        if self.count > len(self.first):
            console.print(f"... and {self.count - len(self.first)} more failed items", style="red")

    def check(self, item_count: int) -> None:
        """Raises CliError when items failed."""
        if self.count:
            raise CliError(f"{self.count} of {item_count} items failed; the others are done")


@dataclass
class Tally(ABC, Generic[I, R]):
    """Collects what the summary of many items needs; a few numbers for each, never the results themselves.

    Attributes:
        failed: items without a result.
        done_count: items with a result.
        kept_count: of those, the ones from an earlier run.
        headlines: the score that counts most, of each item by category; after 100 categories the rest are one.
    """

    headline_name: ClassVar[str]
    failed: FailedItems = field(default_factory=FailedItems, kw_only=True)
    done_count: int = field(default=0, kw_only=True)
    kept_count: int = field(default=0, kw_only=True)
    headlines: dict[str, list[float]] = field(default_factory=dict, kw_only=True)

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return self.done_count + self.failed.count

    def add(self, answer: Answer[I, R]) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.add(answer.id, answer.error)
        elif answer.result is not None:
            self.done_count += 1
            self.kept_count += answer.is_kept
            self.add_result(answer.id, answer.result)
            self._add_headline(answer.item.category if answer.item else "", self.headline_of(answer.result))

    @abstractmethod
    def headline_of(self, result: R, /) -> float | None:
        """Returns the score of an item that counts most."""

    @abstractmethod
    def scores_by_name(self) -> list[tuple[str, list[float]]]:
        """Lists the scores of all items by what they measure."""

    @property
    def categories(self) -> list[tuple[str, list[float]]]:
        """Lists the headlines by category, by name; empty when no item has one."""
        if set(self.headlines) <= {NO_CATEGORY}:
            return []
        return sorted(self.headlines.items())

    def to_json(self) -> str:
        """Gives the overview as a JSON document."""
        fields = {
            "item_count": self.item_count,
            "failed_count": self.failed.count,
            "scores": spread_fields(self.scores_by_name()),
            "category_scores": {"of": self.headline_name, "categories": spread_fields(self.categories)},
        }
        return to_json_document(fields)

    def print_categories(self, console: Console, *, digits: int = 3) -> None:
        """Prints the headline score by category, if items have one."""
        if self.categories:
            heading = f"{self.headline_name} by category"
            console.print(spread_table(self.categories, heading=heading, digits=digits))

    def _add_headline(self, category: str, headline: float | None) -> None:
        name = category or NO_CATEGORY
        if name not in self.headlines and len(self.headlines) >= MAX_CATEGORIES:
            name = OTHER_CATEGORIES
        values = self.headlines.setdefault(name, [])
        if headline is not None:
            values.append(headline)

    @abstractmethod
    def add_result(self, item_id: str, result: R, /) -> None:
        """Takes one result in."""

    def print_counts(self, console: Console, more: str = "") -> None:
        """Prints how many items there are, and what became of them."""
        kept = f", {self.kept_count} kept from an earlier run" if self.kept_count else ""
        console.print(f"{self.item_count} items, {self.failed.count} failed{more}{kept}", markup=False)


def note_report(report: Path | None) -> None:
    """Says where the report is."""
    if report is not None:
        print_note(f"report: {report}")


def describe(error: common_pb2.ItemError) -> str:
    """Says what is wrong with an item: code, field and message."""
    code = str(code_pb2.Code.Name(error.code)) if error.code in code_pb2.Code.values() else "UNKNOWN"
    return ": ".join(filter(None, (code, error.field, error.message)))
