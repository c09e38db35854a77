"""Renders evaluations as one page: each summary and its reference, every factor with its evidence.

Layout, style and safety are those of the judge's page: everything is escaped, and nothing but its own script may run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from precis.v1 import evaluate_pb2 as pb

from server.cli.evaluate.files import Candidate
from server.cli.evaluate.table import COMPONENTS, HARD_FAILS, VALID_STATUSES, BulkSummary, inputs_of, score_of
from server.cli.judge.report.marks import Mark, MarkedText, Role, cut
from server.cli.judge.report.overview import histogram
from server.cli.judge.report.render import WHOLE_ITEMS, render_page
from server.cli.results import Answer
from server.cli.spread import WorstItems

ENTITY_WORDS = {
    pb.ENTITY_STATUS_VALID: "named",
    pb.ENTITY_STATUS_VALID_WITHOUT_CONTEXT: "named; the reference has no context to compare",
    pb.ENTITY_STATUS_NOT_FOUND: "not named",
    pb.ENTITY_STATUS_CONTEXT_MISMATCH: "named in another context",
}
WORST_LOSS = 1.0


@dataclass(frozen=True, slots=True)
class EvaluatedItem:
    """A summary with its reference and what was found."""

    id: str
    request: pb.EvaluateRequest
    response: pb.EvaluateResponse

    @property
    def rule(self) -> str:
        """Names the hard fail; empty without one."""
        failed = self.response.HasField("hard_fail")
        return HARD_FAILS.get(self.response.hard_fail.rule, "unknown rule") if failed else ""

    @property
    def said(self) -> str:
        """Sums the evaluation up in a sentence."""
        if self.rule:
            return f"Loss 1, the worst: a hard fail, {self.rule}."
        facts, flow, entities = self.response.facts, self.response.flow, self.response.entities
        counts = (
            (facts.hit_fact_count, facts.fact_count, "key facts are told"),
            (facts.supported_sentence_count, facts.sentence_count, "sentences are supported by the reference"),
            (flow.covered_count, flow.point_count, "points of the outline are covered"),
            (entities.valid_count, entities.entity_count, "entities are named"),
        )
        found = ", ".join(f"{count} of {total} {what}" for count, total, what in counts if total)
        return f"Loss {self.response.loss:.3f}, where 0 is perfect and 1 is worst: {found}."

    @property
    def parts(self) -> list[tuple[str, pb.ComponentScore, str]]:
        """Lists the factors: name, part in the loss, and what it was computed from."""
        response = self.response
        return [(name, getattr(response, name).score, inputs_of(response, name)) for name in COMPONENTS]

    @property
    def pieces(self) -> list[MarkedText]:
        """Cuts the summary where its sentences begin and end."""
        sentences = [one.hypothesis for one in self.response.facts.sentences]
        marks = [Mark(Role.CLAIM, number, one.start, one.end) for number, one in enumerate(sentences, start=1)]
        return cut(self.request.generated.text, marks)

    @property
    def entities(self) -> list[tuple[pb.EntityEvidence, bool, str]]:
        """Lists the entities, whether they count, and what came of them."""
        found = self.response.entities.entities
        return [(one, one.status in VALID_STATUSES, ENTITY_WORDS.get(one.status, "unknown")) for one in found]

    @property
    def inversions(self) -> list[tuple[str, str]]:
        """Lists the outline points that the summary visits in the wrong order: the later, then the earlier one."""
        texts = [point.evidence.hypothesis.text for point in self.response.flow.points]
        return [(texts[pair.later_point], texts[pair.earlier_point]) for pair in self.response.flow.inversions]


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """One item of many, without its texts."""

    id: str
    category: str
    loss: float
    scores: tuple[float | None, ...]
    rule: str


@dataclass
class EvaluationReport:
    """Collects a row for each item, and texts and evidence of the worst."""

    rows: list[EvaluationRow] = field(default_factory=list)
    worst: WorstItems[EvaluatedItem] = field(default_factory=lambda: WorstItems(WHOLE_ITEMS))

    def add(self, answer: Answer[Candidate, pb.EvaluateResponse]) -> None:
        """Takes one answer in; failed items are counted by the summary."""
        if answer.item is None or answer.result is None:
            return
        item = evaluated(answer.item, answer.result)
        scores = tuple(score_of(item.response, name) for name in COMPONENTS)
        row = EvaluationRow(item.id, answer.item.category, item.response.loss, scores, item.rule)
        self.rows.append(row)
        self.worst.add(row.loss, item)

    def render(self, tally: BulkSummary) -> str:
        """Renders the page; the first rows are those of the worst items."""
        rows = sorted(self.rows, key=lambda row: -row.loss)
        return render_evaluations([item for _, item in self.worst.ranked()], tally, rows)


def evaluated(candidate: Candidate, response: pb.EvaluateResponse) -> EvaluatedItem:
    """Keeps what a page shows: not the document, which may be a book."""
    request = pb.EvaluateRequest(generated=candidate.request.generated)
    request.datum.summary.CopyFrom(candidate.request.datum.summary)
    return EvaluatedItem(candidate.id, request, response)


def report_of(candidates: Sequence[Candidate], responses: Sequence[pb.EvaluateResponse]) -> str:
    """Renders the page of one evaluation, or of a few with an overview."""
    if len(candidates) == 1:
        return render_evaluations([evaluated(candidates[0], responses[0])])
    report, tally = EvaluationReport(), BulkSummary()
    for candidate, response in zip(candidates, responses, strict=True):
        answer = Answer(candidate.id, candidate, response, None, "")
        report.add(answer)
        tally.add(answer)
    return report.render(tally)


def render_evaluations(
    items: Sequence[EvaluatedItem], tally: BulkSummary | None = None, rows: Sequence[EvaluationRow] = ()
) -> str:
    """Renders a page.

    Args:
        items: shown whole, in this order.
        tally: of all items; None for a single evaluation, which has no overview.
        rows: of the overview, worst first.
    """
    return render_page(
        "evaluations.html",
        script_file="evaluations.js",
        title=f"Evaluation of {items[0].id}" if tally is None else f"Evaluations of {tally.item_count} summaries",
        items=items,
        tally=tally,
        rows=rows,
        components=COMPONENTS,
        bins=histogram(((row.loss, "items") for row in rows), WORST_LOSS),
    )
