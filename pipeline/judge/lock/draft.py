"""A metric's score before the caps that need to know the others."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from pipeline.judge.framework import JsonObject
from pipeline.judge.metric import Cap, Input, MetricName, MetricStatus
from pipeline.text.passage import Passage


@dataclass(frozen=True, slots=True)
class Limit:
    """A cap whose condition holds: highest score in [0, 10], and why, in one sentence."""

    name: str
    highest: int
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
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
    evidence: tuple[Passage, ...]
    inputs: Mapping[str, Input]
    lists: JsonObject
    limits: tuple[Limit, ...] = ()
    part_caps: tuple[Cap, ...] = ()
    status: MetricStatus = MetricStatus.SCORED
    digits: int = 2
