"""A hypothesis and the premises it is compared with, before any score is known.

The best pair for one hypothesis: what every fact, sentence and outline point is judged by.

All NLI pairs of a request: collected without repeats, submitted once, looked up by the components.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import ModelOutputError
from pipeline.protocols import CONTRADICTION, ENTAILMENT, Float32
from pipeline.text.passage import TextSpan


@dataclass(frozen=True, slots=True)
class EntailmentEvidence:
    """A hypothesis with the premise that supports it best.

    Attributes:
        hypothesis: what was asked.
        premise: the window with the highest entailment, the first one on a tie; None when there was no premise.
        premise_index: its place among the premises that were offered; None with `premise`.
        entailment: probability, in [0, 1].
        contradiction: probability of the same pair, in [0, 1].
        hit: whether entailment >= hit_threshold.
    """

    hypothesis: TextSpan
    premise: TextSpan | None
    premise_index: int | None
    entailment: float
    contradiction: float
    hit: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """One hypothesis against the windows of a text, or of several.

    Attributes:
        hypothesis: what is asked.
        premises: all that exact mode scores; may be empty. Comparisons against the same text share one tuple.
        chosen: indices of the premises to score, rising; all of them in exact mode.
    """

    hypothesis: TextSpan
    premises: tuple[TextSpan, ...]
    chosen: Sequence[int]

    @classmethod
    def exact(cls, hypothesis: TextSpan, premises: tuple[TextSpan, ...]) -> "Comparison":
        """Compares with all premises."""
        return cls(hypothesis, premises, range(len(premises)))


Pair = tuple[str, str]
"""Premise and hypothesis, as the model reads them."""

_COLUMNS = 3

NO_PROBABILITIES: Float32 = np.empty((0, _COLUMNS), dtype=np.float32)
"""What the model says about no pairs."""


def unique_pairs(comparisons: Iterable[Comparison]) -> list[Pair]:
    """Returns the pairs to score, in the order in which they are first asked for."""
    return list(
        dict.fromkeys(
            (comparison.premises[index].text, comparison.hypothesis.text)
            for comparison in comparisons
            for index in comparison.chosen
        )
    )


def exact_pair_count(comparisons: Iterable[Comparison]) -> int:
    """Returns how many pairs exact mode would score, repeats left out, without building them."""
    premises_of: dict[str, dict[int, tuple[str, ...]]] = {}
    texts: dict[int, tuple[str, ...]] = {}  # comparisons share their premises: read each tuple once
    for comparison in comparisons:
        key = id(comparison.premises)
        if key not in texts:
            texts[key] = tuple({premise.text for premise in comparison.premises})
        premises_of.setdefault(comparison.hypothesis.text, {})[key] = texts[key]
    return sum(
        len(groups[0]) if len(groups) == 1 else len(set().union(*groups))
        for groups in ([*by_key.values()] for by_key in premises_of.values())
    )


class Verdicts:
    """What the NLI model said about every pair."""

    def __init__(self, pairs: Sequence[Pair], probabilities: Float32) -> None:
        """Checks that there is an answer for every pair.

        Args:
            pairs: as submitted.
            probabilities: shape (pairs, 3), columns entailment, neutral, contradiction.

        Raises:
            ModelOutputError: wrong shape, or values that are not finite.
        """
        if probabilities.shape != (len(pairs), _COLUMNS):
            raise ModelOutputError(f"{len(pairs)} pairs got probabilities of shape {probabilities.shape}")
        if not np.isfinite(probabilities).all():
            raise ModelOutputError("the NLI model returned values that are not finite")
        self._rows = {pair: row for row, pair in enumerate(pairs)}
        self._probabilities = probabilities.astype(np.float64).clip(0, 1)

    def best(self, comparison: Comparison, hit_threshold: float) -> EntailmentEvidence:
        """Returns the chosen premise with the highest entailment; the first one on a tie."""
        hypothesis = comparison.hypothesis
        if not comparison.chosen:
            return EntailmentEvidence(hypothesis, None, None, 0.0, 0.0, hit=False)
        rows = [self._rows[comparison.premises[index].text, hypothesis.text] for index in comparison.chosen]
        best = int(self._probabilities[rows, ENTAILMENT].argmax())
        entailment = float(self._probabilities[rows[best], ENTAILMENT])
        return EntailmentEvidence(
            hypothesis=hypothesis,
            premise=comparison.premises[comparison.chosen[best]],
            premise_index=comparison.chosen[best],
            entailment=entailment,
            contradiction=float(self._probabilities[rows[best], CONTRADICTION]),
            hit=entailment >= hit_threshold,
        )
