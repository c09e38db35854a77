"""Turns what is thought of a metric into its result: caps, rounding, reason, evidence."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.judge.citation import cite, cite_first, count, sentences
from pipeline.judge.config import UltraConfig
from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.table import KeyPointCoverage
from pipeline.judge.exact import exact, half_up
from pipeline.judge.fusion import LOWEST, Fusion
from pipeline.judge.result import (
    MAX_SCORE,
    Cap,
    Input,
    JsonObject,
    MetricName,
    MetricResult,
    MetricStatus,
    apply_caps,
    to_object,
)
from pipeline.judge.ultra.levels import LevelReading, LevelSource, ScoreAgreement, Tool
from pipeline.judge.ultra.tools import EvidenceView
from pipeline.reading.passage import TextSpan

_DIGITS = 2
_STEP = MAX_SCORE / 4  # of the score for each level: 10 (q - 1) / 4


@dataclass(frozen=True, slots=True)
class Opinion:
    """The opinion of a metric: tools and language model, fused.

    Attributes:
        tools: their scores; at least one.
        reading: the language model's grade; None without one, or when it failed.
        fusion: of the two.
        places: that decided, most important first.
        failure: why the model's answer could not be used; None otherwise.
    """

    metric: MetricName
    tools: tuple[Tool, ...]
    reading: LevelReading | None
    fusion: Fusion
    agreement: ScoreAgreement
    places: tuple[TextSpan, ...]
    failure: str | None


Outcome = Opinion | MetricResult
"""What is thought of a metric; without that, the metric that failed."""


def score_of(q: float) -> float:
    """Returns 10 (q - 1) / 4; `paper_raw` can give q below 1, which is 0."""
    return max(0.0, _STEP * (q - LOWEST))


def to_metric(opinion: Outcome, view: EvidenceView, config: UltraConfig) -> tuple[MetricResult, JsonObject]:
    """Applies the caps, rounds once, abstains where opinions do not agree, and builds the JSON object."""
    if isinstance(opinion, MetricResult):
        return opinion, to_object(opinion, {})
    caps = caps_of(opinion.metric, view, config.contradiction_limit)
    score, caps = apply_caps(exact(score_of(opinion.fusion.score)), caps)
    status = _status(opinion, view, config)
    metric = MetricResult(
        opinion.metric,
        status,
        score=float(half_up(score, _DIGITS)),
        confidence=round(opinion.agreement.confidence, 4),
        reason=_reason(opinion, caps, _doubt(opinion, config) if status is MetricStatus.ABSTAINED else ""),
        evidence=opinion.places,
        inputs=_inputs(opinion, view),
        caps=caps,
    )
    return metric, to_object(metric, {"tools": {tool.name: tool.score for tool in opinion.tools}})


def _status(opinion: Opinion, view: EvidenceView, config: UltraConfig) -> MetricStatus:
    if opinion.metric is MetricName.HALLUCINATION and not view.table.claims:
        return MetricStatus.NO_CLAIMS
    return MetricStatus.ABSTAINED if _doubt(opinion, config) else MetricStatus.SCORED


def _doubt(opinion: Opinion, config: UltraConfig) -> str:
    """Says why a score is not relied on; empty when it is."""
    if opinion.agreement.coefficient < config.least_agreement:
        return f"Abstained: the opinions overlap by {opinion.agreement.coefficient:.2f} only."
    if opinion.agreement.certainty < config.least_certainty:
        return "Abstained: the claims are neither clearly supported nor clearly unsupported."
    return ""


def _inputs(opinion: Opinion, view: EvidenceView) -> dict[str, Input]:
    fusion, agreement = opinion.fusion, opinion.agreement
    inputs: dict[str, Input] = {f"tool_{tool.name}": tool.score for tool in opinion.tools}
    inputs |= {f"weight_{tool.name}": tool.weight for tool in opinion.tools}
    if fusion.tool_mean is not None and fusion.alpha is not None:
        inputs["q_bar"] = fusion.tool_mean
        inputs |= {f"alpha_{level}": weight for level, weight in enumerate(fusion.alpha, start=1)}
    if opinion.reading is not None:
        inputs |= {f"p_{level}": share for level, share in enumerate(fusion.probabilities, start=1)}
    return inputs | {
        "level_source": (opinion.reading.source if opinion.reading else LevelSource.UNIFORM).value,
        "fusion": fusion.form.value,
        "q": fusion.score,
        "level": fusion.level.letter,
        "raw_score": score_of(fusion.score),
        "agreement": agreement.coefficient,
        "relative_entropy": agreement.relative_entropy,
        "verified_share": agreement.verified_share,
        "certainty": agreement.certainty,
        "unsupported_share": view.unsupported_share,
    }


def _reason(opinion: Opinion, caps: tuple[Cap, ...], doubt: str) -> str:
    said = ", ".join(f"{tool.name.replace('_', ' ')} {tool.score:.2f}" for tool in opinion.tools)
    return sentences(
        (
            f"Tools on a scale of 1 to 5: {said}.",
            f"The language model: {opinion.reading.reason}" if opinion.reading and opinion.reading.reason else "",
            f"The language model gave nothing usable ({opinion.failure}); the tools decide." if opinion.failure else "",
            f"Decided by {cite_first(opinion.places)}." if opinion.places else "",
            *(f"Capped at {cap.limit:.2f}: {cap.reason}" for cap in caps if cap.lowered),
            doubt,
        )
    )


_DEPTH = 7.0
_CAPPED = (MetricName.COVERAGE, MetricName.RELEVANCE)
_NOTICEABLE = 0.005  # of the score: less is lost in rounding


def support_limit(unsupported_share: float) -> float:
    """Returns 10 - 7 (1 - (1 - u)^2): 10 without unsupported statements, 3 when all are."""
    return MAX_SCORE - _DEPTH * (1 - (1 - unsupported_share) ** 2)


def caps_of(metric: MetricName, view: EvidenceView, contradiction_limit: float) -> tuple[Cap, ...]:
    """Returns the caps of a metric whose conditions hold, in the order in which they apply."""
    caps: list[Cap] = []
    if metric in _CAPPED:
        limit = support_limit(view.unsupported_share)
        if limit < MAX_SCORE - _NOTICEABLE:
            reason = f"An expected {view.unsupported_share:.0%} of the summary is unsupported."
            caps.append(Cap("unsupported_share", limit, reason))
    if view.contradicted and (metric in _CAPPED or metric is MetricName.HALLUCINATION):
        first = view.contradicted[0]
        against = f", against {cite(first.support)}" if first.support is not None else ""
        reason = f"The source contradicts {count(len(view.contradicted), 'claim')}: {cite(first.passage)}{against}."
        caps.append(Cap("verified_contradiction", contradiction_limit, reason))
    return tuple(caps)


def deciding_places(view: EvidenceView, metric: MetricName) -> tuple[TextSpan, ...]:
    """Returns the places, each once."""
    return tuple(dict.fromkeys(place for place in _places(view, metric) if place is not None))


def _places(view: EvidenceView, metric: MetricName) -> Iterator[TextSpan | None]:
    table = view.table
    match metric:
        case MetricName.COVERAGE:
            for point in sorted(table.judge_key_points, key=lambda point: point.coverage is not KeyPointCoverage.NOT):
                yield point.passage
                yield point.best if point.coverage is not KeyPointCoverage.NOT else None
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
    return sorted(view.table.claims, key=lambda claim: claim.probability)  # stable: position decides ties


def _claim_places(claims: Iterable[Claim]) -> Iterator[TextSpan | None]:
    """Yields each claim with the sentence that it is compared with."""
    for claim in claims:
        yield claim.passage
        yield claim.support
