"""How far a metric's opinions agree, and how much confidence that leaves (SCORING, section 3, point 4)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.judge.arithmetic.spans import distinct_spans
from pipeline.judge.fusion import (
    LEVELS,
    Distribution,
    Fusion,
    bhattacharyya,
    check_distribution,
    relative_entropy_of,
)
from pipeline.judge.ultra.levels import Tool
from pipeline.text.passage import Passage

_ENTROPY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Agreement:
    """Why a score is to be believed, or not.

    Attributes:
        coefficient: BC, overlap of the tools' weights alpha with the opinions p, in [0, 1].
        relative_entropy: of p, as a share of ln 5.
        verified_share: of the spans that were claimed, those that were found in the texts.
        evidence_count: distinct places of evidence.
        confidence: sqrt(BC) (1 - .5 H(p) / ln 5) verified_share min(1, evidence_count / enough), in [0, 1].
    """

    coefficient: float
    relative_entropy: float
    verified_share: float
    evidence_count: int
    confidence: float


def assess_agreement(
    fusion: Fusion,
    opinions: Distribution,
    *,
    verified_share: float,
    evidence: Iterable[Passage],
    enough_evidence: int,
) -> Agreement:
    """Compares what the tools say on average with all opinions.

    Args:
        fusion: of a metric with at least one tool.
        opinions: smoothed level probabilities of the model; without a model those of `tool_opinions`.
        verified_share: in [0, 1].
        evidence: places that decided; those that are the same place count once.
        enough_evidence: places from which confidence is not reduced.
    """
    coefficient = bhattacharyya(fusion.alpha, opinions) if fusion.alpha is not None else 0.0
    entropy = relative_entropy_of(opinions)
    count = len(distinct_spans(evidence))
    confidence = (
        math.sqrt(coefficient) * (1 - _ENTROPY_WEIGHT * entropy) * verified_share * min(1.0, count / enough_evidence)
    )
    return Agreement(coefficient, entropy, verified_share, count, confidence)


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
