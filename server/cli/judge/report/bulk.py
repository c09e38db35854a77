"""The page of a bulk run: an overview of all items, and the worst of them whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from precis.v1 import evidence_pb2

from server.cli.judge.floors import Floor
from server.cli.judge.names import breaches_of, framework_name
from server.cli.judge.report.page import Index, IndexRow, ReportedItem, render_report
from server.cli.judge.report.scores import mean_charts, to_title
from server.cli.judge.tally import JudgeAnswer, JudgeTally, badness_of
from server.cli.spread import FailedItems, WorstItems, describe

WHOLE_ITEMS = 200  # a page with thousands of articles opens in no browser


@dataclass
class BulkReport:
    """Collects a row for each item, and texts and evidence of the worst."""

    floors: Sequence[Floor] = ()
    frameworks: dict[str, None] = field(default_factory=dict)
    rows: list[tuple[float, IndexRow]] = field(default_factory=list)
    worst: WorstItems[tuple[int, ReportedItem]] = field(default_factory=lambda: WorstItems(WHOLE_ITEMS))

    def add(self, answer: JudgeAnswer) -> None:
        """Takes one answer in; failed items are counted by the tally."""
        item, result = answer.item, answer.result
        if item is None or result is None:
            return
        breach_count = len(breaches_of(result, self.floors))
        badness = badness_of(result, is_breached=bool(breach_count))
        means = {framework_name(f): f.mean_score if f.HasField("mean_score") else None for f in result.frameworks}
        self.frameworks.update(dict.fromkeys(means))
        claims = result.evidence.claims
        unsupported_count = sum(claim.label == evidence_pb2.CLAIM_LABEL_UNSUPPORTED for claim in claims)
        row = IndexRow(item.id, "", tuple(means.values()), unsupported_count, len(claims), breach_count)
        self.worst.add(badness, (len(self.rows), ReportedItem(item, result)))
        self.rows.append((badness, row))

    def render(self, tally: JudgeTally) -> str:
        """Renders the page."""
        worst = [entry for _, entry in self.worst.ranked()]
        anchors = {position: f"item-{number}" for number, (position, _) in enumerate(worst, start=1)}
        ranked = sorted(range(len(self.rows)), key=lambda position: -self.rows[position][0])
        index = Index(
            charts=tuple(mean_charts(tally.scores)),
            frameworks=tuple(map(to_title, self.frameworks)),
            rows=tuple(replace(self.rows[position][1], anchor=anchors.get(position, "")) for position in ranked),
            failures=failures_of(tally.failed),
            failed_count=tally.failed.count,
            has_floors=bool(self.floors),
        )
        return render_report([reported for _, reported in worst], self.floors, index)


def failures_of(failed: FailedItems) -> tuple[tuple[str, str], ...]:
    """Names the failed items, and says why."""
    return tuple((item_id, describe(error)) for item_id, error in failed.first)


def report_of(judged: Sequence[ReportedItem], floors: Sequence[Floor]) -> str:
    """Renders the page of one judgement, or of a few with an overview."""
    if len(judged) == 1:
        return render_report(judged, floors)
    report, tally = BulkReport(floors), JudgeTally(floors)
    for one in judged:
        answer = JudgeAnswer(one.item.id, one.item, one.result, None, "")
        report.add(answer)
        tally.add(answer)
    return report.render(tally)
