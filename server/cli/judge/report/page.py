"""The page of one judgement, or of many: an overview, and the worst of them whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from precis.v1 import judge_pb2 as pb

from server.cli.judge import names
from server.cli.judge.floors import Floor
from server.cli.judge.items import Item
from server.cli.judge.report.overview import IndexRow, item_histograms, mean_results, row_of
from server.cli.judge.report.render import WHOLE_ITEMS, render_page
from server.cli.judge.tally import JudgeAnswer, JudgeTally, claims_said
from server.cli.spread import WorstItems


class ReportedItem(NamedTuple):
    """A judged item."""

    item: Item
    result: pb.JudgeResult


@dataclass
class BulkReport:
    """Collects a row for each item, and texts and evidence of the worst."""

    floors: Sequence[Floor] = ()
    rows: list[IndexRow] = field(default_factory=list)
    worst: WorstItems[ReportedItem] = field(default_factory=lambda: WorstItems(WHOLE_ITEMS))

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in; failed items are counted by the tally."""
        item, result = answer.item, answer.result
        if item is None or result is None:
            return
        row = row_of(item.id, item.category, result, len(names.breaches_of(result, self.floors)))
        self.rows.append(row)
        self.worst.add(row.badness, ReportedItem(item, result))

    def render(self, tally: JudgeTally) -> str:
        """Renders the page; the first rows are those of the worst items."""
        rows = sorted(self.rows, key=lambda row: -row.badness)
        return render_report([item for _, item in self.worst.ranked()], self.floors, tally, rows)


def report_of(judged: Sequence[ReportedItem], floors: Sequence[Floor]) -> str:
    """Renders the page of one judgement, or of a few with an overview."""
    if len(judged) == 1:
        return render_report(judged, floors)
    report, tally = BulkReport(floors), JudgeTally(floors)
    for item, result in judged:
        answer = JudgeAnswer(item.id, item, result, None, "")
        report.add(answer)
        tally.add(answer)
    return report.render(tally)


def render_report(
    items: Sequence[ReportedItem],
    floors: Sequence[Floor],
    tally: JudgeTally | None = None,
    rows: Sequence[IndexRow] = (),
) -> str:
    """Renders a page.

    Args:
        items: shown whole, in this order.
        floors: of --fail-under.
        tally: of all items; None for a single judgement, which has no overview.
        rows: of the overview, worst first.
    """
    return render_page(
        "page.html",
        title=f"Judgement of {items[0].item.id}" if tally is None else f"Judgements of {tally.item_count} summaries",
        items=items,
        floors=floors,
        tally=tally,
        rows=rows,
        frameworks=dict.fromkeys(framework for row in rows for framework in row.means),
        statuses=sorted({status for row in rows for status in row.statuses}),
        charts=mean_results(tally.scores, tally.statuses) if tally else [],
        histograms=item_histograms(rows),
        claims_said=claims_said,
    )
