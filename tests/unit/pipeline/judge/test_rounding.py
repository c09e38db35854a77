"""Worked examples of rounding, and what holds for all numbers."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.exact import clip, exact, half_up

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


@pytest.mark.parametrize(("value", "error"), [(float("nan"), ValueError), (float("inf"), OverflowError)])
def test_what_is_no_number_is_refused(value: float, error: type[Exception]) -> None:
    with pytest.raises(error):
        exact(value)


@given(st.fractions())
def test_clipped_values_are_in_range(value: Fraction) -> None:
    clipped = clip(value, 0, 10)
    assert 0 <= clipped <= 10
    assert clipped == value or not 0 <= value <= 10
