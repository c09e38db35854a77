"""Logistic regression with weights that are not negative: more evidence for a claim never lowers its support."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

_STEPS = 20_000
_TOLERANCE = 1e-9  # largest change of a parameter in a step


@dataclass(frozen=True)
class FittedSupport:
    """log-odds = intercept + signals @ weights."""

    weights: Float64
    intercept: float

    def probabilities(self, signals: Float64) -> Float64:
        """Returns the probability of faithful for each row."""
        return _sigmoid(signals @ self.weights + self.intercept)


@dataclass(frozen=True)
class Rows:
    """Examples to fit to.

    Attributes:
        signals: shape (examples, signals).
        faithful: shape (examples,); both values must occur.
        weights: shape (examples,), positive; how much each counts beside the others of its kind.
    """

    signals: Float64
    faithful: npt.NDArray[np.bool_]
    weights: Float64

    def of(self, chosen: npt.NDArray[np.bool_]) -> "Rows":
        """Returns some of the examples."""
        return Rows(self.signals[chosen], self.faithful[chosen], self.weights[chosen])


def fit_support(rows: Rows, *, regularization: float, prior: float) -> FittedSupport:
    """Fits on standardized signals, then stretches the result: the penalty keeps all probabilities near the middle.

    The stretch is a logistic regression on the log-odds alone, without penalty (Platt 1999); it changes no order.

    Args:
        rows: the examples.
        regularization: penalty on the squared standardized weights, for a total example weight of 1.
        prior: share of claims that are faithful in what will be judged; examples are weighted to it.
    """
    direction = _fit(rows, regularization, prior)
    log_odds = rows.signals @ direction.weights + direction.intercept
    stretch = _fit(Rows(log_odds[:, None], rows.faithful, rows.weights), 0.0, prior)
    factor = float(stretch.weights[0])
    return FittedSupport(direction.weights * factor, direction.intercept * factor + stretch.intercept)


def _fit(rows: Rows, regularization: float, prior: float) -> FittedSupport:
    """Minimizes a convex loss by accelerated projected gradient descent."""
    signals, faithful, weights = rows.signals, rows.faithful, rows.weights
    mean, deviation = signals.mean(axis=0), signals.std(axis=0)
    deviation[deviation == 0] = 1.0
    inputs = np.column_stack([(signals - mean) / deviation, np.ones(len(signals))])
    share = np.where(faithful, prior / weights[faithful].sum(), (1 - prior) / weights[~faithful].sum()) * weights
    penalty = np.append(np.full(signals.shape[1], 2 * regularization), 0.0)
    step = 1 / (0.25 * float((share[:, None] * inputs**2).sum()) + 2 * regularization)
    parameters = _descend(inputs, faithful.astype(np.float64), share, penalty, step)
    scaled = parameters[:-1] / deviation
    return FittedSupport(scaled, float(parameters[-1] - mean @ scaled))


def _descend(inputs: Float64, targets: Float64, share: Float64, penalty: Float64, step: float) -> Float64:
    """Nesterov's method, each step followed by the projection on weights >= 0; the intercept is free."""
    current = np.zeros(inputs.shape[1])
    ahead, momentum = current, 1.0
    for _ in range(_STEPS):
        gradient = inputs.T @ (share * (_sigmoid(inputs @ ahead) - targets)) + penalty * ahead
        following = ahead - step * gradient
        following[:-1] = np.maximum(following[:-1], 0.0)
        if float(np.abs(following - current).max()) < _TOLERANCE:
            return following
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / next_momentum * (following - current)
        current, momentum = following, float(next_momentum)
    raise ArithmeticError(f"the fit did not converge in {_STEPS} steps")


def _sigmoid(values: Float64) -> Float64:
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))
