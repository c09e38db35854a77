"""The vectors of a request, embedded once and looked up by text."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline.errors import ModelOutputError
from pipeline.protocols import Float32

Float64 = npt.NDArray[np.float64]

_MATRIX = 2


class Embeddings:
    """One vector for each distinct text."""

    def __init__(self, texts: Sequence[str], vectors: Float32) -> None:
        """Checks that there is a vector for every text.

        Args:
            texts: as submitted, without repeats.
            vectors: shape (texts, dimension); rows of length 1.

        Raises:
            ModelOutputError: wrong shape, or values that are not finite.
        """
        if vectors.ndim != _MATRIX or len(vectors) != len(texts):
            raise ModelOutputError(f"{len(texts)} texts got vectors of shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ModelOutputError("the embedder returned values that are not finite")
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors.astype(np.float64)  # the same cosine whatever the order of summation

    def __contains__(self, text: str) -> bool:
        return text in self._rows

    def of(self, texts: Sequence[str]) -> Float64:
        """Returns the vectors of some texts, shape (texts, dimension)."""
        return self._vectors[[self._rows[text] for text in texts]]

    def cosines(self, left: Sequence[str], right: Sequence[str]) -> Float64:
        """Returns all cosines, shape (left, right), in [-1, 1]."""
        return np.clip(self.of(left) @ self.of(right).T, -1, 1)
