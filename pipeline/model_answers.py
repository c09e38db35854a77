"""What the models said for one request, looked up by text: one vector for a text, one score for a pair of texts."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from pipeline.errors import ModelOutputError
from pipeline.protocols import (
    CONTRADICTION,
    ENTAILMENT,
    ClaimChecker,
    Embedder,
    Entailment,
    Float32,
    TokenMark,
)

Float64 = npt.NDArray[np.float64]

_MATRIX = 2


def checked_vectors(vectors: Float32, count: int) -> Float64:
    """Returns vectors in double precision, so that the order of summation does not matter.

    Raises:
        ModelOutputError: wrong shape, or values that are not finite.
    """
    if vectors.ndim != _MATRIX or len(vectors) != count:
        raise ModelOutputError(f"{count} texts got vectors of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ModelOutputError("the embedder returned values that are not finite")
    return vectors.astype(np.float64)


class Embeddings:
    """One vector for each distinct text."""

    def __init__(self, texts: Sequence[str], vectors: Float32) -> None:
        """Checks that there is a vector for every text; see `checked_vectors`.

        Args:
            texts: as submitted, without repeats.
            vectors: shape (texts, dimension); rows of length 1.
        """
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = checked_vectors(vectors, len(texts))

    @classmethod
    async def ask(cls, model: Embedder, texts: Sequence[str]) -> Self:
        """Has all texts embedded in one submission, or in none when there are none."""
        return cls(texts, await model.embed(texts) if texts else np.empty((0, 0), dtype=np.float32))

    def of(self, texts: Sequence[str]) -> Float64:
        """Returns the vectors of some texts, shape (texts, dimension)."""
        return self._vectors[[self._rows[text] for text in texts]]

    def cosines(self, left: Sequence[str], right: Sequence[str]) -> Float64:
        """Returns all cosines, shape (left, right), in [-1, 1]."""
        return np.clip(self.of(left) @ self.of(right).T, -1, 1)


Pair = tuple[str, str]
"""Premise and hypothesis."""

_COLUMNS = 3


def small_letters(text: str) -> str:
    """Returns a text in small letters, character for character.

    Many texts reach us without their capitals, or with other ones than the text they are compared with. To a model that
    reads capitals a name is then another name.
    """
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)


def in_small_letters(pair: Pair) -> Pair:
    """Returns a pair as a model reads it that is asked to fold case."""
    premise, hypothesis = pair
    return small_letters(premise), small_letters(hypothesis)


class PairScores:
    """What the NLI model said about every pair, and about the tokens of its hypothesis where it was asked for marks."""

    def __init__(
        self, pairs: Sequence[Pair], probabilities: Float32, marks: Sequence[tuple[TokenMark, ...]] | None = None
    ) -> None:
        """Checks that there is an answer for every pair.

        Args:
            pairs: as submitted, without repeats.
            probabilities: shape (pairs, 3), columns entailment, neutral, contradiction.
            marks: by pair, of the tokens of its hypothesis. None: of no pair.

        Raises:
            ModelOutputError: wrong shape, or values that are not finite.
        """
        if probabilities.shape != (len(pairs), _COLUMNS):
            raise ModelOutputError(f"{len(pairs)} pairs got probabilities of shape {probabilities.shape}")
        if not np.isfinite(probabilities).all():
            raise ModelOutputError("the NLI model returned values that are not finite")
        marks = ((),) * len(pairs) if marks is None else marks
        if len(marks) != len(pairs):
            raise ModelOutputError(f"{len(pairs)} pairs got marks for {len(marks)}")
        clipped = probabilities.astype(np.float64).clip(0, 1)
        answers = zip(clipped[:, ENTAILMENT].tolist(), clipped[:, CONTRADICTION].tolist(), marks, strict=True)
        self._answers: dict[Pair, tuple[float, float, tuple[TokenMark, ...]]] = dict(zip(pairs, answers, strict=True))

    @classmethod
    async def ask(
        cls, model: Entailment, pairs: Sequence[Pair], *, fold_case: bool = False, with_marks: bool = False
    ) -> Self:
        """Has all pairs scored in one submission, or in none when there are none.

        Args:
            fold_case: the model reads both texts in small letters.
            with_marks: it also marks tokens, if it can.
        """
        if not pairs:
            return cls((), np.empty((0, _COLUMNS), dtype=np.float32))
        read = [in_small_letters(pair) for pair in pairs] if fold_case else pairs
        if with_marks and isinstance(model, ClaimChecker):
            checked = await model.check(read)
            return cls(pairs, checked.probabilities, checked.marks)
        return cls(pairs, await model.entail(read))

    def __contains__(self, pair: Pair) -> bool:
        return pair in self._answers

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, others: Self) -> None:
        """Adds what the model said about other pairs."""
        self._answers |= others._answers

    def entailment(self, premise: str, hypothesis: str) -> float:
        """Returns the probability that a premise entails a hypothesis, in [0, 1]."""
        return self._answers[premise, hypothesis][0]

    def contradiction(self, premise: str, hypothesis: str) -> float:
        """Returns the probability that a premise contradicts a hypothesis, in [0, 1]."""
        return self._answers[premise, hypothesis][1]

    def marks(self, premise: str, hypothesis: str) -> tuple[TokenMark, ...]:
        """Returns what the model thinks of the tokens of a hypothesis, in order."""
        return self._answers[premise, hypothesis][2]
