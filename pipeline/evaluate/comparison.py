"""Statements beside a text: which of its passages speak of each, and whether they support it, as the judge reads it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from pipeline.model_answers import Pair, PairScores
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel, PremiseFinder, Premises, SupportConfig, read_support


@dataclass(frozen=True, slots=True)
class EntailmentEvidence:
    """A statement with the passage that supports it best.

    Attributes:
        premise: the passage with the highest entailment, the longer one on a tie; None when there was none.
        entailment: by that passage, in [0, 1].
        contradiction: the greatest by a passage, in [0, 1]; 0 for a statement that stands there word for word.
        probability: that the text supports the statement, in (0, 1), calibrated.
        hit: whether probability >= hit_threshold, and nothing that was read contradicts the statement.
        sentence_index: the sentence of the passage that has most of the statement's words; None with `premise`.
    """

    hypothesis: TextSpan
    premise: TextSpan | None
    entailment: float
    contradiction: float
    probability: float
    hit: bool
    sentence_index: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Statements, and for each the passages of a text that speak of it."""

    statements: tuple[TextSpan, ...] = ()
    premises: tuple[Premises, ...] = ()

    @classmethod
    def of(cls, statements: Iterable[TextSpan], text: PremiseFinder) -> Self:
        """Finds the passages: at most two for a statement, however long the text is."""
        statements = tuple(statements)
        return cls(statements, tuple(text.find(statement.text) for statement in statements))

    @property
    def pairs(self) -> list[Pair]:
        """What the NLI model is asked."""
        return [pair for premises in self.premises for pair in premises.hypothesis.pairs]

    def read(self, scores: PairScores, hit_threshold: float) -> list[EntailmentEvidence]:
        """Returns what the text says of each statement."""
        config = SupportConfig(supported=hit_threshold, partly_supported=hit_threshold)
        return [
            _evidence(statement, premises, scores, config)
            for statement, premises in zip(self.statements, self.premises, strict=True)
        ]


def _evidence(statement: TextSpan, premises: Premises, scores: PairScores, config: SupportConfig) -> EntailmentEvidence:
    support = read_support(premises.hypothesis, scores, config)
    if support.premise is None:
        return EntailmentEvidence(statement, None, 0.0, 0.0, support.probability, hit=False, sentence_index=None)
    passage = premises.passages[support.premise]
    return EntailmentEvidence(
        hypothesis=statement,
        premise=passage.span,
        entailment=support.entailment,
        contradiction=support.contradiction,
        probability=support.probability,
        hit=support.label is ClaimLabel.SUPPORTED,
        sentence_index=passage.best[0],
    )
