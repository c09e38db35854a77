"""Precision and hallucination count every claim and every unsupported word; ten claims are listed."""

from dataclasses import replace
from fractions import Fraction

import pytest

from pipeline.judge.locks.caps import JUDGE_LOCK, TWIN_LOCK, LockRules
from pipeline.judge.locks.hallucination import ClaimCounts
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import MetricName
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.tables import P, S, U, claims, segments, table

COVERAGE, HALLUCINATION, RELEVANCE = MetricName.COVERAGE, MetricName.HALLUCINATION, MetricName.RELEVANCE


@pytest.mark.parametrize(("extraneous", "capped"), [(0, False), (2, False), (3, True)])
def test_unsupported_words_of_partial_claims_lower_precision_below_its_floor(extraneous: int, *, capped: bool) -> None:
    """No claim is unsupported, so that the caps of 3 do not hide the rule."""
    *whole, partial = claims(S, S, S, P)
    made = (*whole, replace(partial, extraneous_token_count=extraneous))
    metric = score_lock(table(made_claims=made), JUDGE_LOCK)[COVERAGE]
    assert metric.inputs["precision"] == pytest.approx(1 - extraneous / 40)
    assert (metric.inputs["extraneous_tokens"], metric.inputs["total_summary_tokens"]) == (extraneous, 40)
    assert [cap.name for cap in metric.caps] == ["low_precision"] * capped


def test_all_claims_count_and_the_worst_ten_are_listed() -> None:
    labels = [S] * 30 + [P] + [S] * 200 + [U] + [S] * 9
    result = score_lock(table(made_claims=claims(*labels)), JUDGE_LOCK)
    coverage, hallucination = result[COVERAGE], result[HALLUCINATION]
    assert hallucination.inputs["unsupported_fraction"] == float(Fraction(3, 2 * 241))
    names = ("total_claims", "checked_claims", "listed_claims", "unsupported", "partial")
    assert [hallucination.inputs[name] for name in names] == [241, 241, 10, 1, 1]
    assert (coverage.inputs["precision"], coverage.score) == (float(1 - Fraction(1, 241)), 3)
    listed = result.objects[HALLUCINATION]["claims"]
    assert isinstance(listed, list)
    worst = [claim["claim"] for claim in listed if isinstance(claim, dict)]
    assert worst == [f"claim {index}" for index in (231, 30, *range(8))]
    assert sum(place.text.startswith("claim") for place in hallucination.evidence) == 10


def test_claims_that_a_bound_left_out_are_part_of_the_total() -> None:
    result = score_lock(replace(table(made_claims=claims(S, P)), omitted_claim_count=5), JUDGE_LOCK)
    inputs = result[HALLUCINATION].inputs
    assert (inputs["total_claims"], inputs["checked_claims"], inputs["unsupported_fraction"]) == (7, 2, 0.25)


@pytest.mark.parametrize("rules", [TWIN_LOCK, JUDGE_LOCK])
@pytest.mark.parametrize("times", [0, 1, 36])
def test_a_truth_that_is_said_again_counts_once_and_the_inputs_tell(rules: LockRules, times: int) -> None:
    """What was wrong before stays as wrong, however much is said beside it."""
    again = [replace(claim, may_raise=False) for claim in claims(*[S] * times)]
    parts = [replace(segment, may_raise=False) for segment in segments(*[1.0] * times)]
    made = table(made_claims=(*claims(S, S, P, U), *again), made_segments=(*segments(0.5, 1.0), *parts))
    result = score_lock(made, rules)
    hallucination, coverage, relevance = (result[name].inputs for name in (HALLUCINATION, COVERAGE, RELEVANCE))
    names = ("supported", "raising_supported", "raising_partial", "raising_unsupported", "unsupported_fraction")
    assert [hallucination[name] for name in names] == [2 + times, 2, 1, 1, 1.5 / 4]
    assert (coverage["total_summary_tokens"], coverage["precision"]) == (40, 1 - 10 / 40)
    assert (relevance["high"], relevance["raising_high"], relevance["raising_some"]) == (1 + times, 1, 1)
    assert relevance["section_overlap"] == float((1 + rules.some_overlap) / 2)


@pytest.mark.parametrize("label", [S, P, U])
@pytest.mark.parametrize("others", [(S,), (S, S, S), (P,), (U,), (U, S), (U, U, P)])
def test_nothing_that_is_said_again_lowers_the_unsupported_fraction(
    label: ClaimLabel, others: tuple[ClaimLabel, ...]
) -> None:
    made = claims(*others, label)
    again = tuple(replace(claim, may_raise=False) for claim in claims(*[label] * 4))
    once, often = ClaimCounts.of(made), ClaimCounts.of((*made, *again))
    assert often.unsupported_fraction >= once.unsupported_fraction
    assert often.unsupported == once.unsupported + 4 * (label is U)
