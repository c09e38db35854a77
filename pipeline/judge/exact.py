"""Exact arithmetic: fractions, means, rounding half up, caps, and intersection over union of two places in a text.

A score is a fraction until it is rounded, once. As binary floats 14 x 0.75 = 10.5 would become 10 (half to even) and
0.4 would be 0.40000000000000002, which is in another band. `exact` reads a float as the decimal that it prints as.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from pipeline.judge.evidence.table import Claim, SummarySegment
from pipeline.judge.result import Cap
from pipeline.reading.passage import TextSpan

Number = TypeVar("Number", float, Fraction)


def mean(values: Sequence[Fraction]) -> Fraction:
    """Returns the arithmetic mean of at least one value."""
    return sum(values, Fraction(0)) / len(values)


def guarded_mean(
    values: Sequence[Number], told: Sequence[Claim | SummarySegment], weights: Sequence[Number] | None = None
) -> Number:
    """Returns the mean, if need be weighted, that only some values may raise: those of what may raise a score.

    Let m be the mean of those that may raise. Any other value weighs nothing from m on, in full at 0, and in proportion
    between. When none may raise, the least value stands for all.

    Values, of which there is one at least, and weights are not negative.
    """
    weights = weights or [type(values[0])(1)] * len(values)
    raising = [at for at, one in enumerate(told) if one.may_raise]
    if not raising:
        return min(values)
    total = sum((weights[at] for at in raising), type(values[0])(0))
    if not total:
        return sum((values[at] for at in raising), type(values[0])(0)) / len(raising)
    middle = sum((values[at] * weights[at] for at in raising), type(values[0])(0)) / total
    if not middle:
        return middle
    short = (
        weight * max(middle - value, type(middle)(0)) / middle
        for value, weight, one in zip(values, weights, told, strict=True)
        if not one.may_raise
    )
    return middle * total / (total + sum(short, type(middle)(0)))


def harmonic_mean(first: Fraction, second: Fraction) -> Fraction:
    """Returns 2ab / (a + b) of two values that are not negative; 0 if either is 0."""
    return 2 * first * second / (first + second) if first and second else Fraction(0)


HALF = Fraction(1, 2)


def exact(value: float) -> Fraction:
    """Returns the decimal number that a float is written as: 0.4 is 2/5. Raises ValueError: for NaN and infinity."""
    return Fraction(repr(float(value)))


def half_up(value: Fraction, digits: int = 0) -> Fraction:
    """Rounds what is not negative to a number of decimals; what lies exactly between two goes up."""
    scale = 10**digits
    return Fraction((value * scale + HALF).__floor__(), scale)


def clip(value: Fraction, lowest: int, highest: int) -> Fraction:
    """Returns the nearest value in [lowest, highest]."""
    return min(max(value, Fraction(lowest)), Fraction(highest))


def apply_caps(value: Fraction, caps: Iterable[Cap]) -> tuple[Fraction, tuple[Cap, ...]]:
    """Returns the value under all caps, and the caps in their order, each with whether it lowered the value."""
    applied: list[Cap] = []
    for cap in caps:
        limit = exact(cap.limit)
        applied.append(replace(cap, lowered=value > limit))
        value = min(value, limit)
    return value, tuple(applied)


SAME_SPAN_IOU = Fraction(1, 2)
"""Intersection over union from which two spans are duplicates."""


def intersection_over_union(first: TextSpan, second: TextSpan) -> Fraction:
    """Returns shared characters / characters of either; 0 for passages of different texts."""
    shared = min(first.end, second.end) - max(first.start, second.start)
    if shared <= 0 or first.text_id != second.text_id:
        return Fraction(0)
    return Fraction(shared, first.end - first.start + second.end - second.start - shared)


def duplicate_span_count(passages: Iterable[TextSpan]) -> int:
    """Counts the passages, a handful, that are duplicates of an earlier one which is none itself."""
    kept: list[TextSpan] = []
    duplicates = 0
    for passage in passages:
        if any(intersection_over_union(passage, other) >= SAME_SPAN_IOU for other in kept):
            duplicates += 1
        else:
            kept.append(passage)
    return duplicates
