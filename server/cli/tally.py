"""What the items of a command amount to: on the terminal, as JSON and as a page, and whether it is good enough.

Means and deciles of scores, counts in tenths of a range, the worst items, those that failed.
"""

import statistics
from abc import ABC, abstractmethod
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from google.protobuf.message import Message
from google.rpc import code_pb2
from precis.v1 import common_pb2
from rich.console import Console
from rich.text import Text

from server.cli.console import SHOWN_ITEMS, Grid, counted, indented, number, print_grids, shown
from server.cli.errors import CliError, InputError, NegativeAnswer
from server.cli.page.render import render_page

NAME_LIMIT = 40
BIN_COUNT = 10
COMPARED_ROWS = 3  # of each kind of evidence when several items are compared
WHOLE_ITEMS = 500  # a page with thousands of articles opens in no browser
MAX_CATEGORIES = 100
NO_CATEGORY, OTHER_CATEGORIES = "(none)", "(others)"


class NamedItem(Protocol):
    """What is sent to the server, with a name of the caller's choice."""

    @property
    def id(self) -> str:
        """Names it."""

    @property
    def category(self) -> str:
        """The caller's word for its kind; empty for none."""

    def sha256(self, *terms: str) -> str:
        """Hashes it, and the terms on which it is sent, in hexadecimal."""


I = TypeVar("I", bound=NamedItem)  # noqa: E741 - an item
R = TypeVar("R", bound=Message)


@dataclass(frozen=True)
class Answer(Generic[I, R]):
    """What became of one item."""

    id: str  # the item's
    item: I | None  # None for one that could not be read
    result: R | None  # None for one that failed
    error: common_pb2.ItemError | None  # why it failed
    line: str  # its line in the results
    is_kept: bool = False  # it comes from an earlier run


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item of many, without its texts."""

    id: str
    category: str  # the caller's word for its kind; empty for none
    headline: float | None  # the score that counts most; None when there is none
    badness: float  # ranks the items; the worst has most
    scores: Mapping[str, float | None]  # by what they measure; None for one that does not count
    statuses: Sequence[str]  # what is special about it, a word or two each
    faults: Sequence[str]  # what is not good enough about it
    cells: Mapping[str, tuple[str, str]]  # text and class of its cells in the index of a page, by heading
    bars: Mapping[str, float | None]  # the values whose spread a page draws, by title


FailedItem = tuple[str, common_pb2.ItemError]
"""An item's id, and why it failed."""


def print_failed(console: Console, failed: Sequence[FailedItem]) -> None:
    """Prints a line for each of the first failures, and how many more there are."""
    for item_id, error in failed[:SHOWN_ITEMS]:
        console.print(shown(f"{item_id}: {describe(error)}", style="red"))
    if len(failed) > SHOWN_ITEMS:
        console.print(f"... and {len(failed) - SHOWN_ITEMS} more failed items", style="red")


def check_failed(failed: Sequence[FailedItem], item_count: int) -> None:
    """Raises CliError when items failed."""
    if failed:
        done = "; the others are done" if len(failed) < item_count else ""
        raise CliError(f"{len(failed)} of {item_count} items failed{done}")


def describe(error: common_pb2.ItemError) -> str:
    """Says what is wrong with an item: code, field and message."""
    code = str(code_pb2.Code.Name(error.code)) if error.code in code_pb2.Code.values() else "UNKNOWN"
    return ": ".join(filter(None, (code, error.field, error.message)))


