"""Scores the five metrics of a lock: formulas, caps, one rounding. A pure function of the evidence table.

Order (docs/concepts/locks.md): raw score, own caps, the global cap, the severe cap, the perfect guard, rounding.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pipeline.judge.evidence.table import EvidenceTable, KeyPointCoverage
from pipeline.judge.exact import apply_caps, half_up
from pipeline.judge.locks.alignment import score_alignment, score_bias_toxicity
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.locks.coverage import score_coverage, score_relevance
from pipeline.judge.locks.hallucination import (
    SEVERE_FROM,
    ClaimCounts,
    HallucinationSeverity,
    QuestionScores,
    score_hallucination,
)
from pipeline.judge.result import Cap, FrameworkResult, MetricError, MetricName, MetricResult, count

logger = logging.getLogger(__name__)

Formula = Callable[[EvidenceTable, LockRules], RawScore]


FORMULAS: Mapping[MetricName, Formula] = {
    MetricName.COVERAGE: score_coverage,
    MetricName.ALIGNMENT: score_alignment,
    MetricName.HALLUCINATION: score_hallucination,
    MetricName.RELEVANCE: score_relevance,
    MetricName.BIAS_TOXICITY: score_bias_toxicity,
}


def score_lock(
    table: EvidenceTable, rules: LockRules, formulas: Mapping[MetricName, Formula] = FORMULAS
) -> FrameworkResult:
    """Scores all five metrics of a lock. One that fails becomes an error; the rest are scored."""
    outcomes = [_compute(table, rules, name, formulas[name]) for name in MetricName]
    guard = _perfect_guard(table, [outcome for outcome in outcomes if isinstance(outcome, RawScore)], rules)
    said = _raising_part(table)
    if said is not table and not guard:
        parts = [_compute(said, rules, name, formulas[name]) for name in _OF_STATEMENTS]
        guard = _perfect_guard(said, [part for part in parts if isinstance(part, RawScore)], rules)
    return FrameworkResult(rules.framework, tuple(_finish(outcome, guard) for outcome in outcomes))


_OF_STATEMENTS = (MetricName.COVERAGE, MetricName.HALLUCINATION, MetricName.RELEVANCE)


def _raising_part(table: EvidenceTable) -> EvidenceTable:
    """Returns the table without what may not raise a score: that must not lift the perfect guard."""
    claims = tuple(claim for claim in table.claims if claim.may_raise)
    segments = tuple(segment for segment in table.segments if segment.may_raise)
    is_all = len(claims) == len(table.claims) and len(segments) == len(table.segments)
    return table if is_all or not segments else replace(table, claims=claims, segments=segments)


def _compute(table: EvidenceTable, rules: LockRules, name: MetricName, formula: Formula) -> RawScore | MetricResult:
    """Returns what the formula comes to, with all caps but the guard; without a score, the metric that failed."""
    try:
        raw = formula(table, rules)
    except MetricError as error:
        return MetricResult.failed(name, str(error))
    except Exception as error:
        logger.exception("judge metric=%s failed", name)
        return MetricResult.failed(name, f"malformed_metric: {type(error).__name__}")
    claim_caps = _claim_caps(name, ClaimCounts.of(table.claims), rules)
    return replace(raw, caps=(*raw.caps, *claim_caps, *_duplicate_caps(name, table, rules)))


def _claim_caps(name: MetricName, counts: ClaimCounts, rules: LockRules) -> tuple[Cap, ...]:
    """Returns the global and the severe cap of one metric: those that the claims call for."""
    if name in (MetricName.COVERAGE, MetricName.RELEVANCE) and counts.unsupported:
        reason = f"The summary makes {count(counts.unsupported, 'claim')} that the source does not support."
        return cap_at(rules.unsupported_claim, "hallucination", reason)
    if name is MetricName.ALIGNMENT and counts.severity is HallucinationSeverity.SEVERE:
        u = float(counts.unsupported_fraction)
        reason = f"Hallucination is severe: u = {u:.2f} is at least {float(SEVERE_FROM):g}."
        return cap_at(rules.severe_alignment, "severe_hallucination", reason)
    return ()


def _duplicate_caps(name: MetricName, table: EvidenceTable, rules: LockRules) -> tuple[Cap, ...]:
    """Returns the global cap of the metrics that read questions or claims, when two questions have one answer span."""
    if name in (MetricName.ALIGNMENT, MetricName.BIAS_TOXICITY) or not rules.reads_questions:
        return ()
    asked = (table.coverage_questions, table.claim_questions)
    found = sum(QuestionScores.of(questions, table.question_author, rules).duplicates for questions in asked)
    if not found:
        return ()
    reason = f"{count(found, 'question')} with the answer span of an earlier one."
    return cap_at(rules.duplicate_spans, "duplicate_question_spans", reason)


def _perfect_guard(table: EvidenceTable, raws: Sequence[RawScore], rules: LockRules) -> tuple[Cap, ...]:
    """Returns the cap of all metrics when all are near-perfect on too few sentences of the source.

    Those count that a claim is compared with, or that are a key point which the summary tells.
    """
    near_perfect, needed = rules.perfect_score, rules.perfect_spans
    if near_perfect is None or needed is None or not raws or min(raw.capped for raw in raws) < near_perfect:
        return ()
    points = {*table.twin_key_points, *table.judge_key_points}
    told = {point.passage for point in points if point.coverage is not KeyPointCoverage.NOT}
    found = len(told | {claim.support for claim in table.claims if claim.support is not None})
    if found >= needed:
        return ()
    on = f"{count(found, 'sentence')} of the source: fewer than {needed}"
    return cap_at(rules.perfect_guard, "perfect_guard", f"All scores are at least {float(near_perfect):g}, on {on}.")


def _finish(outcome: RawScore | MetricResult, guard: Sequence[Cap]) -> MetricResult:
    """Applies the caps, and rounds once."""
    if isinstance(outcome, MetricResult):
        return outcome
    score, caps = apply_caps(outcome.raw, (*outcome.caps, *guard))
    lowering = "".join(f" Capped at {cap.limit:g}: {cap.reason}" for cap in caps if cap.lowered)
    return MetricResult(
        outcome.name,
        outcome.status,
        score=float(half_up(score, 2)),
        confidence=None,
        reason=outcome.reason + lowering,
        evidence=outcome.evidence,
        inputs={**outcome.inputs, "uncapped_score": float(outcome.raw)},
        caps=(*outcome.part_caps, *caps),
        lists=outcome.lists,
        is_whole=outcome.is_whole,
    )
