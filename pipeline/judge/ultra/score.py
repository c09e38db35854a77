"""Scores the five metrics of Ultra: tools, level probabilities, fusion, agreement, caps (docs/concepts/ultra.md)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.judge.config import UltraConfig
from pipeline.judge.evidence.table import Claim, EvidenceTable, KeyPointCoverage
from pipeline.judge.exact import apply_caps, exact, half_up
from pipeline.judge.fusion import (
    LOWEST,
    Fusion,
    FusionForm,
    LevelReading,
    LevelSource,
    ScoreAgreement,
    Tool,
    assess_agreement,
    fuse,
    smooth,
    tool_opinions,
)
from pipeline.judge.result import (
    MAX_SCORE,
    Cap,
    Framework,
    FrameworkResult,
    Input,
    MetricName,
    MetricResult,
    MetricStatus,
    cite,
    cite_first,
    count,
    sentences,
)
from pipeline.judge.ultra.tools import certainty, contradicted, measure, unsupported_share
from pipeline.llm.ask import UnusableAnswerError
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel

logger = logging.getLogger(__name__)

ReadLevel = Callable[[MetricName, EvidenceTable], Awaitable[LevelReading]]
"""A language model that grades a metric on an anchored rubric; raises UnusableAnswerError."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """The opinion of a metric: tools and language model, fused."""

    metric: MetricName
    tools: tuple[Tool, ...]  # their scores; at least one
    reading: LevelReading | None  # the language model's grade; None without one, or when it failed
    fusion: Fusion  # of the two
    agreement: ScoreAgreement
    places: tuple[TextSpan, ...]  # that decided, most important first
    failure: str | None  # why the model's answer could not be used; None otherwise


async def score_ultra(
    table: EvidenceTable,
    config: UltraConfig,
    *,
    read_level: ReadLevel | None = None,
    caller_tools: Mapping[MetricName, Sequence[Tool]] | None = None,
) -> FrameworkResult:
    """Scores all five metrics. A language model that fails is noted, and a metric that fails has status ERROR.

    The model grades all metrics at the same time; without one the tools decide alone.
    """

    async def form(metric: MetricName) -> Opinion | MetricResult:
        given = (caller_tools or {}).get(metric, ())
        unaided = _conclude(table, metric, config, given)
        if read_level is None or isinstance(unaided, MetricResult):
            return unaided
        try:
            reading = await read_level(metric, table)
        except UnusableAnswerError as error:
            return replace(unaided, failure=str(error))
        return _conclude(table, metric, config, given, reading)

    opinions = await asyncio.gather(*map(form, MetricName))
    metrics = tuple(to_metric(opinion, table, config) for opinion in opinions)
    alone: dict[str, list[str]] = {}  # metrics by what failed: often one thing for all
    for opinion in opinions:
        if isinstance(opinion, Opinion) and opinion.failure:
            alone.setdefault(opinion.failure, []).append(opinion.metric.value)
    notes = tuple(f"{', '.join(names)}: tools alone, {failure}" for failure, names in alone.items())
    return FrameworkResult(Framework.ULTRA, metrics, notes)


def _conclude(
    table: EvidenceTable,
    metric: MetricName,
    config: UltraConfig,
    caller_tools: Sequence[Tool],
    reading: LevelReading | None = None,
) -> Opinion | MetricResult:
    """Fuses what there is. A bug in one metric must not take the others with it."""
    try:
        tools = (*measure(table, metric), *caller_tools)
        probabilities = reading.probabilities if reading else None
        if probabilities and config.form is FusionForm.NORMALIZED:
            probabilities = smooth(probabilities)
        scores, weights = [tool.score for tool in tools], [tool.weight for tool in tools]
        fusion = fuse(scores, probabilities, eta=config.eta, form=config.form, weights=weights)
        places = dict.fromkeys(place for place in _places(table, metric) if place is not None)
        agreement = assess_agreement(
            fusion,
            fusion.probabilities if reading else tool_opinions(tools),
            verified_share=reading.verified_share if reading else 1.0,
            certainty=certainty(table.claims) if metric is MetricName.HALLUCINATION else 1.0,
        )
    except Exception as error:
        logger.exception("judge framework=ultra metric=%s failed", metric)
        return MetricResult.failed(metric, f"malformed_metric: {type(error).__name__}")
    return Opinion(metric, tools, reading, fusion, agreement, (*places, *(reading.evidence if reading else ())), None)


_STEP = MAX_SCORE / 4  # of the score for each level: 10 (q - 1) / 4


def score_of(q: float) -> float:
    """Returns 10 (q - 1) / 4; `paper_raw` can give q below 1, which is 0."""
    return max(0.0, _STEP * (q - LOWEST))


def to_metric(opinion: Opinion | MetricResult, table: EvidenceTable, config: UltraConfig) -> MetricResult:
    """Applies the caps, rounds once, and abstains where opinions do not agree."""
    if isinstance(opinion, MetricResult):
        return opinion
    caps = caps_of(opinion.metric, table.claims, config.contradiction_limit)
    score, caps = apply_caps(exact(score_of(opinion.fusion.score)), caps)
    is_empty = opinion.metric is MetricName.HALLUCINATION and not table.claims
    doubt = "" if is_empty else _doubt(opinion, config)
    certain = MetricStatus.NO_CLAIMS if is_empty else MetricStatus.SCORED
    return MetricResult(
        opinion.metric,
        MetricStatus.ABSTAINED if doubt else certain,
        score=float(half_up(score, 2)),
        confidence=round(opinion.agreement.confidence, 4),
        reason=_reason(opinion, caps, doubt),
        evidence=opinion.places,
        inputs=_inputs(opinion, table),
        caps=caps,
        lists={"tools": {tool.name: tool.score for tool in opinion.tools}},
    )


def _doubt(opinion: Opinion, config: UltraConfig) -> str:
    """Says why a score is not relied on; empty when it is."""
    if opinion.agreement.coefficient < config.least_agreement:
        return f"Abstained: the opinions overlap by {opinion.agreement.coefficient:.2f} only."
    if opinion.agreement.certainty < config.least_certainty:
        return "Abstained: the claims are neither clearly supported nor clearly unsupported."
    return ""


def _inputs(opinion: Opinion, table: EvidenceTable) -> dict[str, Input]:
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
        "unsupported_share": unsupported_share(table.claims),
    }


def _reason(opinion: Opinion, caps: tuple[Cap, ...], doubt: str) -> str:
    said = ", ".join(f"{tool.name.replace('_', ' ')} {tool.score:.2f}" for tool in opinion.tools)
    return sentences(
        (
            f"Tools on a scale of 1 to 5: {said}.",
            f"The language model: {opinion.reading.reason}" if opinion.reading and opinion.reading.reason else "",
            "The language model gave nothing usable; the tools decide." if opinion.failure else "",
            f"Decided by {cite_first(opinion.places)}." if opinion.places else "",
            *(f"Capped at {cap.limit:.2f}: {cap.reason}" for cap in caps if cap.lowered),
            doubt,
        )
    )


_BELOW_GATE, _EVEN = 6.9, 5.0  # of a summary with an unsupported claim: at most, and when half of it is unsupported
_DEPTH = 7.0
_CAPPED = (MetricName.COVERAGE, MetricName.RELEVANCE)
_NOTICEABLE = 0.005  # of the score: less is lost in rounding


def support_limit(unsupported_share: float) -> float:
    """Returns 10 - 7 (1 - (1 - u)^2): 10 without unsupported statements, 3 when all are."""
    return MAX_SCORE - _DEPTH * (1 - (1 - unsupported_share) ** 2)


def caps_of(metric: MetricName, claims: Sequence[Claim], contradiction_limit: float) -> tuple[Cap, ...]:
    """Returns the caps of a metric whose conditions hold, in the order in which they apply."""
    caps: list[Cap] = []
    if metric in _CAPPED:
        share = unsupported_share(claims)
        if (limit := support_limit(share)) < MAX_SCORE - _NOTICEABLE:
            reason = f"An expected {share:.0%} of the summary is unsupported."
            caps.append(Cap("unsupported_share", limit, reason))
    worst = min(claims, key=lambda claim: claim.probability, default=None)
    is_of_claims = metric in (*_CAPPED, MetricName.HALLUCINATION)
    if is_of_claims and worst and worst.label is ClaimLabel.UNSUPPORTED:
        limit = _BELOW_GATE - 2 * (_BELOW_GATE - _EVEN) * unsupported_share(claims)
        caps.append(Cap("unsupported_claim", limit, f"The source does not support {cite(worst.passage)}."))
    if is_of_claims and (refuted := contradicted(claims)):
        against = f", against {cite(refuted[0].support)}" if refuted[0].support is not None else ""
        reason = f"The source contradicts {count(len(refuted), 'claim')}: {cite(refuted[0].passage)}{against}."
        caps.append(Cap("verified_contradiction", contradiction_limit, reason))
    return tuple(caps)


def _places(table: EvidenceTable, metric: MetricName) -> Iterator[TextSpan | None]:
    """Yields the places that decide a metric, most important first."""
    match metric:
        case MetricName.COVERAGE:
            for point in sorted(table.judge_key_points, key=lambda point: point.coverage is not KeyPointCoverage.NOT):
                yield point.passage
                yield point.best if point.coverage is not KeyPointCoverage.NOT else None
        case MetricName.ALIGNMENT:
            yield table.theme
            yield from _claim_places(contradicted(table.claims))
            yield from (claim.passage for claim in table.claims)
        case MetricName.HALLUCINATION:
            # Sorting is stable: position decides ties.
            yield from _claim_places(sorted(table.claims, key=lambda claim: claim.probability))
        case MetricName.RELEVANCE:
            yield from (one.passage for one in sorted(table.segments, key=lambda one: one.containment))
            yield table.theme
            yield from (claim.support for claim in table.claims)
        case MetricName.BIAS_TOXICITY:
            yield from (hit.passage for hit in table.lexicon_hits)
            yield from (claim.passage for claim in table.claims)


def _claim_places(claims: Iterable[Claim]) -> Iterator[TextSpan | None]:
    for claim in claims:
        yield claim.passage
        yield claim.support
