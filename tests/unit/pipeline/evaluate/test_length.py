from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.components import score_length
from pipeline.evaluate.result import LengthResult
from pipeline.reading.compression import get_target_summary_length


def score(generated: int, source: int) -> LengthResult:
    return score_length(generated, source, declared_input_tokens=7, tokenizer_name="words")


@pytest.mark.parametrize(
    ("input_tokens", "target"),
    [
        (0, 300),
        (500, 300),
        (2_000, 300),
        (2_001, 400),
        (4_500, 450),
        (9_999, 999),
        (10_000, 1_000),
        (10_001, 1_000),
        (15_000, 1_000),
        (30_000, 1_500),
        (40_000, 2_000),
        (40_001, 2_500),
        (100_000, 2_500),
    ],
)
def test_the_schedule_is_that_of_the_readme(input_tokens: int, target: int) -> None:
    assert get_target_summary_length(input_tokens) == target


def test_ten_percent_off_costs_less_than_a_tenth() -> None:
    result = score(440, 4_000)
    assert [result.target_tokens, result.deviation] == pytest.approx([400, 0.1])
    assert result.score == pytest.approx(1 - log(1.1))
    assert 1 - result.score == pytest.approx(0.0953, abs=1e-4)


def test_the_target_is_met_exactly() -> None:
    assert score(400, 4_000).score == 1


def test_missing_the_target_by_more_than_e_minus_one_times_scores_nothing() -> None:
    assert score(1_088, 4_000).score == 0
    assert score(1_087, 4_000).score > 0


def test_a_source_shorter_than_its_target_lowers_the_target() -> None:
    result = score(100, 100)
    assert (result.schedule_tokens, result.target_tokens, result.target_lowered_to_input) == (300, 100, True)
    assert result.score == 1
    assert not score(300, 300).target_lowered_to_input


def test_the_declared_count_is_reported_and_not_used() -> None:
    assert score(300, 1_000).declared_input_tokens == 7
    assert score(300, 1_000).input_tokens == 1_000


@given(st.integers(0, 10_000), st.integers(0, 200_000))
def test_the_score_falls_with_distance_and_stays_in_range(generated: int, source: int) -> None:
    result = score(generated, source)
    away = generated + 1 if generated >= result.target_tokens else max(generated - 1, 0)
    assert 0 <= score(away, source).score <= result.score <= 1
