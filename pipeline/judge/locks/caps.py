"""Applies limits to a value and remembers which of them held and which of them lowered it.

A metric's score before the caps that need to know the others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from pipeline.judge.result import Cap, Input, JsonObject, MetricName, MetricStatus
from pipeline.text.passage import TextSpan


@dataclass(frozen=True, slots=True)
class MetricLimit:
    """A cap whose condition holds: highest score in [0, 10], and why, in one sentence."""

    name: str
    highest: int
    reason: str


@dataclass(frozen=True, slots=True)
class RawScore:
    """What a metric's formula gives.

    Attributes:
        name: which metric.
        raw: in [0, 10], not rounded.
        reason: readable sentences that cite the evidence.
        evidence: places that decided, most important first.
        inputs: of the formula, by the names that the JSON object has them under.
        lists: what else the JSON object shows: key points, claims, questions, segments.
        limits: the metric's own caps whose conditions hold.
        part_caps: caps already applied to inputs.
        status: SCORED or NO_CLAIMS.
        digits: decimals of the score.
    """

    name: MetricName
    raw: Fraction
    reason: str
    evidence: tuple[TextSpan, ...]
    inputs: Mapping[str, Input]
    lists: JsonObject
    limits: tuple[MetricLimit, ...] = ()
    part_caps: tuple[Cap, ...] = ()
    status: MetricStatus = MetricStatus.SCORED
    digits: int = 2


def apply_limits(
    value: Fraction, limits: Iterable[MetricLimit], *, applies_to: str = "score"
) -> tuple[Fraction, tuple[Cap, ...]]:
    """Returns the value under all limits, and a cap for each, in the order of `limits`."""
    caps: list[Cap] = []
    for limit in limits:
        caps.append(Cap(limit.name, float(limit.highest), limit.reason, value > limit.highest, applies_to))
        value = min(value, Fraction(limit.highest))
    return value, tuple(caps)
