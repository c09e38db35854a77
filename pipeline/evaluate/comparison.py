"""Hypotheses and the premises that they are compared with, and from these all NLI pairs of a request."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.model_answers import Embeddings, Pair, PairScores
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
    """Hypotheses against the windows of a text, or of several.

    Attributes:
        premises: all that exact mode scores; may be empty.
        chosen: for each hypothesis the indices of the premises to score, rising; all of them in exact mode.
    """

    hypotheses: tuple[TextSpan, ...] = ()
    premises: tuple[TextSpan, ...] = ()
    chosen: tuple[Sequence[int], ...] = ()

    @classmethod
    def exact(cls, hypotheses: Iterable[TextSpan], premises: tuple[TextSpan, ...]) -> "Comparison":
        """Compares with all premises."""
        hypotheses = tuple(hypotheses)
        return cls(hypotheses, premises, (range(len(premises)),) * len(hypotheses))

    @property
    def texts(self) -> list[str]:
        """What must be embedded to prune."""
        return [span.text for span in (*self.hypotheses, *self.premises)]

    def pruned(self, embeddings: Embeddings, top_k: int) -> "Comparison":
        """Keeps, for each hypothesis, the `top_k` premises with the highest cosine; the first ones on a tie."""
        if not self.hypotheses or len(self.premises) <= top_k:
            return self
        hypotheses, premises = self.texts[: len(self.hypotheses)], self.texts[len(self.hypotheses) :]
        ranked = np.argsort(-embeddings.cosines(hypotheses, premises), axis=1, kind="stable")[:, :top_k]
        return replace(self, chosen=tuple(map(tuple, np.sort(ranked).tolist())))  # in the order of the text

    def pairs(self) -> Iterator[Pair]:
        """Yields the pairs to score."""
        for hypothesis, chosen in zip(self.hypotheses, self.chosen, strict=True):
            for index in chosen:
                yield self.premises[index].text, hypothesis.text

    def best(self, scores: PairScores, hit_threshold: float) -> list[EntailmentEvidence]:
        """Returns for each hypothesis its chosen premise with the highest entailment; the first one on a tie."""
        return [
            self._best(hypothesis, chosen, scores, hit_threshold)
            for hypothesis, chosen in zip(self.hypotheses, self.chosen, strict=True)
        ]

    def _best(
        self, hypothesis: TextSpan, chosen: Sequence[int], scores: PairScores, hit_threshold: float
    ) -> EntailmentEvidence:
        texts = [self.premises[index].text for index in chosen]
        best = scores.best(texts, hypothesis.text)
        if best is None:
            return EntailmentEvidence(hypothesis, None, None, 0.0, 0.0, hit=False)
        entailment = scores.entailment(texts[best], hypothesis.text)
        return EntailmentEvidence(
            hypothesis=hypothesis,
            premise=self.premises[chosen[best]],
            premise_index=chosen[best],
            entailment=entailment,
            contradiction=scores.contradiction(texts[best], hypothesis.text),
            hit=entailment >= hit_threshold,
        )


def unique_pairs(comparisons: Iterable[Comparison]) -> list[Pair]:
    """Returns the pairs to score, in the order in which they are first asked for."""
    return list(dict.fromkeys(pair for comparison in comparisons for pair in comparison.pairs()))


def exact_pair_count(comparisons: Sequence[Comparison]) -> int:
    """Returns how many pairs exact mode would score, repeats left out, without building them."""
    places: dict[str, set[int]] = {}  # of each hypothesis
    for place, comparison in enumerate(comparisons):
        for hypothesis in comparison.hypotheses:
            places.setdefault(hypothesis.text, set()).add(place)
    premises = [{premise.text for premise in comparison.premises} for comparison in comparisons]
    alike = Counter(map(frozenset, places.values()))
    return sum(count * len(set().union(*(premises[place] for place in these))) for these, count in alike.items())
