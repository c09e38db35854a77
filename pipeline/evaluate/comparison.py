"""A hypothesis and the premises that it is compared with, and from these all NLI pairs of a request."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.model_answers import Pair, PairScores
from pipeline.reading.passage import TextSpan


@dataclass(frozen=True, slots=True)
class EntailmentEvidence:
    """A hypothesis with the premise that supports it best.

    Attributes:
        premise: the window with the highest entailment, the first one on a tie; None when there was no premise.
        premise_index: its place among the premises that were offered; None with `premise`.
        entailment: probability, in [0, 1], as `contradiction` of the same pair.
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

    def best(self, scores: PairScores, hit_threshold: float) -> EntailmentEvidence:
        """Returns the chosen premise with the highest entailment; the first one on a tie."""
        hypothesis = self.hypothesis.text
        texts = [self.premises[index].text for index in self.chosen]
        best = scores.best(texts, hypothesis)
        if best is None:
            return EntailmentEvidence(self.hypothesis, None, None, 0.0, 0.0, hit=False)
        entailment = scores.entailment(texts[best], hypothesis)
        return EntailmentEvidence(
            hypothesis=self.hypothesis,
            premise=self.premises[self.chosen[best]],
            premise_index=self.chosen[best],
            entailment=entailment,
            contradiction=scores.contradiction(texts[best], hypothesis),
            hit=entailment >= hit_threshold,
        )


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
