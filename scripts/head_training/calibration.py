"""How good probabilities are: accuracy, expected calibration error, and the temperature that suits them."""

import numpy as np
from numpy.typing import NDArray

from pipeline.agreement.measures import expected_calibration_error as binned_error

Float64 = NDArray[np.float64]

_BINS = 15  # as in Guo et al. 2017, arXiv 1706.04599
_TEMPERATURES = (0.5, 5.0)
_GOLDEN = (5**0.5 - 1) / 2
_TEMPERATURE_DIGITS = 1e-9


def log_softmax(logits: Float64) -> Float64:
    """Returns the logarithms of the probabilities, (pairs, labels)."""
    shifted = logits - logits.max(axis=1, keepdims=True)  # exp() of a large logit would overflow
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def accuracy(logits: Float64, labels: NDArray[np.int64]) -> float:
    """Share of rows whose largest logit is the label, in [0, 1]."""
    return float((logits.argmax(axis=1) == labels).mean())


def expected_calibration_error(logits: Float64, labels: NDArray[np.int64]) -> float:
    """Mean distance between confidence and accuracy over 15 equal bins of confidence, in [0, 1]."""
    probabilities = np.exp(log_softmax(logits))
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    return binned_error(confidence, correct, _BINS)


def fit_temperature(logits: Float64, labels: NDArray[np.int64], weights: Float64) -> float:
    """Returns the divisor of `logits` with the least weighted negative log-likelihood (Guo et al. 2017)."""

    def loss(temperature: float) -> float:
        chosen = log_softmax(logits / temperature)[np.arange(len(labels)), labels]
        return float(-(weights * chosen).sum() / weights.sum())

    low, high = _TEMPERATURES
    while high - low > _TEMPERATURE_DIGITS:  # golden section; the loss has one valley
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if loss(left) < loss(right) else (left, high)
    return (low + high) / 2
