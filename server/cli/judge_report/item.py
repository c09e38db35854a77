"""One judgement as the page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.judge_floors import Floor
from server.cli.judge_items import Item
from server.cli.judge_report.claims import Claim, source_marks, summary_marks, to_claim
from server.cli.judge_report.pieces import Piece, cut, runs
from server.cli.judge_report.scores import Chart, to_chart
from server.cli.judge_verdict import breaches_of

COVERED = {
    evidence_pb2.KEY_POINT_COVERAGE_FULLY: ("✓", "fully"),
    evidence_pb2.KEY_POINT_COVERAGE_PARTIAL: ("~", "in part"),
    evidence_pb2.KEY_POINT_COVERAGE_NOT: ("✗", "not"),
}


@dataclass(frozen=True, slots=True)
class KeyPoints:
    """The points of the source that a framework looks for: symbol, how far covered, share, words."""

    title: str
    points: tuple[tuple[str, str, float, str], ...]


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions that one text asks and the other answers."""

    title: str
    questions: tuple[evidence_pb2.Question, ...]


@dataclass(frozen=True, slots=True)
class ReportItem:
    """A judgement with both texts.

    Attributes:
        anchor: name of its place on the page.
        id: the caller's name for it.
        charts: one for each framework.
        claims: in the order of the summary.
        counts: number of claims by label, in the order of the labels.
        summary: pieces by claim; None for what belongs to none.
        source: pieces.
        breaches: what is under --fail-under.
        key_points: by framework.
        questions: by direction.
        result: for what is shown as it is.
    """

    anchor: str
    id: str
    charts: tuple[Chart, ...]
    claims: tuple[Claim, ...]
    counts: dict[str, int]
    summary: tuple[tuple[int | None, list[Piece]], ...]
    source: tuple[Piece, ...]
    breaches: tuple[str, ...]
    key_points: tuple[KeyPoints, ...]
    questions: tuple[Questions, ...]
    result: pb.JudgeResult


def to_report_item(anchor: str, item: Item, result: pb.JudgeResult, floors: Sequence[Floor]) -> ReportItem:
    """Builds what the page shows of one judgement."""
    evidence = result.evidence
    claims = tuple(to_claim(number, claim) for number, claim in enumerate(evidence.claims, start=1))
    return ReportItem(
        anchor=anchor,
        id=item.id,
        charts=tuple(map(to_chart, result.frameworks)),
        claims=claims,
        counts=count_labels(claims),
        summary=tuple(runs(cut(item.summary, list(summary_marks(evidence.claims))))),
        source=tuple(cut(item.source, list(source_marks(evidence.claims)))),
        breaches=tuple(map(str, breaches_of(result, floors))),
        key_points=key_points_of(evidence),
        questions=questions_of(evidence),
        result=result,
    )


def count_labels(claims: Sequence[Claim]) -> dict[str, int]:
    """Counts the claims of each label."""
    labels = ("supported", "partial", "unsupported")
    return {label: sum(claim.label == label for claim in claims) for label in labels}


def key_points_of(evidence: evidence_pb2.EvidenceTable) -> tuple[KeyPoints, ...]:
    """Lists the key points of the frameworks that look for any."""
    lists = (("Twin-Lock", evidence.twin_key_points), ("Judge-Lock", evidence.judge_key_points))
    return tuple(
        KeyPoints(
            title,
            tuple((*COVERED.get(p.coverage, ("?", "unknown")), p.covered_share, p.passage.text) for p in points),
        )
        for title, points in lists
        if points
    )


def questions_of(evidence: evidence_pb2.EvidenceTable) -> tuple[Questions, ...]:
    """Lists the questions of both directions, where there are any."""
    lists = (
        ("Asked about the source, answered from the summary", evidence.coverage_questions),
        ("Asked about the summary, answered from the source", evidence.claim_questions),
    )
    return tuple(Questions(title, tuple(questions)) for title, questions in lists if questions)
