"""What claims on development documents say of a model: accuracy by source, calibration, worth of its confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.agreement.measures import spearman
from scripts.claim_training.example import ENTAILMENT, Example

Float64 = NDArray[np.float64]
Bools = NDArray[np.bool_]

EVEN = 0.5
_BINS = 15
_FEWEST = 20  # of either kind, for a source to have a best threshold


@dataclass(frozen=True)
class Claims:
    """Claims with the probability that a model gives them.

    Attributes:
        examples: not edited, unless said otherwise.
        probabilities: shape (examples,), in [0, 1].
    """

    examples: Sequence[Example]
    probabilities: Float64

    @property
    def supported(self) -> Bools:
        """Whether each is supported, shape (examples,)."""
        return np.array([example.label == ENTAILMENT for example in self.examples])

    def of(self, chosen: Bools) -> "Claims":
        """Returns some of them."""
        return Claims([self.examples[at] for at in np.flatnonzero(chosen).tolist()], self.probabilities[chosen])

    def by_source(self) -> Mapping[str, "Claims"]:
        """Returns them by source, in alphabetical order."""
        sources = np.array([example.source for example in self.examples])
        return {str(source): self.of(sources == source) for source in np.unique(sources)}


def balanced_accuracy(claims: Claims, threshold: float = EVEN) -> float:
    """Returns the mean of the shares of supported and unsupported claims on their side; of one kind, its share."""
    right = (claims.probabilities > threshold) == claims.supported
    return float(np.mean([right[kind].mean() for kind in (claims.supported, ~claims.supported) if kind.any()]))


def threshold_gap(claims: Claims) -> float | None:
    """Returns how much the best threshold would gain over even odds; None for too few claims of either kind."""
    if min(claims.supported.sum(), (~claims.supported).sum()) < _FEWEST:
        return None
    thresholds = np.quantile(claims.probabilities, np.linspace(0, 1, 101))
    return max(balanced_accuracy(claims, float(at)) for at in thresholds) - balanced_accuracy(claims)


def expected_calibration_error(claims: Claims) -> float:
    """Returns the mean distance of probability and frequency over 15 bins of equal size (Guo et al. 2017)."""
    bins = np.array_split(np.argsort(claims.probabilities, kind="stable"), _BINS)
    supported = claims.supported.astype(np.float64)
    gaps = [abs(claims.probabilities[one].mean() - supported[one].mean()) * len(one) for one in bins if len(one)]
    return float(sum(gaps) / len(claims.examples))


def confident_half_gain(claims: Claims) -> float:
    """Returns by how much the accuracy of the more confident half exceeds that of the other."""
    confidence = np.abs(claims.probabilities - EVEN)
    right = (claims.probabilities > EVEN) == claims.supported
    ranked = right[np.argsort(-confidence, kind="stable")]
    half = len(ranked) // 2
    return float(ranked[:half].mean() - ranked[half:].mean())


def confidence_correlation(claims: Claims) -> float:
    """Returns Spearman's rank correlation of confidence and being right."""
    confidence = np.abs(claims.probabilities - EVEN)
    return spearman(confidence, ((claims.probabilities > EVEN) == claims.supported).astype(np.float64))


LENGTHS = {"under 200 words": (0, 200), "200 to 700": (200, 700), "over 700": (700, 10**9)}


def true_negative_rates(claims: Claims, words: Sequence[int]) -> Mapping[str, float]:
    """Returns the share of unsupported claims that are found out, by the length of the document in words."""
    lengths, found = np.array(words), claims.probabilities <= EVEN
    masks = {name: ~claims.supported & (lengths >= least) & (lengths < most) for name, (least, most) in LENGTHS.items()}
    return {name: float(found[mask].mean()) for name, mask in masks.items() if mask.any()}


@dataclass(frozen=True)
class Marked:
    """Tokens of claims whose unsupported words people or edits have marked.

    Attributes:
        log_odds: that a token is not supported, shape (tokens,).
        unsupported: whether it is marked, shape (tokens,).
    """

    log_odds: Float64
    unsupported: Bools

    def f_score(self, threshold: float) -> float:
        """Returns the harmonic mean of precision and recall of the tokens above a threshold."""
        found = self.log_odds > threshold
        hits = (found & self.unsupported).sum()
        return float(2 * hits / (found.sum() + self.unsupported.sum()))

    def best_threshold(self) -> float:
        """Returns the threshold with the greatest F score."""
        thresholds = np.quantile(self.log_odds, np.linspace(0, 1, 101)).tolist()
        return float(max(thresholds, key=self.f_score))
