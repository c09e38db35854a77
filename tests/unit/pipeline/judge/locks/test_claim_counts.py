"""Precision and hallucination count every claim and every unsupported word; ten claims are listed."""

from dataclasses import replace
from fractions import Fraction

import pytest

from pipeline.judge.locks.caps import JUDGE_LOCK
from pipeline.judge.locks.score import score_lock
from pipeline.judge.result import MetricName
from tests.unit.pipeline.judge.tables import P, S, U, claims, table

COVERAGE, HALLUCINATION = MetricName.COVERAGE, MetricName.HALLUCINATION


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
    assert [claim["claim"] for claim in listed if isinstance(claim, dict)] == [
        "claim 231",
        "claim 30",
        *(f"claim {index}" for index in range(8)),
    ]
    assert sum(place.text.startswith("claim") for place in hallucination.evidence) == 10


def test_claims_that_a_bound_left_out_are_part_of_the_total() -> None:
    result = score_lock(replace(table(made_claims=claims(S, P)), omitted_claim_count=5), JUDGE_LOCK)
    inputs = result[HALLUCINATION].inputs
    assert (inputs["total_claims"], inputs["checked_claims"], inputs["unsupported_fraction"]) == (7, 2, 0.25)
