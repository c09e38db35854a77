"""What the items of a command amount to: on the terminal, as JSON and as a page, and whether it is good enough.

Means and deciles of scores, counts in tenths of a range, the worst items, those that failed.
"""

import statistics
from abc import ABC, abstractmethod
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic

from google.rpc import code_pb2
from precis.v1 import common_pb2
from rich.console import Console

from server.cli.console import SHOWN_ITEMS, Grid, number, shown
from server.cli.errors import CliError, NegativeAnswer
from server.cli.page.render import render_page
from server.cli.results import Answer, I, R

NamedScores = Iterable[tuple[str, Sequence[float]]]
NAME_LIMIT = 40
BIN_COUNT = 10
PLAIN = "items"  # what is counted when nothing is told apart
WHOLE_ITEMS = 500  # a page with thousands of articles opens in no browser
MAX_CATEGORIES = 100
NO_CATEGORY, OTHER_CATEGORIES = "(none)", "(others)"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item of many, without its texts.

    Attributes:
        id: names it.
        category: the caller's word for its kind; empty for none.
        headline: the score that counts most; None when there is none.
        badness: ranks the items; the worst has most.
        statuses: what is special about it, a word or two each.
        cells: text and class of its cells in the index of a page.
    """

    id: str
    category: str
    headline: float | None
    badness: float
    statuses: Sequence[str]
    cells: Sequence[tuple[str, str]]


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


def describe(error: common_pb2.ItemError) -> str:
    """Says what is wrong with an item: code, field and message."""
    code = str(code_pb2.Code.Name(error.code)) if error.code in code_pb2.Code.values() else "UNKNOWN"
    return ": ".join(filter(None, (code, error.field, error.message)))


@dataclass(kw_only=True)
class Tally(ABC, Generic[I, R]):
    """Collects a few numbers of each item. Texts and evidence are kept of the worst alone, and only for a page.

    Attributes:
        keeps_page: a page will be asked for.
        failed: items without a result.
        done_count: items with a result.
        kept_count: of those, the ones from an earlier run.
        headlines: the score that counts most, of each item by category; after 100 categories the rest are one.
        faults: id and fault of the first results that are not good enough.
        fault_count: how many faults there are.
        worst: rows of the worst items; of equals those that came earlier.
        rows: of all items, for a page.
        whole: badness of the worst items, and what the page shows of them; at most `whole_limit`.
    """

    headline_name: ClassVar[str]
    digits: ClassVar[int]  # of a score
    noun: ClassVar[str]  # for one result
    template: ClassVar[str]
    script: ClassVar[str]
    keeps_page: bool = False
    failed: FailedItems = field(default_factory=FailedItems)
    done_count: int = 0
    kept_count: int = 0
    headlines: dict[str, list[float]] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    fault_count: int = 0
    worst: list[ItemRow] = field(default_factory=list)
    rows: list[ItemRow] = field(default_factory=list)
    whole: list[tuple[float, Any]] = field(default_factory=list)
    whole_limit: int = WHOLE_ITEMS

    def add(self, answer: Answer[I, R]) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.add(answer.id, answer.error)
        if answer.item is None or answer.result is None:
            return
        self.done_count += 1
        self.kept_count += answer.is_kept
        row = self.take(answer.item, answer.result, is_kept=answer.is_kept)
        insort(self.worst, row, key=lambda one: -one.badness)
        del self.worst[SHOWN_ITEMS:]
        category = row.category or NO_CATEGORY
        if category not in self.headlines and len(self.headlines) >= MAX_CATEGORIES:
            category = OTHER_CATEGORIES
        self.headlines.setdefault(category, []).extend([] if row.headline is None else [row.headline])
        if self.keeps_page:
            self.rows.append(row)
            insort(self.whole, (row.badness, self.whole_item(answer.item, answer.result)), key=lambda one: -one[0])
            del self.whole[self.whole_limit :]

    @abstractmethod
    def take(self, item: I, result: R, /, *, is_kept: bool) -> ItemRow:
        """Takes in a result; returns its row."""

    @abstractmethod
    def whole_item(self, item: I, result: R, /) -> Any:  # noqa: ANN401 - the template's
        """Returns what a page shows of an item."""

    @abstractmethod
    def scores_by_name(self) -> list[tuple[str, list[float]]]:
        """Lists the scores of all items by what they measure."""

    @abstractmethod
    def counts(self) -> list[str]:
        """Lists what else was counted, a few words each."""

    def remarks(self) -> list[str]:
        """Lists what else a reader should know, a line each."""
        return []

    @abstractmethod
    def show(self, console: Console, results: Sequence[tuple[str, R]], *, is_brief: bool) -> None:
        """Prints the results of a few items, with what is behind them unless that is too much."""

    @abstractmethod
    def page_values(self, rows: Sequence[Any], /) -> dict[str, object]:
        """Returns what the template shows, beside what all pages of items show."""

    @property
    @abstractmethod
    def limit_words(self) -> str:
        """Says what a fault is."""

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return self.done_count + self.failed.count

    @property
    def categories(self) -> list[tuple[str, list[float]]]:
        """Lists the headlines by category, by name; empty when no item has one."""
        return [] if set(self.headlines) <= {NO_CATEGORY} else sorted(self.headlines.items())

    @property
    def category_grid(self) -> Grid:
        """The headline score by category."""
        return spread_grid(self.categories, heading=f"{self.headline_name} by category", digits=self.digits)

    def note_faults(self, item_id: str, faults: Sequence[str]) -> None:
        """Takes in what is not good enough about an item."""
        self.fault_count += len(faults)
        self.faults += [(item_id, fault) for fault in faults][: SHOWN_ITEMS - len(self.faults)]

    def check(self) -> None:
        """Raises CliError when items failed, NegativeAnswer when results are not good enough."""
        self.failed.check(self.item_count)
        if self.fault_count:
            named = [f"{item_id} {fault}" if self.item_count > 1 else fault for item_id, fault in self.faults]
            more = f" and {self.fault_count - len(named)} more" if self.fault_count > len(named) else ""
            raise NegativeAnswer(f"{self.limit_words}: {', '.join(named)}{more}")

    def print(self, console: Console) -> None:
        """Prints the tables of many items."""
        kept = [f"{self.kept_count} kept from an earlier run"] if self.kept_count else []
        counts = (f"{self.item_count} items", f"{self.failed.count} failed", *self.counts(), *kept)
        console.print(", ".join(counts), markup=False)
        if any(values for _, values in self.scores_by_name()):
            console.print(spread_grid(self.scores_by_name(), digits=self.digits).to_table())
            if self.categories:
                console.print(self.category_grid.to_table())
        for line in self.remarks():
            console.print(shown(line, style="dim"))
        if self.done_count:
            rows = [(row.id, number(row.headline, self.digits)) for row in self.worst]
            console.print(Grid(("worst items", f">{self.headline_name}"), rows).to_table())
        self.failed.print(console)

    def render(self, *, has_index: bool = True) -> str:
        """Renders the page: the worst items whole, after an index of all unless there is but one to show."""
        items = [item for _, item in self.whole]
        rows: list[Any] = sorted(self.rows, key=lambda row: -row.badness) if has_index else []
        one, many = f"{self.noun} of {items[0].id if items else ''}", f"{self.noun}s of {self.item_count} summaries"
        return render_page(
            self.template,
            script_file=self.script,
            title=many if has_index else one,
            tally=self,
            items=items,
            rows=rows,
            has_index=has_index,
            statuses=sorted({status for row in rows for status in row.statuses}),
            describe=describe,
            **self.page_values(rows),
        )


def spread_grid(rows: NamedScores, *, heading: str = "", digits: int = 3) -> Grid:
    """Builds the table of means and quantiles; a row without numbers is left out."""
    cells = []
    for name, values in rows:
        if values:
            spread = (statistics.fmean(values), *deciles(values))
            cells.append((name, *(number(one, digits) for one in spread), str(len(values))))
    return Grid((heading, ">mean", ">p10", ">median", ">p90", ">items"), cells, NAME_LIMIT)


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
