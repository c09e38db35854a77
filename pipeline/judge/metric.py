"""One metric's verdict, as every framework gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pipeline.text.passage import Passage

MAX_SCORE = 10.0
"""Scores are in [0, 10]; higher is better in every metric."""

Input = float | int | str | bool
"""A number, count or word that a formula reads."""


class MetricName(StrEnum):
    """The five metrics, in the strict order in which they are scored, reported and sent."""

    COVERAGE = "coverage"
    ALIGNMENT = "alignment"
    HALLUCINATION = "hallucination"
    RELEVANCE = "relevance"
    BIAS_TOXICITY = "bias_toxicity"


class MetricStatus(StrEnum):
    """Whether a score counts.

    SCORED: it does.
    NO_CLAIMS: the summary states nothing that could be checked; the score is the best by definition and says little.
    ABSTAINED: Ultra is not sure; the score is kept for the curious and left out of every mean.
    ERROR: there is no score.
    """

    SCORED = "scored"
    NO_CLAIMS = "no_claims"
    ABSTAINED = "abstained"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Cap:
    """A rule that limits a score, and whose condition holds.

    Attributes:
        name: which rule, snake_case, for example `extraneous_claim`.
        limit: highest value it allows, in [0, 10].
        reason: why it holds, one readable sentence.
        lowered: whether the value would have been higher without it; a rule may hold and change nothing.
        applies_to: what it limits: `score`, or an input that the score is computed from, for example `tox_score`.
    """

    name: str
    limit: float
    reason: str
    lowered: bool = True
    applies_to: str = "score"


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A score with everything it was computed from.

    Attributes:
        name: which metric.
        status: whether the score counts.
        score: in [0, 10], rounded once, at the end; None only with status ERROR. Never NaN.
        confidence: in [0, 1]; None for the two lock frameworks, which are rules and not estimates.
        reason: readable sentences that cite the evidence.
        evidence: places of source and summary that decided, most important first.
        inputs: every count and number of the formula, by name, so that the score can be recomputed by hand.
        caps: the limits whose conditions hold, in the order in which they were applied.
        error: why there is no score, snake_case word first; None unless status is ERROR.
    """

    name: MetricName
    status: MetricStatus
    score: float | None
    confidence: float | None
    reason: str
    evidence: tuple[Passage, ...]
    inputs: Mapping[str, Input]
    caps: tuple[Cap, ...] = ()
    error: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the score may enter a mean."""
        return self.status in (MetricStatus.SCORED, MetricStatus.NO_CLAIMS)
