"""What a bulk run amounts to: the spread of the losses, the worst items, the failed ones."""

import heapq
import statistics
from dataclasses import dataclass, field

from google.rpc import code_pb2
from rich import box
from rich.console import Console
from rich.table import Table

from protos.precis.v1 import evaluate_pb2 as pb
from server.cli.console import shown
from server.cli.evaluation_table import COMPONENTS, score_of

SHOWN_ITEMS = 10


@dataclass
class BulkSummary:
    """Collects what the summary needs; one number for each item, never the responses themselves."""

    losses: list[float] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COMPONENTS})
    worst: list[tuple[float, int, str]] = field(default_factory=list)
    failures: list[pb.EvaluateStreamResponse] = field(default_factory=list)
    hard_fail_count: int = 0
    failed_count: int = 0

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return len(self.losses) + self.failed_count

    def add(self, response: pb.EvaluateStreamResponse) -> None:
        """Takes one answer in."""
        if response.HasField("error"):
            self.failed_count += 1
            if len(self.failures) < SHOWN_ITEMS:
                self.failures.append(response)
            return
        evaluation = response.response
        entry = (
            evaluation.loss,
            -len(self.losses),
            response.id,
        )  # the count breaks ties: the earlier item counts as worse
        (heapq.heappush if len(self.worst) < SHOWN_ITEMS else heapq.heappushpop)(self.worst, entry)
        self.losses.append(evaluation.loss)
        self.hard_fail_count += evaluation.HasField("hard_fail")
        for name, values in self.scores.items():
            score = score_of(evaluation, name)
            if score is not None:
                values.append(score)


def print_summary(console: Console, summary: BulkSummary) -> None:
    """Prints the tables of a bulk run."""
    console.print(
        f"{summary.item_count} items, {summary.failed_count} failed, {summary.hard_fail_count} hard fails", markup=False
    )
    if summary.losses:
        console.print(spread_table(summary))
        console.print(worst_table(summary))
    for failure in summary.failures:
        name = code_pb2.Code.Name(failure.error.code) if failure.error.code in code_pb2.Code.values() else "UNKNOWN"
        where = f"{failure.error.field}: " if failure.error.field else ""
        console.print(shown(f"{failure.id}: {name}: {where}{failure.error.message}", style="red"))
    if summary.failed_count > len(summary.failures):
        console.print(f"... and {summary.failed_count - len(summary.failures)} more failed items", style="red")


def spread_table(summary: BulkSummary) -> Table:
    """Builds the table of means and quantiles."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("")
    for heading in ("mean", "p10", "median", "p90", "items"):
        table.add_column(heading, justify="right")
    for name, values in (("loss", summary.losses), *summary.scores.items()):
        if values:
            numbers = (statistics.fmean(values), *deciles(values))
            table.add_row(name, *(f"{number:.3f}" for number in numbers), str(len(values)))
    return table


def deciles(values: list[float]) -> tuple[float, float, float]:
    """Returns the 10th, 50th and 90th percentile."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]


def worst_table(summary: BulkSummary) -> Table:
    """Builds the table of the items with the greatest loss."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("worst items")
    table.add_column("loss", justify="right")
    for loss, _, item_id in sorted(summary.worst, reverse=True):
        table.add_row(shown(item_id, limit=80), f"{loss:.3f}")
    return table
