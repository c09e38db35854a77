"""Measures of agreement between scores and people, and between people: correlations, kappa, calibration error.

Scores and human labels are arrays of one length, a row for each summary. `good` and `passed` are booleans: what people
say of a summary, and what a threshold says. A measure that is not defined for its rows, such as the area under a curve
without a bad summary, is NaN. Correlations without variance are 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def spearman(first: Float64, second: Float64) -> float:
    """Returns Spearman's rho, ties with their mean rank; 0 where either side has no variance."""
    one, other = ranks(first), ranks(second)
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / scale if scale else 0.0


def ranks(values: Float64) -> Float64:
    """Returns ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    mean_ranks = last - (counts - 1) / 2
    return np.asarray(mean_ranks[inverse], dtype=np.float64)


def auc(scores: Float64, good: Bools) -> float:
    """Returns the area under the ROC curve: how often a good row scores above a bad one, ties by half.

    By the rank sum of the good rows (Hanley and McNeil 1982, Radiology 143).
    """
    good_count = int(good.sum())
    pair_count = good_count * (len(good) - good_count)
    rank_sum = float(ranks(scores)[good].sum())
    return (rank_sum - good_count * (good_count + 1) / 2) / pair_count if pair_count else np.nan


def accuracy(passed: Bools, good: Bools) -> float:
    """Returns the share of rows that were decided as people did."""
    return float((passed == good).mean()) if len(good) else np.nan


def balanced_accuracy(passed: Bools, good: Bools) -> float:
    """Returns the mean of two shares: good rows that passed, bad rows that did not."""
    if not good.any() or good.all():
        return np.nan
    return float(passed[good].mean() + (~passed[~good]).mean()) / 2


def precision(passed: Bools, good: Bools) -> float:
    """Returns the share of good rows among those that passed."""
    return float(good[passed].mean()) if passed.any() else np.nan


def recall(passed: Bools, good: Bools) -> float:
    """Returns the share of the good rows that passed."""
    return float(passed[good].mean()) if good.any() else np.nan


def cohen_kappa(first: Bools, second: Bools) -> float:
    """Returns Cohen's kappa of two raters: (observed - chance) / (1 - chance) agreement.

    Chance is that of two raters with the same shares who do not look (Cohen 1960, Educational and Psychological
    Measurement 20). NaN when both always say the same one thing.
    """
    if not len(first):
        return np.nan
    one, other = float(first.mean()), float(second.mean())
    chance = one * other + (1 - one) * (1 - other)
    return (accuracy(first, second) - chance) / (1 - chance) if chance < 1 else np.nan


def light_kappa(ratings: Float64) -> float:
    """Returns the mean of Cohen's kappa over all pairs of raters (Light 1971, Psychological Bulletin 76).

    Ratings have shape (rows, raters): 1 good, 0 bad, NaN not rated. Pairs are compared on what both rated, and left out
    where kappa is not defined; of two raters it is Cohen's.
    """
    values = []
    for one, other in combinations(ratings.T, 2):
        both = ~(np.isnan(one) | np.isnan(other))
        values.append(cohen_kappa(one[both] > 0, other[both] > 0))
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows whose probability is in [low, high); the last bin has its end too."""

    low: float  # of the bin
    high: float  # of the bin
    count: int  # rows in it, at least 1
    mean_probability: float  # what was said
    good_share: float  # what people say


def reliability(probabilities: Float64, good: Bools, bin_count: int = 10) -> Iterator[ReliabilityBin]:
    """Yields the bins of equal width that hold a row, low ones first."""
    bins = _bins(probabilities, bin_count)
    for index in np.unique(bins).tolist():
        inside = bins == index
        said, found = float(probabilities[inside].mean()), float(good[inside].mean())
        yield ReliabilityBin(index / bin_count, (index + 1) / bin_count, int(inside.sum()), said, found)


def expected_calibration_error(probabilities: Float64, good: Bools, bin_count: int = 10) -> float:
    """Returns the mean distance of probability and outcome over bins, weighted by their rows (Naeini et al. 2015).

    In [0, 1]; above 0 by chance even for honest probabilities, the more so the fewer rows there are.
    """
    gaps = np.bincount(_bins(probabilities, bin_count), weights=probabilities - good)
    return float(np.abs(gaps).sum()) / len(good) if len(good) else np.nan


def _bins(probabilities: Float64, bin_count: int) -> npt.NDArray[np.int64]:
    return np.minimum((probabilities * bin_count).astype(np.int64), bin_count - 1)
