"""Applies limits to a value and remembers which of them held and which of them lowered it."""

from collections.abc import Iterable
from fractions import Fraction

from pipeline.judge.lock.draft import Limit
from pipeline.judge.metric import Cap


def apply_limits(
    value: Fraction, limits: Iterable[Limit], *, applies_to: str = "score"
) -> tuple[Fraction, tuple[Cap, ...]]:
    """Returns the value under all limits, and a cap for each, in the order of `limits`."""
    caps: list[Cap] = []
    for limit in limits:
        caps.append(Cap(limit.name, float(limit.highest), limit.reason, value > limit.highest, applies_to))
        value = min(value, Fraction(limit.highest))
    return value, tuple(caps)
