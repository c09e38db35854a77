"""A score as a probability: a rising curve fitted to what people say, and the threshold that decides best."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from pipeline.agreement.measures import Bools, Float64
from pipeline.frozen import FrozenModel

BEST_SCORE = 10.0
_NEWTON_STEPS = 100
_CONVERGED = 1e-10
_DIGITS = 6  # of what is stored: the last bits of a sum differ between machines

Score = Annotated[float, Field(ge=0, le=BEST_SCORE)]


class PlattMapping(FrozenModel):
    """A logistic curve over the score: 1 / (1 + exp(-(slope score + intercept))) (Platt 1999)."""

    kind: Literal["platt"] = "platt"
    slope: float = Field(ge=0, allow_inf_nan=False)
    intercept: float = Field(allow_inf_nan=False)

    def probabilities(self, scores: Float64) -> Float64:
        """Returns the probability of each score, that people call the summary good."""
        return _logistic(self.slope * scores + self.intercept)


def fit_platt(scores: Float64, good: Bools) -> PlattMapping:
    """Fits Platt's curve by Newton's method with step halving (Lin, Lin and Weng 2007).

    The targets are Platt's, (good + 1) / (good + 2) and 1 / (bad + 2), so that separable rows have a finite curve. If
    it falls, the scores say nothing that could be used: the curve is level then.
    """
    good_count, bad_count = int(good.sum()), int((~good).sum())
    targets = np.where(good, (good_count + 1) / (good_count + 2), 1 / (bad_count + 2))
    share = float(targets.mean())
    level = np.array([0.0, np.log(share / (1 - share))])
    columns = np.stack([scores, np.ones_like(scores)], axis=1)
    weights = _minimum(columns, targets, level) if np.ptp(scores) else level
    slope, intercept = (weights if weights[0] > 0 else level).tolist()
    return PlattMapping(slope=round(slope, _DIGITS), intercept=round(intercept, _DIGITS))


def _minimum(columns: Float64, targets: Float64, weights: Float64) -> Float64:
    """Minimizes the cross-entropy of targets strictly between 0 and 1, which has one minimum."""
    loss = _cross_entropy(columns @ weights, targets)
    for _ in range(_NEWTON_STEPS):
        chances = _logistic(columns @ weights)
        gradient = columns.T @ (chances - targets)
        curvature = columns.T @ (columns * np.maximum(chances * (1 - chances), _CONVERGED)[:, None])
        step = np.linalg.solve(curvature, gradient)
        while (found := _cross_entropy(columns @ (weights - step), targets)) > loss and np.abs(step).max() > _CONVERGED:
            step = step / 2
        weights, loss = weights - step, found
        if np.abs(step).max() <= _CONVERGED:
            break
    return weights


def _cross_entropy(logits: Float64, targets: Float64) -> float:
    return float((np.logaddexp(0, logits) - targets * logits).sum())


def _logistic(logits: Float64) -> Float64:
    return np.asarray(np.exp(-np.logaddexp(0, -logits)), dtype=np.float64)


def fit_threshold(scores: Float64, good: Bools) -> float:
    """Returns the score from which on summaries pass; there is at least one good and one bad one.

    Of all cuts between neighbouring scores, and the one that lets all pass, it has the highest balanced accuracy. Of
    equals it is the one in the widest gap, then the lowest.
    """
    levels, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    good_below = np.concatenate([[0.0], np.bincount(inverse, weights=good).cumsum()[:-1]])
    below = counts.cumsum() - counts
    good_passed = good.sum() - good_below
    gaps = np.concatenate([[0.0], np.diff(levels)])
    bad_failed = below - good_below
    balanced = good_passed / good.sum() + bad_failed / (~good).sum()
    best = int(np.lexsort((-levels, gaps, balanced.round(12)))[-1])
    cut = levels[best] - gaps[best] / 2
    return round(float(cut), _DIGITS)
