"""Fits a linear three-way head on hidden states: standardized logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from inference.compile.head import DenseLayer
from inference.manifest import NLI_LABELS
from scripts.head_training.calibration import Float64

_FOLDS = 5
_SEED = 20240229  # of the folds; any other moves the temperature by less than 0.01
_MAX_ITERATIONS = 2000
_TOLERANCE = 1e-6  # of the gradient; a tighter one moves no decision on the development sets


@dataclass(frozen=True)
class LinearHead:
    """logits = states @ weight + bias, columns in the order of NLI_LABELS."""

    weight: Float64
    bias: Float64

    def logits(self, states: NDArray[np.float32]) -> Float64:
        """Returns (pairs, 3)."""
        return np.asarray(states, dtype=np.float64) @ self.weight + self.bias

    def divided_by(self, temperature: float) -> LinearHead:
        """Returns the head whose logits are smaller by this factor."""
        return LinearHead(self.weight / temperature, self.bias / temperature)

    def as_layer(self) -> DenseLayer:
        """Returns the head as the graph writer takes it."""
        return DenseLayer(self.weight.astype(np.float32), self.bias.astype(np.float32))


def fit_linear_head(
    states: NDArray[np.float32], labels: NDArray[np.int64], weights: Float64, *, regularization: float
) -> LinearHead:
    """Fits on standardized states and folds the standardization into the returned weights.

    Args:
        weights: of the examples.
        regularization: L2 penalty on the standardized weights, per unit of example weight.
    """
    features = np.asarray(states, dtype=np.float64)
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    model = LogisticRegression(
        C=1 / (2 * regularization * weights.sum()), tol=_TOLERANCE, max_iter=_MAX_ITERATIONS
    ).fit((features - mean) / deviation, labels, sample_weight=weights)
    if model.classes_.tolist() != list(range(len(NLI_LABELS))):
        raise ValueError(f"training examples have labels {model.classes_.tolist()}, not all three")
    weight = model.coef_.T / deviation[:, np.newaxis]
    return LinearHead(weight, model.intercept_ - mean @ weight)


def held_out_logits(
    states: NDArray[np.float32], labels: NDArray[np.int64], weights: Float64, *, regularization: float
) -> Float64:
    """Returns logits (pairs, 3), each from a head that was fitted without the pair's fold."""
    folds = np.random.default_rng(_SEED).integers(_FOLDS, size=len(labels))
    logits = np.empty((len(labels), len(NLI_LABELS)))
    for fold in range(_FOLDS):
        held_out = folds == fold
        kept = ~held_out
        head = fit_linear_head(states[kept], labels[kept], weights[kept], regularization=regularization)
        logits[held_out] = head.logits(states[held_out])
    return logits
