"""Renders judgements as one page that needs nothing else: no network, no other file, no script for reading.

Texts are data: every value goes through Jinja2's escaping, and a content security policy names the hashes of the one
style sheet and the one script, so that nothing else could run even if it got in.

One judgement as the page shows it.

The overview of a bulk run: what every item got, and the ones that failed.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from precis.v1 import evidence_pb2
from precis.v1 import judge_pb2 as pb

from server.cli.judge.floors import Floor
from server.cli.judge.items import Item
from server.cli.judge.names import breaches_of
from server.cli.judge.report.claims import ClaimCard, MarkedText, cut, runs, source_marks, summary_marks, to_claim
from server.cli.judge.report.scores import Chart, to_chart

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
class ItemQuestions:
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
    claims: tuple[ClaimCard, ...]
    counts: dict[str, int]
    summary: tuple[tuple[int | None, list[MarkedText]], ...]
    source: tuple[MarkedText, ...]
    breaches: tuple[str, ...]
    key_points: tuple[KeyPoints, ...]
    questions: tuple[ItemQuestions, ...]
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


def count_labels(claims: Sequence[ClaimCard]) -> dict[str, int]:
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


def questions_of(evidence: evidence_pb2.EvidenceTable) -> tuple[ItemQuestions, ...]:
    """Lists the questions of both directions, where there are any."""
    lists = (
        ("Asked about the source, answered from the summary", evidence.coverage_questions),
        ("Asked about the summary, answered from the source", evidence.claim_questions),
    )
    return tuple(ItemQuestions(title, tuple(questions)) for title, questions in lists if questions)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One judged item.

    Attributes:
        id: the caller's name for it.
        anchor: its place on the page; empty when it is not shown whole.
        means: mean score by framework; None without scores that count.
        unsupported_count: claims that the source does not support.
        claim_count: claims.
        breach_count: scores under --fail-under.
    """

    id: str
    anchor: str
    means: tuple[float | None, ...]
    unsupported_count: int
    claim_count: int
    breach_count: int


@dataclass(frozen=True, slots=True)
class Index:
    """All items of a bulk run.

    Attributes:
        charts: mean scores by framework.
        frameworks: their titles, in the order of `IndexRow.means`.
        rows: worst first.
        failures: name of the item, and why it has no judgement.
        failed_count: failed items, of which `failures` are the first.
        has_floors: whether --fail-under was given.
    """

    charts: tuple[Chart, ...]
    frameworks: tuple[str, ...]
    rows: tuple[IndexRow, ...]
    failures: tuple[tuple[str, str], ...]
    failed_count: int
    has_floors: bool

    @property
    def item_count(self) -> int:
        """Items that were answered."""
        return len(self.rows) + self.failed_count

    @property
    def shown_count(self) -> int:
        """Items that are shown whole."""
        return sum(bool(row.anchor) for row in self.rows)


FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """A judged item."""

    item: Item
    result: pb.JudgeResult


def render_report(items: Sequence[ReportedItem], floors: Sequence[Floor], index: Index | None = None) -> str:
    """Renders a page.

    Args:
        items: shown whole, in this order.
        floors: of --fail-under.
        index: the overview of a bulk run; None for a single judgement.
    """
    shown = [
        to_report_item(f"item-{number}", reported.item, reported.result, floors)
        for number, reported in enumerate(items, start=1)
    ]
    return render(shown, index)


def render(items: Sequence[ReportItem], index: Index | None) -> str:
    """Fills the templates."""
    templates = environment()
    most_claims = max((len(item.claims) for item in items), default=0)
    style = templates.get_template("style.css").render(claims=range(1, most_claims + 1))
    script = templates.get_template("script.js").render()
    return templates.get_template("page.html").render(
        title=f"Judgement of {items[0].id}" if index is None else f"Judgements of {index.item_count} summaries",
        items=items,
        index=index,
        style=Markup(style),  # noqa: S704 - our own file and numbers
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=content_hash(style),
        script_hash=content_hash(script),
    )


def content_hash(content: str) -> str:
    """Names a style sheet or script in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


@cache
def environment() -> Environment:
    """Builds the templates' environment: everything is escaped, and a misspelt name is an error."""
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
