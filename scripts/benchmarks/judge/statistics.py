"""Rank correlations with human judgements, and how sure they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Correlation = Callable[[Float64, Float64], float]

BOOTSTRAP_SAMPLES = 1000
_SEED = 4
_INTERVAL = (2.5, 97.5)  # percent


@dataclass(frozen=True)
class Estimate:
    """A correlation with its 95% bootstrap interval over rows."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Writes ".692 [.61, .76]" with leading zeros."""
        return f"{self.value:.3f} [{self.low:.2f}, {self.high:.2f}]"


def estimate(correlation: Correlation, scores: Sequence[float], human: Sequence[float]) -> Estimate:
    """Returns a correlation and its percentile bootstrap interval; the same rows give the same interval."""
    first, second = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    draws = np.random.default_rng(_SEED).integers(len(first), size=(BOOTSTRAP_SAMPLES, len(first)))
    values = [correlation(first[draw], second[draw]) for draw in draws]
    low, high = np.percentile(values, _INTERVAL)
    return Estimate(correlation(first, second), float(low), float(high))


def spearman(first: Float64, second: Float64) -> float:
    """Returns Spearman's rho, ties with their mean rank; 0 where either side has no variance."""
    one, other = ranks(first), ranks(second)
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / scale if scale else 0.0


def kendall(first: Float64, second: Float64) -> float:
    """Returns Kendall's tau-b; 0 where either side has no variance. Quadratic in time and memory."""
    upper = np.triu_indices(len(first), 1)
    one = np.sign(first[:, None] - first[None, :])[upper]
    other = np.sign(second[:, None] - second[None, :])[upper]
    scale = float(np.sqrt((one != 0).sum() * (other != 0).sum()))
    return float((one * other).sum()) / scale if scale else 0.0


def within_groups(
    correlation: Correlation, groups: Sequence[str], scores: Sequence[float], human: Sequence[float]
) -> float:
    """Returns the mean correlation over groups, as REALSumm does over documents ("summary level").

    Groups in which the humans saw no difference are left out: no score could correlate there. 0 without groups.
    """
    names, first, second = np.asarray(groups), np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    members = [names == name for name in dict.fromkeys(groups)]
    values = [correlation(first[mask], second[mask]) for mask in members if np.ptp(second[mask]) > 0]
    return float(np.mean(values)) if values else 0.0


def ranks(values: Float64) -> Float64:
    """Returns ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    mean_ranks = last - (counts - 1) / 2
    return np.asarray(mean_ranks[inverse], dtype=np.float64)
