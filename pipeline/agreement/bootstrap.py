"""How sure a measured number is: bootstrap intervals over rows, the same at every run.

It is the percentile method (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13). Rows are drawn
with replacement 1,000 times, and the interval holds the middle of the values. Rows that depend on each other, such as
summaries of one source, are drawn together. That is the cluster bootstrap (Davison and Hinkley 1997, Bootstrap Methods
and their Application, section 3.8). Draws for which the measure is not defined are left out; when that is most of them,
there is no interval.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.agreement.measures import Float64

Statistic = Callable[..., float]
Indices = npt.NDArray[np.int64]

BOOTSTRAP_SAMPLES = 1000
CONFIDENCE = 0.95
_SEED = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured number with its bootstrap interval; NaN for what is not defined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Writes "0.692 [0.61, 0.76]"."""
        if math.isnan(self.value):
            return "-"
        interval = "" if math.isnan(self.low) else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.value:.3f}{interval}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference of pairs, with its bootstrap interval and two-sided p-value."""

    estimate: Estimate
    p: float


def estimate(statistic: Statistic, *columns: npt.ArrayLike, groups: Sequence[int] | Indices | None = None) -> Estimate:
    """Returns a measure with its interval.

    Args:
        statistic: gets the columns, whole or drawn.
        columns: of one length; what is no array of truth values becomes one of float64.
        groups: numbers of the rows' groups, from 0, none left out; default: every row is one of its own.
    """
    found = [np.asarray(column) for column in columns]
    arrays = [column if column.dtype == np.bool_ else column.astype(np.float64) for column in found]
    numbers = np.arange(len(arrays[0])) if groups is None else np.asarray(groups, dtype=np.int64)
    value = statistic(*arrays)
    if not len(numbers):
        return Estimate(value, math.nan, math.nan)
    values = np.array([statistic(*(array[draw] for array in arrays)) for draw in _draws(numbers)])
    return Estimate(value, *_interval(values))


def paired_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> Difference:
    """Returns the mean of second - first over pairs, at least one.

    The p-value inverts the percentile interval (Davison and Hinkley 1997, sections 4.2.3 and 5.5). It is twice the
    share of draws on the other side of 0, of all draws and one more. It is below 0.05 when the interval leaves 0 out.
    """
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    means = np.array([differences[draw].mean() for draw in _draws(np.arange(len(differences)))])
    beyond = min(int((means <= 0).sum()), int((means >= 0).sum()))
    interval = _interval(means)
    return Difference(Estimate(float(differences.mean()), *interval), min(1.0, 2 * (beyond + 1) / (len(means) + 1)))


def _draws(groups: Indices) -> Iterator[Indices]:
    random = np.random.default_rng(_SEED)
    order, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    starts = sizes.cumsum() - sizes
    for _ in range(BOOTSTRAP_SAMPLES):
        drawn = random.integers(len(sizes), size=len(sizes))
        counts = sizes[drawn]
        before = counts.cumsum() - counts
        inside = np.arange(counts.sum()) - np.repeat(before, counts)
        yield order[np.repeat(starts[drawn], counts) + inside]


def _interval(values: Float64) -> tuple[float, float]:
    defined = values[~np.isnan(values)]
    if 2 * len(defined) < len(values):
        return math.nan, math.nan
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(defined, (tail, 100 - tail))
    return float(low), float(high)
