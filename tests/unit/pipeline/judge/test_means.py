"""Means of exact numbers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.exact import harmonic_mean, mean

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
