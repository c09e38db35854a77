"""Level probabilities of a language model, and their agreement with the tools."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.fusion import LEVELS, Distribution, Fusion, bhattacharyya, check_distribution, relative_entropy_of
from pipeline.judge.result import MetricName
from pipeline.reading.passage import TextSpan


class LevelSource(StrEnum):
    """What level probabilities were made from, the most telling first."""

    LOGITS = "log_probabilities"  # of the letters, two orders averaged
    SAMPLES = "samples"  # several answers
    CLASSIFICATION = "classification"  # one answer
    UNIFORM = "none"  # no model: the tools alone


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool's opinion of one metric.

    Attributes:
        name: snake_case, for example `claim_support`; a caller's own tool keeps its name.
        score: in [1, 5].
        weight: in the mean of the tools, not negative; one of weight 0 is shown and says nothing.
    """

    name: str
    score: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LevelTask:
    """What the language model grades."""

    metric: MetricName
    table: EvidenceTable


@dataclass(frozen=True, slots=True)
class LevelReading:
    """A grade by the language model, with its evidence.

    Attributes:
        probabilities: of the levels, worst first, not smoothed; two orders of the letters averaged where there are two.
        source: how they were obtained.
        claimed_span_count: quotes that the model gave.
        evidence: those of the quotes that stand in the source or the summary, as places there.
        reason: why, in the model's words; may be empty.
    """

    probabilities: Distribution
    source: LevelSource
    claimed_span_count: int
    evidence: tuple[TextSpan, ...]
    reason: str

    @property
    def verified_share(self) -> float:
        """Verified of claimed quotes, in [0, 1]; 1 when none was claimed."""
        return min(1.0, len(self.evidence) / self.claimed_span_count) if self.claimed_span_count else 1.0


class LevelJudge(Protocol):
    """A language model that grades one metric at a time on an anchored rubric."""

    async def read_level(self, task: LevelTask) -> LevelReading:
        """Returns level probabilities. Raises UnusableAnswerError: the tools then decide alone."""


_ENTROPY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """The confidence in a score, and what it is made of.

    Attributes:
        coefficient: BC, overlap of the tools' weights alpha with the opinions p, in [0, 1].
        relative_entropy: of p, as a share of ln 5.
        verified_share: of the spans that were claimed, those that were found in the texts.
        certainty: of the evidence itself, in [0, 1].
        confidence: sqrt(BC) (1 - .5 H(p) / ln 5) verified_share certainty, in [0, 1].
    """

    coefficient: float
    relative_entropy: float
    verified_share: float
    certainty: float
    confidence: float


def assess_agreement(
    fusion: Fusion, opinions: Distribution, *, verified_share: float, certainty: float
) -> ScoreAgreement:
    """Compares what the tools say on average with all opinions.

    Args:
        fusion: of a metric with at least one tool.
        opinions: smoothed level probabilities of the model; without a model those of `tool_opinions`.
        verified_share: in [0, 1].
        certainty: in [0, 1].
    """
    coefficient = bhattacharyya(fusion.alpha, opinions) if fusion.alpha is not None else 0.0
    entropy = relative_entropy_of(opinions)
    confidence = math.sqrt(coefficient) * (1 - _ENTROPY_WEIGHT * entropy) * verified_share * certainty
    return ScoreAgreement(coefficient, entropy, verified_share, certainty, confidence)


def tool_opinions(tools: Sequence[Tool]) -> Distribution:
    """Returns what the tools say as level probabilities: each gives its weight to the two levels around its score.

    Without a model this stands for its opinion: tools that contradict each other put nothing where their mean lies.
    """
    total = math.fsum(tool.weight for tool in tools)
    split = [(tool.weight / total, _split(tool.score)) for tool in tools]
    return check_distribution(
        [math.fsum(weight * shares[place] for weight, shares in split) for place in range(len(LEVELS))]
    )


def _split(score: float) -> Distribution:
    """Returns the distribution on two neighbouring levels whose mean is the score."""
    return check_distribution([max(0.0, 1 - abs(score - level)) for level in LEVELS])
