"""How good probabilities are: accuracy, expected calibration error, and the temperature that suits them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

Float64 = NDArray[np.float64]

_BINS = 15  # as in Guo et al. 2017, arXiv 1706.04599
_TEMPERATURES = (0.5, 5.0)


def accuracy(logits: Float64, labels: NDArray[np.int64]) -> float:
    """Share of rows whose largest logit is the label, in [0, 1]."""
    return float((logits.argmax(axis=1) == labels).mean())


def expected_calibration_error(logits: Float64, labels: NDArray[np.int64]) -> float:
    """Mean distance between confidence and accuracy over 15 equal bins of confidence, in [0, 1]."""
    probabilities = softmax(logits, axis=1)
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    gaps = [abs(float((confidence[bins == index] - correct[bins == index]).sum())) for index in range(_BINS)]
    return sum(gaps) / len(labels)


def fit_temperature(logits: Float64, labels: NDArray[np.int64], weights: Float64) -> float:
    """Returns the divisor of `logits` with the least weighted negative log-likelihood (Guo et al. 2017)."""

    def loss(temperature: float) -> float:
        chosen = log_softmax(logits / temperature, axis=1)[np.arange(len(labels)), labels]
        return float(-(weights * chosen).sum() / weights.sum())

    return float(minimize_scalar(loss, bounds=_TEMPERATURES, method="bounded").x)
