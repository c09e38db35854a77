"""Ultra's caps: who states what the source does not say cannot cover it well (SCORING, section 3, point 5)."""

from collections.abc import Iterator

from pipeline.judge.lock.citation import cite, count
from pipeline.judge.metric import MAX_SCORE, Cap, MetricName
from pipeline.judge.ultra.evidence_view import EvidenceView

_DEPTH = 7.0
_CAPPED = (MetricName.COVERAGE, MetricName.RELEVANCE)
_NOTICEABLE = 0.005  # of the score: less is lost in rounding


def cap_score(
    score: float, metric: MetricName, view: EvidenceView, contradiction_limit: float
) -> tuple[float, tuple[Cap, ...]]:
    """Returns the score under the caps that hold for a metric, and these, in the order of their application."""
    caps: list[Cap] = []
    for name, limit, reason in _limits(metric, view, contradiction_limit):
        caps.append(Cap(name, limit, reason, lowered=score > limit))
        score = min(score, limit)
    return score, tuple(caps)


def support_limit(unsupported_share: float) -> float:
    """Returns 10 - 7 (1 - (1 - u)^2): 10 without unsupported statements, 3 when all are."""
    return MAX_SCORE - _DEPTH * (1 - (1 - unsupported_share) ** 2)


def _limits(metric: MetricName, view: EvidenceView, contradiction_limit: float) -> Iterator[tuple[str, float, str]]:
    if metric in _CAPPED:
        limit = support_limit(view.unsupported_share)
        if limit < MAX_SCORE - _NOTICEABLE:
            yield "unsupported_share", limit, f"An expected {view.unsupported_share:.0%} of the summary is unsupported."
    if view.contradicted and (metric in _CAPPED or metric is MetricName.HALLUCINATION):
        first = view.contradicted[0]
        against = f", against {cite(first.opposition)}" if first.opposition is not None else ""
        reason = f"The source contradicts {count(len(view.contradicted), 'claim')}: {cite(first.passage)}{against}."
        yield "verified_contradiction", contradiction_limit, reason
