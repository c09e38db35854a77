"""Exact arithmetic: rounding, means, and which spans are the same span."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.exact import (
    clip,
    duplicate_span_count,
    exact,
    half_up,
    harmonic_mean,
    intersection_over_union,
    mean,
)
from pipeline.reading.passage import TextSpan

FINITE = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [
        (14 * Fraction(3, 4), 0, 11),  # 10.5; round() would say 10
        (Fraction(5, 2), 0, 3),  # round() would say 2
        (Fraction(1, 2), 0, 1),
        (Fraction(49, 100), 0, 0),
        (exact(1.005), 2, Fraction(101, 100)),  # round(1.005, 2) is 1.0
        (exact(2.675), 2, Fraction(268, 100)),  # round(2.675, 2) is 2.67
        (Fraction(20, 3), 2, Fraction(667, 100)),
        (Fraction(9995, 1000), 2, 10),
        (Fraction(10), 2, 10),
        (Fraction(0), 0, 0),
    ],
)
def test_halves_go_up_in_decimal(value: Fraction, digits: int, rounded: Fraction | int) -> None:
    assert half_up(value, digits) == rounded


@given(FINITE, st.integers(0, 4))
def test_rounding_agrees_with_the_decimal_module(value: float, digits: int) -> None:
    expected = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    assert half_up(exact(value), digits) == Fraction(expected)


@given(FINITE)
def test_exact_is_the_number_as_written(value: float) -> None:
    assert exact(value) == Fraction(repr(value))
    assert float(exact(value)) == value


def test_sums_of_decimals_stay_in_their_band() -> None:
    assert exact(0.1) + exact(0.2) == exact(0.3)
    assert 0.1 + 0.2 != 0.3


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="Invalid literal"):
        exact(value)


@given(st.fractions())
def test_clipped_values_are_in_range(value: Fraction) -> None:
    clipped = clip(value, 0, 10)
    assert 0 <= clipped <= 10
    assert clipped == value or not 0 <= value <= 10


SHARE = st.fractions(min_value=0, max_value=1)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Fraction(1), Fraction(1), Fraction(1)),
        (Fraction(1, 2), Fraction(1), Fraction(2, 3)),
        (Fraction(3, 4), Fraction(1, 4), Fraction(3, 8)),
        (Fraction(0), Fraction(1), Fraction(0)),
        (Fraction(0), Fraction(0), Fraction(0)),
    ],
)
def test_harmonic_mean_by_hand(first: Fraction, second: Fraction, expected: Fraction) -> None:
    assert harmonic_mean(first, second) == expected


@given(SHARE, SHARE)
def test_harmonic_mean_is_symmetric_and_between_the_smaller_and_the_mean(first: Fraction, second: Fraction) -> None:
    value = harmonic_mean(first, second)
    assert value == harmonic_mean(second, first)
    assert min(first, second) * (value > 0) <= value <= mean([first, second])


def test_mean_is_exact() -> None:
    assert mean([Fraction(1), Fraction(1, 2), Fraction(0)]) == Fraction(1, 2)
    assert mean([Fraction(1, 10)] * 3) == Fraction(1, 10)  # 0.1 + 0.1 + 0.1 is more than 0.3 in binary


def span(start: int, end: int, text_id: str = "source") -> TextSpan:
    return TextSpan(text_id, start, end, "x" * (end - start), "x" * (end - start))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (span(0, 10), span(0, 10), Fraction(1)),
        (span(0, 10), span(5, 15), Fraction(1, 3)),
        (span(0, 10), span(0, 5), Fraction(1, 2)),
        (span(0, 10), span(10, 20), Fraction(0)),
        (span(0, 10), span(0, 10, "summary"), Fraction(0)),
        (span(0, 0), span(0, 0), Fraction(0)),
    ],
)
def test_intersection_over_union_by_hand(first: TextSpan, second: TextSpan, expected: Fraction) -> None:
    assert intersection_over_union(first, second) == intersection_over_union(second, first) == expected


def test_spans_are_duplicates_from_one_half_on() -> None:
    assert duplicate_span_count([span(0, 10), span(0, 5)]) == 1  # exactly one half
    assert duplicate_span_count([span(0, 100), span(0, 49)]) == 0
    assert duplicate_span_count([span(0, 10), span(0, 10), span(0, 10)]) == 2
    assert duplicate_span_count([]) == 0


def test_a_span_is_compared_with_those_that_are_no_duplicates() -> None:
    assert duplicate_span_count([span(0, 10), span(4, 14), span(2, 12)]) == 1
    assert duplicate_span_count([span(0, 10), span(3, 13), span(6, 16)]) == 1
