"""The best pair for one hypothesis: what every fact, sentence and outline point is judged by."""

from dataclasses import dataclass

from pipeline.text.passage import Passage


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

    hypothesis: Passage
    premise: Passage | None
    premise_index: int | None
    entailment: float
    contradiction: float
    hit: bool
