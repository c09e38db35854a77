"""Fuses the scores of tools with a language model's probabilities of quality levels (docs/concepts/ultra.md).

Tools score from 1 to 5, a model gives each of the five levels a probability. The tools' mean turns into Gaussian
weights alpha around it; the fused score is the mean level under alpha times the probabilities. Everything here is plain
arithmetic on a handful of numbers: no models, no input or output, the same result for the same numbers. How far tools
and model agree is the confidence in what they are fused to.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from pipeline.errors import InvalidInputError, PipelineError
from pipeline.reading.passage import TextSpan

LOWEST, HIGHEST = 1.0, 5.0
SMOOTHING = 0.05
"""Share of a uniform distribution that `smooth` mixes in: .95 p + .01."""

CLASSIFIED = 0.8
"""Probability of the level that a model named, when it gave nothing but its name."""

_VAGUENESS = 8  # power of the relative entropy: .03 for seven tenths on one level, .5 for an entropy of .92
_LARGEST_EXPONENT = 700.0  # exp() of more is no float


class Level(IntEnum):
    """A quality level. Its value is its place on the scale of the scores."""

    BAD = 1
    POOR = 2
    FAIR = 3
    GOOD = 4
    EXCELLENT = 5

    @property
    def letter(self) -> str:
        """The letter that stands for it in answers: A is the best, E the worst."""
        return "EDCBA"[self - 1]


LEVELS = tuple(Level)
Distribution = tuple[float, ...]
"""A number for each of the five levels, worst (1, E) first; they sum to 1."""

UNIFORM: Distribution = (0.2, 0.2, 0.2, 0.2, 0.2)


class FusionForm(StrEnum):
    """How alpha and p become a score."""

    NORMALIZED = "normalized"  # sum(alpha p c) / sum(alpha p), within [1, 5]
    PAPER_RAW = "paper_raw"  # sum(alpha p c), as AgenticIQA prints it, p as given: perfect agreement at 5 gives 3.61


class NothingToFuseError(PipelineError):
    """There is neither a score of a tool nor a level probability; more evidence has to be gathered."""


@dataclass(frozen=True, slots=True)
class LogisticMapping:
    """Brings a tool's own scale to that of the levels: the five-parameter logistic of Sheikh et al. 2006.

    b1 (1/2 - 1 / (1 + exp(b2 (x - b3)))) + b4 x + b5, clipped to [1, 5].
    """

    b1: float
    b2: float
    b3: float
    b4: float
    b5: float

    def __call__(self, value: float) -> float:
        """Returns the score in [1, 5]; NaN stays NaN."""
        if math.isnan(value):
            return value
        exponent = min(max(self.b2 * (value - self.b3), -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
        mapped = self.b1 * (0.5 - 1 / (1 + math.exp(exponent))) + self.b4 * value + self.b5
        return min(max(mapped, LOWEST), HIGHEST)


class LevelSource(StrEnum):
    """What level probabilities were made from, the most telling first."""

    LOGITS = "log_probabilities"  # of the letters, two orders averaged
    SAMPLES = "samples"  # several answers
    CLASSIFICATION = "classification"  # one answer
    UNIFORM = "none"  # no model: the tools alone


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool's opinion of one metric."""

    name: str  # snake_case, for example `claim_support`; a caller's own tool keeps its name
    score: float  # in [1, 5]
    weight: float = 1.0  # in the mean of the tools, not negative; one of weight 0 is shown and says nothing