@dataclass(kw_only=True)
class Tally(ABC, Generic[I, R]):
    """Collects a few numbers of each item. Texts and evidence are kept of the worst alone, and only for a page."""

    headline_name: ClassVar[str]
    digits: ClassVar[int]  # of a score
    top: ClassVar[float]  # of the range of scores, from 0
    noun: ClassVar[str]  # for one result
    limit_words: ClassVar[str] = "under the limit"  # what a fault is
    terminal: ClassVar[Any]  # the module that builds for the terminal: sentence, overview, evidence, footer of results
    template: ClassVar[str]
    script: ClassVar[str]
    keeps_page: bool = False
    failed: list[FailedItem] = field(default_factory=list)  # items without a result
    done_count: int = 0  # items with a result
    kept_count: int = 0  # of those, the ones from an earlier run
    scores: dict[str, list[float]] = field(default_factory=dict)  # those that count, of all items, by what they measure
    # the score that counts most, of each item by category; after 100 categories the rest are one
    headlines: dict[str, list[float]] = field(default_factory=dict)
    # id and fault of the first results that are not good enough
    faults: list[tuple[str, str]] = field(default_factory=list)
    fault_count: int = 0
    worst: list[ItemRow] = field(default_factory=list)  # rows of the worst items; of equals those that came earlier
    rows: list[ItemRow] = field(default_factory=list)  # of all items, for a page
    # badness of the worst items, and what the page shows of them; at most `whole_limit`
    whole: list[tuple[float, Answer[I, R]]] = field(default_factory=list)
    whole_limit: int = WHOLE_ITEMS

    def add(self, answer: Answer[I, R]) -> None:
        """Takes one answer in."""
        if answer.error is not None:
            self.failed.append((answer.id, answer.error))
        if answer.item is None or answer.result is None:
            return
        self.done_count += 1
        self.kept_count += answer.is_kept
        row = self.take(answer.item, answer.result, is_kept=answer.is_kept)
        self.fault_count += len(row.faults)
        self.faults += [(row.id, fault) for fault in row.faults][: SHOWN_ITEMS - len(self.faults)]
        for name, score in row.scores.items():
            self.scores.setdefault(name, []).extend([] if score is None else [score])
        insort(self.worst, row, key=lambda one: -one.badness)
        del self.worst[SHOWN_ITEMS:]
        category = row.category or NO_CATEGORY
        if category not in self.headlines and len(self.headlines) >= MAX_CATEGORIES:
            category = OTHER_CATEGORIES
        self.headlines.setdefault(category, []).extend([] if row.headline is None else [row.headline])
        if self.keeps_page:
            self.rows.append(row)
            whole = replace(answer, item=self.shown_of(answer.item), line="")
            insort(self.whole, (row.badness, whole), key=lambda one: -one[0])
            del self.whole[self.whole_limit :]

    @abstractmethod
    def take(self, item: I, result: R, /, *, is_kept: bool) -> ItemRow:
        """Takes in a result; returns its row."""

    def shown_of(self, item: I) -> I:
        """Returns as much of an item as a page shows."""
        return item

    @abstractmethod
    def counts(self) -> list[str]:
        """Lists what else was counted, a few words each."""

    def remarks(self) -> list[str]:
        """Lists what else a reader should know, a line each."""
        return []

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return self.done_count + len(self.failed)

    @property
    def categories(self) -> list[tuple[str, list[float]]]:
        """Lists the headlines by category, by name; empty when no item has one."""
        return [] if set(self.headlines) <= {NO_CATEGORY} else sorted(self.headlines.items())

    @property
    def grids(self) -> dict[str, Grid]:
        """What all scores amount to, and the headline score by category, by title; without those that are empty."""
        by_category = f"{self.headline_name} by category"
        found = {"scores": ("", self.scores.items()), by_category: (by_category, self.categories)}
        grids = {title: spread_grid(rows, heading, self.digits) for title, (heading, rows) in found.items()}
        return {title: grid for title, grid in grids.items() if grid.rows}

    def show(self, console: Console, results: Sequence[tuple[str, R]], *, is_brief: bool) -> None:
        """Prints the results of a few items, several side by side, with what is behind them unless that is too much."""
        is_one = len(results) == 1
        if not is_one:
            console.print(self.comparison().to_table())
        for item_id, result in results if is_one or not is_brief else ():
            if not is_one:
                console.print(shown(item_id, style="bold"))
            console.print(Text(self.terminal.sentence(result), style="bold" if is_one else ""))
            if is_one:
                console.print(self.terminal.overview(result, is_brief=is_brief))
            if not is_brief:
                console.print(indented(self.terminal.evidence(result, SHOWN_ITEMS if is_one else COMPARED_ROWS)))
        console.print(self.terminal.footer([result for _, result in results]))

    def comparison(self) -> Grid:
        """Builds the table of several items: a column each, a row for each of their numbers."""
        found = [
            {name: text for name, (text, _) in row.cells.items()}
            | {name: number(score, self.digits) for name, score in row.scores.items()}
            for row in self.rows
        ]
        names = list(dict.fromkeys(name for texts in found for name in texts))
        rows = [(name, *(texts.get(name, "-") for texts in found)) for name in names]
        return Grid(("", *(f">{row.id}" for row in self.rows)), [row for row in rows if any(row[1:])], NAME_LIMIT)

    def check(self) -> None:
        """Raises CliError when items failed, or none came, NegativeAnswer when results are not good enough."""
        if not self.item_count:
            raise InputError("there are no items: nothing was read, and so nothing can pass")
        check_failed(self.failed, self.item_count)
        if self.fault_count:
            named = [f"{item_id}: {fault}" if self.item_count > 1 else fault for item_id, fault in self.faults]
            more = f"; and {self.fault_count - len(named)} more" if self.fault_count > len(named) else ""
            raise NegativeAnswer(f"{self.limit_words}: {'; '.join(named)}{more}")

    def print(self, console: Console) -> None:
        """Prints the tables of many items."""
        kept = [f"{self.kept_count} kept from an earlier run"] if self.kept_count else []
        counts = (counted(self.item_count, "item"), f"{len(self.failed)} failed", *self.counts(), *kept)
        print_grids(console, ", ".join(counts), self.remarks(), *self.grids.values())
        if self.done_count:
            rows = [(row.id, number(row.headline, self.digits)) for row in self.worst]
            console.print(Grid(("worst items", f">{self.headline_name}"), rows).to_table())
        print_failed(console, self.failed)

    def render(self, *, has_index: bool = True) -> str:
        """Renders the page: the worst items whole, after an index of all unless there is but one to show."""
        items = [item for _, item in self.whole]
        rows = sorted(self.rows, key=lambda row: -row.badness) if has_index else []
        one, many = f"{self.noun} of {items[0].id if items else ''}", f"{self.noun}s of {self.item_count} summaries"
        bars: dict[str, list[tuple[float | None, str]]] = {}
        for title, value in chain.from_iterable(row.bars.items() for row in rows):  # items may have other frameworks
            bars.setdefault(title, []).append((value, "items"))
        return render_page(
            self.template,
            script_file=self.script,
            title=many if has_index else one,
            tally=self,
            items=items,
            rows=rows,
            has_index=has_index,
            statuses=sorted({status for row in rows for status in row.statuses}),
            headings=list(dict.fromkeys(heading for row in rows for heading in row.cells)),
            histograms={title: histogram(values, self.top) for title, values in bars.items()},
            describe=describe,
        )


def spread_grid(rows: Iterable[tuple[str, Sequence[float]]], heading: str, digits: int) -> Grid:
    """Builds the table of means and quantiles; a row without numbers is left out."""
    cells = []
    for name, values in rows:
        if values:
            tenths = statistics.quantiles(values, n=10, method="inclusive") if len(values) > 1 else [values[0]] * 9
            spread = (statistics.fmean(values), tenths[0], tenths[4], tenths[8])
            cells.append((name, *(number(one, digits) for one in spread), str(len(values))))
    return Grid((heading, ">mean", ">p10", ">median", ">p90", ">items"), cells, NAME_LIMIT)


def histogram(values: Iterable[tuple[float | None, str]], top: float) -> list[tuple[float, float, Counter[str]]]:
    """Counts values of [0, top], each with its kind, in tenths of the range; None is left out."""
    counts: list[Counter[str]] = [Counter() for _ in range(BIN_COUNT)]
    for value, kind in values:
        if value is not None:
            counts[min(int(value / top * BIN_COUNT), BIN_COUNT - 1)][kind] += 1
    return [(top * at / BIN_COUNT, top * (at + 1) / BIN_COUNT, found) for at, found in enumerate(counts)]
