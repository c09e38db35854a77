"""From five formulas to a framework's result: caps in their order, one rounding, errors kept to their metric.

Order (README, Caps): raw -> the metric's own caps -> global caps -> severe -> perfect guard -> round once.

Judge-Lock: five metrics by rules and questions (README, Judge-Lock). A pure function of the table.

Who wrote the questions and answers, a language model or masked spans, is the table's matter; every metric that reads
them names the author.

Twin-Lock: five metrics by rules alone (README, Twin-Lock). A pure function of the evidence table.

The caps that look at more than one metric: global, severe, perfect guard (README, Caps).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import isfinite

from pipeline.judge.citation import count
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.exact import distinct_spans, half_up
from pipeline.judge.locks.alignment import score_alignment
from pipeline.judge.locks.bias_toxicity import score_bias_toxicity
from pipeline.judge.locks.caps import MetricLimit, RawScore, apply_limits
from pipeline.judge.locks.claims import ClaimCounts, HallucinationSeverity
from pipeline.judge.locks.config import LockConfig
from pipeline.judge.locks.coverage import score_judge_coverage, score_twin_coverage
from pipeline.judge.locks.hallucination import score_judge_hallucination, score_twin_hallucination
from pipeline.judge.locks.relevance import score_judge_relevance, score_twin_relevance
from pipeline.judge.result import (
    MAX_SCORE,
    Cap,
    Framework,
    FrameworkResult,
    Json,
    JsonObject,
    MetricError,
    MetricName,
    MetricResult,
    MetricStatus,
)
from pipeline.text.passage import TextSpan

UNSUPPORTED_LIMIT = 4


def score_twin_lock(table: EvidenceTable, config: LockConfig) -> FrameworkResult:
    """Scores all five metrics. One that fails is an error; the rest are scored."""
    formulas: dict[MetricName, Formula] = {
        MetricName.COVERAGE: score_twin_coverage,
        MetricName.ALIGNMENT: score_alignment,
        MetricName.HALLUCINATION: score_twin_hallucination,
        MetricName.RELEVANCE: partial(score_twin_relevance, mode=config.relevance_mode),
        MetricName.BIAS_TOXICITY: score_bias_toxicity,
    }
    safeguards = Safeguards(UNSUPPORTED_LIMIT, config.twin_safeguards, config.twin_safeguards)
    return score_framework(table, Framework.TWIN_LOCK, formulas, safeguards)


SEVERE_ALIGNMENT_LIMIT = 3
PERFECT_FROM = Fraction(19, 2)
PERFECT_LIMIT = 9
MIN_DISTINCT_SPANS = 5


@dataclass(frozen=True, slots=True)
class Safeguards:
    """Which caps a framework has.

    Attributes:
        unsupported_limit: highest Coverage and Relevance while there is an unsupported claim.
        caps_severe: whether severe hallucination limits Alignment.
        guards_perfection: whether near-perfect scores need distinct evidence.
    """

    unsupported_limit: int
    caps_severe: bool
    guards_perfection: bool

    def limits(self, name: MetricName, counts: ClaimCounts) -> tuple[MetricLimit, ...]:
        """Returns the global caps of one metric, then the severe one."""
        if name in (MetricName.COVERAGE, MetricName.RELEVANCE) and counts.unsupported:
            reason = f"The summary makes {count(counts.unsupported, 'claim')} that the source does not support."
            return (MetricLimit("hallucination", self.unsupported_limit, reason),)
        is_severe = counts.severity is HallucinationSeverity.SEVERE
        if name is MetricName.ALIGNMENT and self.caps_severe and is_severe:
            reason = f"Hallucination is severe: u = {float(counts.unsupported_fraction):.2f} is at least 0.5."
            return (MetricLimit("severe_hallucination", SEVERE_ALIGNMENT_LIMIT, reason),)
        return ()

    def perfect_guard(self, scores: Sequence[Fraction], evidence: Iterable[TextSpan]) -> tuple[MetricLimit, ...]:
        """Returns the limit of all metrics when all scores are near-perfect on too little evidence.

        Args:
            scores: after all other caps, before rounding.
            evidence: of all metrics; only distinct places of the source count.
        """
        if not self.guards_perfection or not scores or min(scores) < PERFECT_FROM:
            return ()
        found = len(distinct_spans(passage for passage in evidence if passage.text_id == "source"))
        if found >= MIN_DISTINCT_SPANS:
            return ()
        reason = f"All scores are at least 9.5, on {count(found, 'distinct place')} of the source: fewer than 5."
        return (MetricLimit("perfect_guard", PERFECT_LIMIT, reason),)


logger = logging.getLogger(__name__)

Formula = Callable[[EvidenceTable], RawScore]


@dataclass(frozen=True, slots=True)
class _Capped:
    """A draft under way: its score so far, in [0, 10], and the caps that made it."""

    draft: RawScore
    score: Fraction
    caps: tuple[Cap, ...]


def score_framework(
    table: EvidenceTable, framework: Framework, formulas: Mapping[MetricName, Formula], safeguards: Safeguards
) -> FrameworkResult:
    """Scores all five metrics. One that fails or is missing becomes an error; the rest are scored."""
    counts = ClaimCounts.of(table.claims)
    outcomes = {name: _draft(table, name, formulas) for name in MetricName}
    capped = [_cap(draft, safeguards, counts) for draft in outcomes.values() if isinstance(draft, RawScore)]
    finished = {one.draft.name: _finish(one) for one in _guard(capped, safeguards)}
    metrics = tuple(
        finished[name] if isinstance(outcome, RawScore) else _failed(name, outcome)
        for name, outcome in outcomes.items()
    )
    objects = {metric.name: _to_object(metric, outcomes[metric.name]) for metric in metrics}
    return FrameworkResult(framework, metrics, objects)


def _draft(table: EvidenceTable, name: MetricName, formulas: Mapping[MetricName, Formula]) -> RawScore | str:
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


def _check(draft: RawScore, name: MetricName) -> None:
    """Refuses what is no score, so that no NaN reaches a caller."""
    if draft.name is not name:
        raise MetricError(f"malformed_metric: {draft.name} in place of {name}")
    if not 0 <= draft.raw <= Fraction(MAX_SCORE):
        raise MetricError("malformed_metric: score out of range")
    if not all(isfinite(value) for value in draft.inputs.values() if isinstance(value, float)):
        raise MetricError("malformed_metric: an input is no number")


def _cap(draft: RawScore, safeguards: Safeguards, counts: ClaimCounts) -> _Capped:
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


def _to_object(metric: MetricResult, outcome: RawScore | str) -> JsonObject:
    """Builds the metric's JSON object (README, JSON objects)."""
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


SAFEGUARDS = Safeguards(unsupported_limit=3, caps_severe=True, guards_perfection=True)


def score_judge_lock(table: EvidenceTable, config: LockConfig) -> FrameworkResult:
    """Scores all five metrics. One that fails is an error; the rest are scored."""
    formulas: dict[MetricName, Formula] = {
        MetricName.COVERAGE: partial(score_judge_coverage, correct_questions_needed=config.correct_questions_needed),
        MetricName.ALIGNMENT: score_alignment,
        MetricName.HALLUCINATION: score_judge_hallucination,
        MetricName.RELEVANCE: partial(score_judge_relevance, mode=config.relevance_mode),
        MetricName.BIAS_TOXICITY: score_bias_toxicity,
    }
    return score_framework(table, Framework.JUDGE_LOCK, formulas, SAFEGUARDS)