@dataclass(frozen=True, slots=True)
class LevelReading:
    """A grade by the language model, with its evidence."""

    # of the levels, worst first, not smoothed; two orders of the letters averaged where there are two
    probabilities: Distribution
    source: LevelSource  # how they were obtained
    claimed_span_count: int  # quotes that the model gave
    evidence: tuple[TextSpan, ...]  # those of the quotes that stand in the source or the summary, as places there
    reason: str  # why, in the model's words; may be empty

    @property
    def verified_share(self) -> float:
        """Verified of claimed quotes, in [0, 1]; 1 when none was claimed."""
        return min(1.0, len(self.evidence) / self.claimed_span_count) if self.claimed_span_count else 1.0


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fused score and everything that it was computed from."""

    score: float  # in [1, 5], with `PAPER_RAW` in [0, 5]
    tool_mean: float | None  # mean of the tool scores; None without tools
    alpha: Distribution | None  # weights of the levels around `tool_mean`; None without tools
    probabilities: Distribution  # of the levels, smoothed where they silence the tools; UNIFORM where none were given
    # Bhattacharyya coefficient of alpha and probabilities, in [0, 1]; None unless there are both
    agreement: float | None
    form: FusionForm

    @property
    def level(self) -> Level:
        """The level of the score."""
        return level_of(self.score)


def fuse(
    tool_scores: Sequence[float],
    probabilities: Distribution | None = None,
    *,
    eta: float = 1.0,
    form: FusionForm = FusionForm.NORMALIZED,
    weights: Sequence[float] | None = None,
) -> Fusion:
    """Fuses tool scores with level probabilities.

    Without probabilities q is the mean of the tools, without tools the mean level. `NORMALIZED` raises probabilities
    that would silence the tools, and tends to the mean of the tools as they become equal. A small change of one is then
    a small change of q: with eta 1 at most 50 times as large. `PAPER_RAW` is the sum alone.

    Args:
        tool_scores: in [1, 5].
        probabilities: of the levels; None where a model gave none.
        eta: how fast weights fall with the squared distance from the mean, greater than 0.
        weights: of the tool scores in their mean, not negative; None: equal ones.

    Raises NothingToFuseError: neither tools nor probabilities.
    """
    shares = [1.0] * len(tool_scores) if weights is None else weights
    p = UNIFORM if probabilities is None else to_distribution(probabilities)
    if not any(shares):
        if probabilities is None:
            raise NothingToFuseError("neither tool scores nor level probabilities: gather more evidence")
        return Fusion(mean_level(p), None, None, p, None, form)
    q_bar = _clip(
        math.fsum(score * share for score, share in zip(tool_scores, shares, strict=True)) / math.fsum(shares)
    )
    alpha = perceptual_weights(q_bar, eta)
    if probabilities is None:
        return Fusion(q_bar, q_bar, alpha, p, None, form)
    if form is FusionForm.PAPER_RAW:
        q = math.fsum(a * b * level for a, b, level in zip(alpha, p, LEVELS, strict=True))
    else:
        p = audible(p, alpha)
        vagueness = relative_entropy_of(p) ** _VAGUENESS
        q = (1 - vagueness) * _normalized(q_bar, p, eta) + vagueness * q_bar
    return Fusion(q, q_bar, alpha, p, bhattacharyya(alpha, p), form)


def perceptual_weights(q_bar: float, eta: float = 1.0) -> Distribution:
    """Returns alpha: exp(-eta (q_bar - c)^2) for each level c, divided by their sum."""
    return _softmax([-eta * (q_bar - level) ** 2 for level in LEVELS])


def level_of(score: float) -> Level:
    """Returns the level of a score. The edges are 1.5, 2.5, 3.5 and 4.5; a score exactly on one has the lower level."""
    return next((level for level in LEVELS[:-1] if score <= level + 0.5), Level.EXCELLENT)


def parse_level(text: str, field: str = "level") -> Level:
    """Reads "A" or "Excellent", in any case. Raises InvalidInputError: unknown level."""
    word = text.strip().upper()
    for level in LEVELS:
        if word in {level.letter, level.name}:
            return level
    raise InvalidInputError(field, "A to E, or Excellent, Good, Fair, Poor, Bad", f"{len(text)} other characters")


def from_log_probabilities(log_probabilities: Mapping[Level, float], field: str = "log_probabilities") -> Distribution:
    """Returns the softmax over the levels that are named; a level that is not has probability 0.

    Raises InvalidInputError: none is named, or a value is no number; minus infinity is one.
    """
    values = [log_probabilities.get(level, -math.inf) for level in LEVELS]
    if any(math.isnan(value) or value == math.inf for value in values) or max(values) == -math.inf:
        raise InvalidInputError(field, "a log-probability for at least one level", "none that is finite")
    return _softmax(values)


def from_classification(level: Level) -> Distribution:
    """Returns .8 for the level that a model named and .05 for each other."""
    rest = (1 - CLASSIFIED) / (len(LEVELS) - 1)
    return tuple(CLASSIFIED if other is level else rest for other in LEVELS)


def from_samples(levels: Sequence[Level]) -> Distribution:
    """Returns (n + .5) / (k + 2.5): k answers, n of them this level, and half an answer more for each level."""
    return tuple((levels.count(level) + 0.5) / (len(levels) + 2.5) for level in LEVELS)


def smooth(probabilities: Distribution) -> Distribution:
    """Mixes in a share (`SMOOTHING`) of the uniform distribution, so that no level is impossible."""
    return tuple((1 - SMOOTHING) * p + SMOOTHING / len(LEVELS) for p in probabilities)


def audible(probabilities: Distribution, alpha: Distribution) -> Distribution:
    """Raises probabilities that would silence the tools: to .01 where they leave the tools' levels nothing.

    With sum(alpha p) at a fifth, what chance gives, or above, nothing is raised; below, in proportion to what is
    missing. Smoothed probabilities stay as they are.
    """
    overlap = len(LEVELS) * math.fsum(a * p for a, p in zip(alpha, probabilities, strict=True))
    least = SMOOTHING / len(LEVELS) * max(0.0, 1 - overlap)
    if min(probabilities) >= least:
        return probabilities
    raised = [max(p, least) for p in probabilities]
    return tuple(p / math.fsum(raised) for p in raised)


def mean_of_distributions(distributions: Sequence[Distribution]) -> Distribution:
    """Returns the mean, for example of two orders of the letters; there is at least one."""
    return tuple(math.fsum(column) / len(distributions) for column in zip(*distributions, strict=True))


def to_distribution(shares: Sequence[float]) -> Distribution:
    """Returns shares of the levels that sum to 1 to the last bit; what is given does but for rounding."""
    total = math.fsum(shares)
    return tuple(share / total for share in shares)


def mean_level(probabilities: Distribution) -> float:
    """Returns the expected level, in [1, 5]."""
    return _clip(math.fsum(p * level for p, level in zip(probabilities, LEVELS, strict=True)))


def bhattacharyya(first: Distribution, second: Distribution) -> float:
    """Returns how far two distributions overlap: sum of sqrt(a b), 1 for equal ones, 0 for disjoint ones."""
    return min(1.0, math.fsum(math.sqrt(a * b) for a, b in zip(first, second, strict=True)))


def relative_entropy_of(probabilities: Distribution) -> float:
    """Returns the entropy as a share of the largest possible one, ln 5: 0 for one certain level, 1 for UNIFORM."""
    return min(1.0, max(0.0, -math.fsum(p * math.log(p) for p in probabilities if p > 0) / math.log(len(LEVELS))))


def _normalized(q_bar: float, p: Distribution, eta: float) -> float:
    # In logarithms: where p leaves only levels far from q_bar, alpha would underflow to 0/0.
    logs = [
        math.log(b) - eta * (q_bar - level) ** 2 if b > 0 else -math.inf for b, level in zip(p, LEVELS, strict=True)
    ]
    return mean_level(_softmax(logs))


def _softmax(values: Sequence[float]) -> Distribution:
    highest = max(values)
    weights = [math.exp(value - highest) for value in values]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def _clip(score: float) -> float:
    """Keeps rounding from leaving the scale."""
    return min(max(score, LOWEST), HIGHEST)


_ENTROPY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """The confidence in a score, and what it is made of."""

    coefficient: float  # BC, overlap of the tools' weights alpha with the opinions p, in [0, 1]
    relative_entropy: float  # of p, as a share of ln 5
    verified_share: float  # of the spans that were claimed, those that were found in the texts
    certainty: float  # of the evidence itself, in [0, 1]
    confidence: float  # sqrt(BC) (1 - .5 H(p) / ln 5) verified_share certainty, in [0, 1]


def assess_agreement(
    fusion: Fusion, opinions: Distribution, *, verified_share: float, certainty: float
) -> ScoreAgreement:
    """Compares what at least one tool says on average with all opinions, the model's or else the tools' own."""
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
    return to_distribution(
        [math.fsum(weight * shares[place] for weight, shares in split) for place in range(len(LEVELS))]
    )


def _split(score: float) -> Distribution:
    """Returns the distribution on two neighbouring levels whose mean is the score."""
    return to_distribution([max(0.0, 1 - abs(score - level)) for level in LEVELS])
