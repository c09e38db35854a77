"""Fits a linear three-way head on hidden states: standardized multinomial logistic regression.

Newton's method, in plain numpy: the loss is convex and has 1,155 parameters. A dozen exact steps find its minimum to
the last digits that the head's float32 weights keep, on any machine.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from inference.models.manifest import NLI_LABELS
from scripts.head_training.calibration import Float64, log_softmax

_FOLDS = 5
_SEED = 20240229  # of the folds; any other moves the temperature by less than 0.01
_MAX_STEPS = 50
_TOLERANCE = 1e-10  # of the gradient's largest coordinate
_SMALLEST_STEP = 1e-6  # share of a Newton step
_ROUNDING = 1e-12  # relative error of a loss
_BIAS_PENALTY = 1e-9  # adding one number to all three biases changes nothing; this says which of them to take
_CLASSES = len(NLI_LABELS)


@dataclass(frozen=True)
class LinearHead:
    """logits = states @ weight + bias, columns in the order of NLI_LABELS."""

    weight: Float64
    bias: Float64

    def logits(self, states: NDArray[np.float32]) -> Float64:
        """Returns (pairs, 3)."""
        return np.asarray(states, dtype=np.float64) @ self.weight + self.bias

    def divided_by(self, temperature: float) -> "LinearHead":
        """Returns the head whose logits are smaller by this factor."""
        return LinearHead(self.weight / temperature, self.bias / temperature)

    def save(self, path: Path) -> None:
        """Writes the head for the graph writer. The same numbers always give the same bytes: no metadata, no date."""
        arrays = {"weight": self.weight, "bias": self.bias}
        path.write_bytes(save({name: array.astype(np.float32, order="C") for name, array in arrays.items()}))


def fit_linear_head(
    states: NDArray[np.float32], labels: NDArray[np.int64], weights: Float64, *, regularization: float
) -> LinearHead:
    """Fits on standardized states and folds the standardization into the returned weights.

    Args:
        states: (pairs, hidden size).
        labels: indices into NLI_LABELS; all three must occur.
        weights: of the pairs, on any scale.
        regularization: penalty on the squared standardized weights, per unit of pair weight.
    """
    if set(labels.tolist()) != set(range(_CLASSES)):
        raise ValueError(f"training pairs have labels {sorted(set(labels.tolist()))}, all three are needed")
    features = np.asarray(states, dtype=np.float64)
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    inputs = np.column_stack([(features - mean) / deviation, np.ones(len(labels))])
    fitted = _Problem(inputs, labels, weights / weights.sum(), regularization).solve()
    weight = fitted[:-1] / deviation[:, np.newaxis]
    return LinearHead(weight, fitted[-1] - mean @ weight)


def held_out_logits(
    states: NDArray[np.float32], labels: NDArray[np.int64], weights: Float64, *, regularization: float
) -> Float64:
    """Returns logits (pairs, 3), each from a head that was fitted without the pair's fold."""
    folds = np.random.default_rng(_SEED).integers(_FOLDS, size=len(labels))
    logits = np.empty((len(labels), _CLASSES))
    for fold in range(_FOLDS):
        held_out = folds == fold
        kept = ~held_out
        head = fit_linear_head(states[kept], labels[kept], weights[kept], regularization=regularization)
        logits[held_out] = head.logits(states[held_out])
    return logits


class _Problem:
    """Minimizes sum(weights * cross entropy) + regularization * |parameters without bias|^2."""

    def __init__(self, inputs: Float64, labels: NDArray[np.int64], weights: Float64, regularization: float) -> None:
        self._inputs = inputs
        self._targets = np.eye(_CLASSES)[labels]
        self._weights = weights
        self._penalty = np.full((inputs.shape[1], 1), regularization)
        self._penalty[-1] = _BIAS_PENALTY

    def solve(self) -> Float64:
        """Returns (inputs, 3). Raises ArithmeticError when the steps do not converge."""
        parameters = np.zeros((self._inputs.shape[1], _CLASSES))
        for _ in range(_MAX_STEPS):
            gradient, hessian = self._derivatives(parameters)
            if np.abs(gradient).max() < _TOLERANCE:
                return parameters
            step = np.linalg.solve(hessian, gradient.T.ravel()).reshape(_CLASSES, -1).T
            parameters = self._descend(parameters, np.asarray(step))
        raise ArithmeticError(f"no minimum within {_MAX_STEPS} steps; is the regularization positive?")

    def _descend(self, parameters: Float64, step: Float64) -> Float64:
        """Takes the largest halving of a Newton step that does not climb."""
        limit, scale = self._loss(parameters) * (1 + _ROUNDING), 1.0
        while scale > _SMALLEST_STEP and self._loss(parameters - scale * step) > limit:
            scale /= 2
        return parameters - scale * step

    def _loss(self, parameters: Float64) -> float:
        entropies = -(self._targets * log_softmax(self._inputs @ parameters)).sum(axis=1)
        return float(self._weights @ entropies + (self._penalty * parameters**2).sum())

    def _derivatives(self, parameters: Float64) -> tuple[Float64, Float64]:
        """Returns the gradient (inputs, 3) and the Hessian, whose rows run through the inputs of each class."""
        chances = np.exp(log_softmax(self._inputs @ parameters))
        errors = self._weights[:, np.newaxis] * (chances - self._targets)
        gradient = self._inputs.T @ errors + 2 * self._penalty * parameters
        pairs = [(row, column) for row in range(_CLASSES) for column in range(row + 1)]
        blocks = {pair: self._block(chances, *pair) for pair in pairs}  # each is symmetric, and so is the whole
        rows = [[blocks[max(row, column), min(row, column)] for column in range(_CLASSES)] for row in range(_CLASSES)]
        return gradient, np.block(rows)

    def _block(self, chances: Float64, row: int, column: int) -> Float64:
        curvature = self._weights * chances[:, row] * ((row == column) - chances[:, column])
        block = self._inputs.T @ (curvature[:, np.newaxis] * self._inputs)
        if row == column:
            block[np.diag_indices_from(block)] += 2 * self._penalty[:, 0]
        return np.asarray(block)
