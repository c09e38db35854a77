"""Means of exact numbers."""

from collections.abc import Sequence
from fractions import Fraction


def mean(values: Sequence[Fraction]) -> Fraction:
    """Returns the arithmetic mean of at least one value."""
    return sum(values, Fraction(0)) / len(values)


def harmonic_mean(first: Fraction, second: Fraction) -> Fraction:
    """Returns 2ab / (a + b) of two values that are not negative; 0 if either is 0."""
    return 2 * first * second / (first + second) if first and second else Fraction(0)
