"""The vectors of a request, embedded once and looked up by text.

All NLI pairs of a request: collected without repeats, submitted once, looked up by the parts of the table.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline.errors import ModelOutputError
from pipeline.judge.evidence.text.windows import Window
from pipeline.protocols import CONTRADICTION, ENTAILMENT, Float32

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


Pair = tuple[str, str]
"""Premise and hypothesis, as the model reads them."""

_COLUMNS = 3
NO_PROBABILITIES: Float32 = np.empty((0, _COLUMNS), dtype=np.float32)


class PairScores:
    """What the NLI model said about every pair."""

    def __init__(self, pairs: Sequence[Pair], probabilities: Float32) -> None:
        """Checks that there is an answer for every pair.

        Args:
            pairs: as submitted, without repeats.
            probabilities: shape (pairs, 3), columns entailment, neutral, contradiction.

        Raises:
            ModelOutputError: wrong shape, or values that are not finite.
        """
        if probabilities.shape != (len(pairs), _COLUMNS):
            raise ModelOutputError(f"{len(pairs)} pairs got probabilities of shape {probabilities.shape}")
        if not np.isfinite(probabilities).all():
            raise ModelOutputError("the NLI model returned values that are not finite")
        clipped = probabilities.astype(np.float64).clip(0, 1)
        self._entailments: dict[Pair, float] = dict(zip(pairs, clipped[:, ENTAILMENT].tolist(), strict=True))
        self._contradictions: dict[Pair, float] = dict(zip(pairs, clipped[:, CONTRADICTION].tolist(), strict=True))

    def entailment(self, window: Window, hypothesis: str) -> float:
        """Returns the probability that a window entails a hypothesis, in [0, 1]."""
        return self._entailments[window.passage.text, hypothesis]

    def contradiction(self, window: Window, hypothesis: str) -> float:
        """Returns the probability that a window contradicts a hypothesis, in [0, 1]."""
        return self._contradictions[window.passage.text, hypothesis]

    def best(self, windows: Sequence[Window], hypothesis: str) -> tuple[float, Window | None]:
        """Returns the greatest entailment with its window, the first in the text on a tie; 0 and None without any."""
        ordered = sorted(windows, key=lambda window: (window.size, window.first))
        best = max(ordered, key=lambda window: self.entailment(window, hypothesis), default=None)
        return (0.0, None) if best is None else (self.entailment(best, hypothesis), best)
