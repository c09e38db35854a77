"""From a graph's output to what callers get, for each task."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inference.backend import Float32


def pass_through(output: Float32) -> Float32:
    """The graph pools and normalises itself: its output is the embedding."""
    return output


def probabilities(label_columns: tuple[int, int, int]) -> Callable[[Float32], Float32]:
    """Makes the function from logits to probabilities of entailment, neutral and contradiction.

    Args:
        label_columns: columns of the logits with these three, from the model's `id2label`.
    """
    columns = list(label_columns)

    def finish(logits: Float32) -> Float32:
        """Softmax of shape (rows, 3). In float64: a row's last bit must not depend on how many rows there are."""
        ordered = logits[:, columns].astype(np.float64)
        weights = np.exp(ordered - ordered.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)

    return finish
