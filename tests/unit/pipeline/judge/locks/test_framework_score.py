"""What becomes of formulas that fail, and in which order caps are applied."""

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK, LockRules, RawScore
from pipeline.judge.locks.score import Formula, score_lock
from pipeline.judge.result import Cap, FrameworkResult, MetricName, MetricStatus
from tests.unit.pipeline.judge.tables import (
    FULLY,
    NOT,
    S,
    U,
    claims,
    drifting,
    key_points,
    place,
    questions,
    segments,
    table,
)

COVERAGE, ALIGNMENT, HALLUCINATION, RELEVANCE, BIAS = MetricName
WORDS = "the caller's own words"


def draft(name: MetricName, raw: Fraction | int = 10, **changes: object) -> RawScore:
    return replace(RawScore(name, Fraction(raw), "Reason.", (), {}, {}), **changes)  # type: ignore[arg-type]


def drafting(name: MetricName, raw: Fraction | int = 10, **changes: object) -> Formula:
    return lambda _, __: draft(name, raw, **changes)


def scored(
    changes: Mapping[MetricName, Formula], made: EvidenceTable | None = None, *, raw: int = 10
) -> FrameworkResult:
    """Scores with formulas that give `raw`, except for those that are changed."""
    formulas = {name: drafting(name, raw) for name in MetricName}
    return score_lock(made or table(), JUDGE_LOCK, {**formulas, **changes})


def failing(error: Exception) -> Formula:
    def fail(_: EvidenceTable, __: LockRules) -> RawScore:
        raise error

    return fail


@pytest.mark.parametrize("cause", [KeyError(WORDS), ZeroDivisionError()])
def test_a_metric_that_fails_is_an_error_of_its_own(cause: Exception) -> None:
    result = scored({RELEVANCE: failing(cause)}, raw=8)
    failed, error = result[RELEVANCE], f"malformed_metric: {type(cause).__name__}"
    assert (failed.status, failed.score, failed.error, failed.caps) == (MetricStatus.ERROR, None, error, ())
    assert result.objects[RELEVANCE] == {"error": error}
    others = [metric for metric in result.metrics if metric.name is not RELEVANCE]
    assert [(metric.status, metric.score) for metric in others] == [(MetricStatus.SCORED, 8)] * 4
    assert result.mean_score == 8
    assert [metric.name for metric in result.metrics] == list(MetricName) == list(result.objects)


def test_a_table_with_a_broken_number_costs_the_metrics_that_read_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        result = score_lock(table(tone=drifting(float("nan"))), TWIN_LOCK)
    statuses = [metric.status for metric in result.metrics]
    assert statuses == [MetricStatus.SCORED, MetricStatus.ERROR] + [MetricStatus.SCORED] * 3
    assert "judge metric=alignment failed" in caplog.text


def test_a_source_without_statements_has_no_coverage_and_a_summary_without_words_no_relevance() -> None:
    result = score_lock(table(points=(), made_segments=(), made_claims=()), JUDGE_LOCK)
    assert (result[COVERAGE].error or "").startswith("no_key_points")
    assert (result[RELEVANCE].error or "").startswith("no_segments")
    assert result[HALLUCINATION].status is MetricStatus.NO_CLAIMS


def test_when_all_fail_there_is_no_mean() -> None:
    result = scored(dict.fromkeys(MetricName, failing(ZeroDivisionError())))
    assert result.mean_score is None
    assert {metric.status for metric in result.metrics} == {MetricStatus.ERROR}


def test_caps_are_applied_in_their_order() -> None:
    own = (Cap("own", 8, "Own."),)
    limited = {name: drafting(name, caps=own) for name in (COVERAGE, ALIGNMENT)}
    result = scored(limited, table(made_claims=claims(U)))
    for name, cap in ((COVERAGE, "hallucination"), (ALIGNMENT, "severe_hallucination")):
        found = [(cap.name, cap.limit, cap.lowered) for cap in result[name].caps]
        assert found == [("own", 8, True), (cap, 3, True)]
    assert (result[COVERAGE].score, result[ALIGNMENT].score, result[HALLUCINATION].score) == (3, 3, 10)


def test_the_guard_looks_at_scores_before_rounding_and_after_the_other_caps() -> None:
    thin = table(made_claims=claims(S), points=key_points(FULLY))
    below = scored({COVERAGE: drafting(COVERAGE, Fraction(9499, 1000))}, thin)  # 9.50 when rounded
    assert [metric.score for metric in below.metrics] == [9.5, 10, 10, 10, 10]
    at = scored({COVERAGE: drafting(COVERAGE, Fraction(19, 2))}, thin)
    assert [metric.score for metric in at.metrics] == [9] * 5
    capped = scored({COVERAGE: drafting(COVERAGE, caps=(Cap("own", 7, "Own."),))}, thin)
    assert [metric.score for metric in capped.metrics] == [7, 10, 10, 10, 10]


@pytest.mark.parametrize(("count", "score"), [(4, 9), (5, 10)])
def test_the_guard_counts_distinct_sentences_of_the_source(count: int, score: int) -> None:
    made = table(made_claims=(*claims(*[S] * count), *claims(S)), points=key_points(*[NOT] * 7))
    evidence = tuple(place("source", index, "a word") for index in range(9))
    result = scored({HALLUCINATION: drafting(HALLUCINATION, evidence=evidence)}, made)
    assert {metric.score for metric in result.metrics} == {score}


def test_scores_are_rounded_once_at_the_end() -> None:
    result = scored({COVERAGE: drafting(COVERAGE, Fraction(12345, 10_000)), ALIGNMENT: drafting(ALIGNMENT, 1)})
    assert result[COVERAGE].score == 1.23
    assert scored({COVERAGE: drafting(COVERAGE, Fraction(1005, 1000))})[COVERAGE].score == 1.01


def test_the_reason_names_the_caps_that_lowered_the_score() -> None:
    result = scored({COVERAGE: drafting(COVERAGE, caps=(Cap("a", 8, "One."), Cap("b", 9, "Two.")))})
    assert result[COVERAGE].reason == "Reason. Capped at 8: One."


LOCKS = pytest.mark.parametrize("rules", [TWIN_LOCK, JUDGE_LOCK])


@LOCKS
def test_the_objects_are_json_with_the_score_and_every_input(rules: LockRules) -> None:
    result = score_lock(table(made_claims=claims(S, U)), rules)
    for metric in result.metrics:
        read = json.loads(json.dumps(result.objects[metric.name], allow_nan=False))
        assert read["metric"] == metric.name.value
        assert read["overall_score"] == metric.score
        assert {name: read[name] for name in metric.inputs} == metric.inputs
        assert [cap["name"] for cap in read["caps"]] == [cap.name for cap in metric.caps]


@LOCKS
def test_reasons_are_sentences_that_cite_the_evidence(rules: LockRules) -> None:
    made = table(
        made_claims=claims(S, U),
        points=key_points(FULLY, FULLY, FULLY),
        made_segments=segments(1.0, 0.1),
        about_claims=questions(1, 0, side="summary"),
    )
    result = score_lock(made, rules)
    assert all(metric.reason.endswith(".") for metric in result.metrics)
    hallucination = result[HALLUCINATION].reason
    assert hallucination.startswith("The source supports 1 of 2 claims, 1 not at all (u = 0.50).")
    assert 'Unsupported: "claim 1" (summary 100-107). The source has "support 1" (source 100-109).' in hallucination
    assert '"segment 1" (summary 100-109)' in result[RELEVANCE].reason
