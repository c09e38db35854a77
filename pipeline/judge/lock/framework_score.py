"""From five formulas to a framework's result: caps in their order, one rounding, errors kept to their metric.

Order (SCORING, section 2): raw -> the metric's own caps -> global caps -> severe -> perfect guard -> round once.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from pipeline.judge.arithmetic.rounding import half_up
from pipeline.judge.errors import MetricError
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.framework import Framework, FrameworkResult, Json, JsonObject
from pipeline.judge.lock.caps import apply_limits
from pipeline.judge.lock.claim_counts import ClaimCounts
from pipeline.judge.lock.draft import Draft
from pipeline.judge.lock.safeguards import Safeguards
from pipeline.judge.metric import MAX_SCORE, Cap, MetricName, MetricResult, MetricStatus

logger = logging.getLogger(__name__)

Formula = Callable[[EvidenceTable], Draft]


@dataclass(frozen=True, slots=True)
class _Capped:
    """A draft under way: its score so far, in [0, 10], and the caps that made it."""

    draft: Draft
    score: Fraction
    caps: tuple[Cap, ...]


def score_framework(
    table: EvidenceTable, framework: Framework, formulas: Mapping[MetricName, Formula], safeguards: Safeguards
) -> FrameworkResult:
    """Scores all five metrics. One that fails or is missing becomes an error; the rest are scored."""
    counts = ClaimCounts.of(table.claims)
    outcomes = {name: _draft(table, name, formulas) for name in MetricName}
    capped = [_cap(draft, safeguards, counts) for draft in outcomes.values() if isinstance(draft, Draft)]
    finished = {one.draft.name: _finish(one) for one in _guard(capped, safeguards)}
    metrics = tuple(
        finished[name] if isinstance(outcome, Draft) else _failed(name, outcome) for name, outcome in outcomes.items()
    )
    objects = {metric.name: _to_object(metric, outcomes[metric.name]) for metric in metrics}
    return FrameworkResult(framework, metrics, objects)


def _draft(table: EvidenceTable, name: MetricName, formulas: Mapping[MetricName, Formula]) -> Draft | str:
    """Returns what the formula gives, or why it gives nothing."""
    if name not in formulas:
        return "missing_metric"
    try:
        draft = formulas[name](table)
        _check(draft, name)
    except MetricError as error:
        return error.reason
    except Exception as error:
        logger.exception("judge metric=%s failed", name)
        return f"malformed_metric: {type(error).__name__}"
    return draft


def _check(draft: Draft, name: MetricName) -> None:
    """Refuses what is no score, so that no NaN reaches a caller."""
    if draft.name is not name:
        raise MetricError(f"malformed_metric: {draft.name} in place of {name}")
    if not 0 <= draft.raw <= Fraction(MAX_SCORE):
        raise MetricError("malformed_metric: score out of range")
    if not all(isfinite(value) for value in draft.inputs.values() if isinstance(value, float)):
        raise MetricError("malformed_metric: an input is no number")


def _cap(draft: Draft, safeguards: Safeguards, counts: ClaimCounts) -> _Capped:
    score, caps = apply_limits(draft.raw, (*draft.limits, *safeguards.limits(draft.name, counts)))
    return _Capped(draft, score, (*draft.part_caps, *caps))


def _guard(capped: list[_Capped], safeguards: Safeguards) -> list[_Capped]:
    """Applies the perfect guard, which looks at all metrics that have a score."""
    evidence = [passage for one in capped for passage in one.draft.evidence]
    limits = safeguards.perfect_guard([one.score for one in capped], evidence)
    guarded: list[_Capped] = []
    for one in capped:
        score, caps = apply_limits(one.score, limits)
        guarded.append(replace(one, score=score, caps=(*one.caps, *caps)))
    return guarded


def _finish(capped: _Capped) -> MetricResult:
    draft = capped.draft
    lowering = [cap for cap in capped.caps if cap.lowered and cap.applies_to == "score"]
    capping = "".join(f" Capped at {cap.limit:g}: {cap.reason}" for cap in lowering)
    return MetricResult(
        draft.name,
        draft.status,
        score=float(half_up(capped.score, draft.digits)),
        confidence=None,
        reason=draft.reason + capping,
        evidence=draft.evidence,
        inputs={**draft.inputs, "uncapped_score": float(draft.raw)},
        caps=capped.caps,
    )


def _failed(name: MetricName, error: str) -> MetricResult:
    return MetricResult(name, MetricStatus.ERROR, None, None, f"Not scored: {error}.", (), {}, error=error)


def _to_object(metric: MetricResult, outcome: Draft | str) -> JsonObject:
    """Builds the metric's JSON object (seed 002)."""
    if isinstance(outcome, str):
        return {"error": outcome}
    score = metric.score
    caps: list[Json] = [{"name": cap.name, "limit": cap.limit, "applies_to": cap.applies_to} for cap in metric.caps]
    return {
        "metric": metric.name.value,
        **outcome.lists,
        **metric.inputs,
        "caps": caps,
        "reason": metric.reason,
        "overall_score": int(score) if score is not None and outcome.digits == 0 else score,
    }
