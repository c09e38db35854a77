"""What a judgement of a summary says about quality: findings and scores for the whole, and for parts of it."""

import math
from collections.abc import Sequence

from pipeline.judge.evidence.table import Claim, Covered, EvidenceTable, KeyPoint, Label
from pipeline.judge.fusion import Level, level_of
from pipeline.judge.metric import MAX_SCORE, MetricName, MetricResult, MetricStatus
from pipeline.judge.synthesis.evidence import GLOBAL, Finding, Severity, ToolScore

_SEVERITIES = {
    Level.EXCELLENT: Severity.NONE,
    Level.GOOD: Severity.SLIGHT,
    Level.FAIR: Severity.MODERATE,
    Level.POOR: Severity.SEVERE,
    Level.BAD: Severity.SEVERE,
}
_LABELS = {Label.SUPPORTED: 5.0, Label.PARTIAL: 3.0, Label.UNSUPPORTED: 1.0}
_COVERED = {Covered.FULLY: 5.0, Covered.PARTIAL: 3.0, Covered.NOT: 1.0}
_MAX_CHARS = 600
_SHORTEST_WORD = 4  # of a part's name, when it is looked for by single words


def severity_of(score: float) -> Severity:
    """Returns how bad something is whose quality has a score in [1, 5]."""
    return _SEVERITIES[level_of(score)]


def to_five(score: float) -> float:
    """Maps [0, 10] to [1, 5], as Ultra does."""
    return 1 + 4 * score / MAX_SCORE


def metric_finding(results: Sequence[MetricResult]) -> Finding | None:
    """Returns what the opinions of one metric say together; None when none of them has a score.

    Those that count decide by their mean. When all abstain, the finding is uncertain.
    """
    scores = [to_five(one.score) for one in results if one.counts and one.score is not None]
    spoken = next((one for one in results if one.counts), None)
    abstained = next((one for one in results if one.status is MetricStatus.ABSTAINED), None)
    told = spoken or abstained
    if told is None:
        return None
    severity = severity_of(math.fsum(scores) / len(scores)) if scores else Severity.UNCERTAIN
    return Finding(told.name.value, severity, told.reason[:_MAX_CHARS])  # which quotes its evidence


def part_findings(
    part: str, table: EvidenceTable, *, is_wide: bool
) -> tuple[tuple[Finding, ...], tuple[ToolScore, ...]]:
    """Returns what the claims and key points that mention a part say about it; both empty when none does.

    Args:
        part: a name.
        table: evidence.
        is_wide: one word of the name suffices.
    """
    claims = [claim for claim in table.claims if _mentions(claim.passage.text, part, is_wide=is_wide)]
    points = [point for point in table.judge_key_points if _mentions(point.passage.text, part, is_wide=is_wide)]
    found: list[Finding] = []
    scores: list[ToolScore] = []
    if claims:
        worst = min(claims, key=lambda claim: _LABELS[claim.label])
        kind = MetricName.HALLUCINATION.value
        found.append(Finding(kind, severity_of(_LABELS[worst.label]), _about_claim(worst)))
        mean = math.fsum(_LABELS[claim.label] for claim in claims) / len(claims)
        scores.append(ToolScore("claim_labels", mean, part, kind))
    if points:
        worst_point = min(points, key=lambda point: _COVERED[point.covered])
        kind = MetricName.COVERAGE.value
        found.append(Finding(kind, severity_of(_COVERED[worst_point.covered]), _about_point(worst_point)))
        mean = math.fsum(_COVERED[point.covered] for point in points) / len(points)
        scores.append(ToolScore("key_point_labels", mean, part, kind))
    return tuple(found), tuple(scores)


def score_findings(scores: Sequence[ToolScore]) -> dict[tuple[str, str], Finding]:
    """Returns for each scope and aspect what the scores of tools say about it, worst score first."""
    by_subject: dict[tuple[str, str], list[ToolScore]] = {}
    for score in scores:
        by_subject.setdefault((score.scope or GLOBAL, score.aspect), []).append(score)
    return {
        (part, aspect): Finding(
            aspect or "quality",
            severity_of(math.fsum(one.score for one in these) / len(these)),
            "; ".join(f"{one.tool} scores it {one.score:.2f} of 5" for one in these)[:_MAX_CHARS],
        )
        for (part, aspect), these in by_subject.items()
    }


def _mentions(text: str, part: str, *, is_wide: bool) -> bool:
    text, name = text.casefold(), part.casefold()
    if name in text:
        return True
    return is_wide and any(len(word) >= _SHORTEST_WORD and word in text for word in name.split())


def _about_claim(claim: Claim) -> str:
    support = f" [source: {claim.support.quote}]" if claim.support else ""
    return f"{claim.label.value}: [summary: {claim.passage.quote}]{support}"[:_MAX_CHARS]


def _about_point(point: KeyPoint) -> str:
    return f"{point.covered.value} told: [source: {point.passage.quote}]"[:_MAX_CHARS]
