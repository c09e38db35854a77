"""The places of source and summary that decided a metric, most important first."""

from collections.abc import Iterable, Iterator

from pipeline.judge.evidence.table import Claim, Covered
from pipeline.judge.metric import MetricName
from pipeline.judge.ultra.evidence_view import EvidenceView
from pipeline.text.passage import Passage


def deciding_places(view: EvidenceView, metric: MetricName) -> tuple[Passage, ...]:
    """Returns the places, each once."""
    return tuple(dict.fromkeys(place for place in _places(view, metric) if place is not None))


def _places(view: EvidenceView, metric: MetricName) -> Iterator[Passage | None]:
    table = view.table
    match metric:
        case MetricName.COVERAGE:
            points = table.judge_key_points or table.twin_key_points
            for point in sorted(points, key=lambda point: point.covered is not Covered.NOT):
                yield point.passage
                yield point.best if point.covered is not Covered.NOT else None
        case MetricName.ALIGNMENT:
            yield table.theme
            yield from _claim_places(view.contradicted)
            yield from (claim.passage for claim in table.claims)
        case MetricName.HALLUCINATION:
            yield from _claim_places(_least_supported(view))
        case MetricName.RELEVANCE:
            yield from (one.passage for one in sorted(table.segments, key=lambda one: one.containment))
            yield table.theme
            yield from (claim.support for claim in table.claims)
        case MetricName.BIAS_TOXICITY:
            yield from (hit.passage for hit in table.lexicon_hits)
            yield from (claim.passage for claim in table.claims)


def _least_supported(view: EvidenceView) -> list[Claim]:
    order = sorted(range(len(view.supports)), key=lambda index: (view.supports[index], index))
    return [view.table.claims[index] for index in order]


def _claim_places(claims: Iterable[Claim]) -> Iterator[Passage | None]:
    """Yields each claim with the window that speaks most about it."""
    for claim in claims:
        yield claim.passage
        yield claim.opposition if claim.contradiction > claim.entailment else claim.support
