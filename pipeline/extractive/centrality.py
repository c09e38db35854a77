"""How much a sentence says of what its stretch of the document is about. Linear in the number of sentences."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline.extractive.excerpt import Excerpt, ExcerptKind
from pipeline.extractive.wording import count_words

Float64 = npt.NDArray[np.float64]

_WHOLE_WEIGHT, _SECTION_WEIGHT, _LEAD_WEIGHT = 0.45, 0.35, 0.2
_FULL_LENGTH_WORDS = 12  # shorter sentences say less, whatever they are close to: "I hope you like it."


def centrality(excerpts: Sequence[Excerpt], positions: Sequence[int], vectors: Float64) -> Float64:
    """Scores sentences: close to the middle of the whole and of their section, early in a paragraph, not too short.

    Args:
        excerpts: all that were read.
        positions: of the sentences, rising; at least one.
        vectors: shape (sentences, dimension), rows of length 1.

    Returns:
        Shape (sentences,), in [0, 1].
    """
    sections = [excerpts[position].section for position in positions]
    blocks = [excerpts[position].block for position in positions]
    leads = np.array(
        [
            excerpts[position].kind is ExcerptKind.SENTENCE and (row == 0 or blocks[row] != blocks[row - 1])
            for row, position in enumerate(positions)
        ],
        dtype=np.float64,
    )
    words = np.array([count_words(excerpts[position].text) for position in positions], dtype=np.float64)
    closeness = (
        _WHOLE_WEIGHT * _scaled(vectors @ _middle(vectors))
        + _SECTION_WEIGHT * _scaled(_closeness_to_groups(vectors, sections))
        + _LEAD_WEIGHT * leads
    )
    return np.asarray(closeness * np.minimum(words / _FULL_LENGTH_WORDS, 1))


def _closeness_to_groups(vectors: Float64, groups: Sequence[int]) -> Float64:
    """Returns the cosine of each vector with the middle of its group, shape (vectors,)."""
    names, rows = np.unique(groups, return_inverse=True)
    middles = np.zeros((len(names), vectors.shape[1]))
    np.add.at(middles, rows, vectors)
    middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(np.einsum("ij,ij->i", vectors, middles[rows]))


def _middle(vectors: Float64) -> Float64:
    total = vectors.sum(axis=0)
    return np.asarray(total / max(np.linalg.norm(total), np.finfo(np.float64).tiny))


def _scaled(values: Float64) -> Float64:
    """Returns the values on a scale from 0 (the smallest) to 1; all 1 if they are equal."""
    width = values.max() - values.min()
    return np.ones_like(values) if width <= 0 else np.asarray((values - values.min()) / width)
