"""Scores are exact fractions until they are rounded once, half up, in decimal.

Binary floats round 14 x 0.75 = 10.5 to 10 (half to even) and hold 0.4 as 0.40000000000000002, so that a score would
leave its band. `exact` reads a float as the decimal number that it is written as, and fractions keep it.
"""

from fractions import Fraction

HALF = Fraction(1, 2)


def exact(value: float) -> Fraction:
    """Returns the decimal number that a float is written as: 0.4 is 2/5.

    Raises:
        ValueError: for NaN.
        OverflowError: for infinity.
    """
    if value in (float("inf"), float("-inf")):
        raise OverflowError("expected a finite number, got infinity")
    return Fraction(repr(float(value)))


def half_up(value: Fraction, digits: int = 0) -> Fraction:
    """Rounds to a number of decimals; what lies exactly between two goes up.

    Args:
        value: not negative.
        digits: decimals to keep.
    """
    scale = 10**digits
    return Fraction((value * scale + HALF).__floor__(), scale)


def clip(value: Fraction, lowest: int, highest: int) -> Fraction:
    """Returns the nearest value in [lowest, highest]."""
    return min(max(value, Fraction(lowest)), Fraction(highest))
