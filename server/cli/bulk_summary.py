"""What a bulk evaluation amounts to: the spread of the losses, the worst items, the failed ones."""

from dataclasses import dataclass, field

from precis.v1 import evaluate_pb2 as pb
from rich import box
from rich.console import Console
from rich.table import Table

from server.cli.console import shown
from server.cli.evaluation_table import COMPONENTS, score_of
from server.cli.failed_items import FailedItems
from server.cli.spread_table import spread_table
from server.cli.worst_items import WorstItems

SHOWN_ITEMS = 10


@dataclass
class BulkSummary:
    """Collects what the summary needs; one number for each item, never the responses themselves."""

    losses: list[float] = field(default_factory=list)
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COMPONENTS})
    worst: WorstItems[str] = field(default_factory=lambda: WorstItems(SHOWN_ITEMS))
    failed: FailedItems = field(default_factory=FailedItems)
    hard_fail_count: int = 0

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return len(self.losses) + self.failed.count

    def add(self, response: pb.EvaluateStreamResponse) -> None:
        """Takes one answer in."""
        if response.HasField("error"):
            self.failed.add(response.id, response.error)
            return
        evaluation = response.response
        self.worst.add(evaluation.loss, response.id)
        self.losses.append(evaluation.loss)
        self.hard_fail_count += evaluation.HasField("hard_fail")
        for name, values in self.scores.items():
            score = score_of(evaluation, name)
            if score is not None:
                values.append(score)


def print_summary(console: Console, summary: BulkSummary) -> None:
    """Prints the tables of a bulk run."""
    console.print(
        f"{summary.item_count} items, {summary.failed.count} failed, {summary.hard_fail_count} hard fails", markup=False
    )
    if summary.losses:
        console.print(spread_table([("loss", summary.losses), *summary.scores.items()]))
        console.print(worst_table(summary))
    summary.failed.print(console)


def worst_table(summary: BulkSummary) -> Table:
    """Builds the table of the items with the greatest loss."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("worst items")
    table.add_column("loss", justify="right")
    for loss, item_id in summary.worst.ranked():
        table.add_row(shown(item_id, limit=80), f"{loss:.3f}")
    return table
