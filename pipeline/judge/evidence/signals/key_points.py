"""Measures how far key points are covered (docs/concepts/evidence.md).

A key point is a whole sentence, which a summary never repeats to the last word, so entailment alone is all or nothing.
Its covered share is the greater of the entailment and the told share, as far as a summary has room: that of its words
which those grounded sentences that speak of it have between them, for a summary may tell a point in two places. What it
tells wrongly is for the claims to say.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pipeline.judge.config import EvidenceConfig
from pipeline.judge.evidence.plan import EvidencePlan, FactPlan
from pipeline.judge.evidence.table import KeyPoint, KeyPointCoverage
from pipeline.model_answers import PairScores
from pipeline.protocols import Tokenizer
from pipeline.reading.salience import told_shares

_ROOM = 0.4
"""Share of a sentence, by weight, that a summary has room for: reference summaries have .49 of a central one."""


def covered_of(share: float, config: EvidenceConfig) -> KeyPointCoverage:
    """Returns the coverage label of a covered share; a share on an edge takes the lower band."""
    if share > config.fully_covered:
        return KeyPointCoverage.FULLY
    return KeyPointCoverage.NOT if share < config.partly_covered else KeyPointCoverage.PARTIAL


@dataclass(frozen=True, slots=True, eq=False)
class KeyPointReader:
    """Reads facts of the source as key points.

    Attributes:
        shares: told shares, by sentence of the source.
    """

    plan: EvidencePlan
    shares: Mapping[int, float]
    tokenizer: Tokenizer

    @classmethod
    def of(cls, plan: EvidencePlan, facts: Iterable[int], told: Iterable[Sequence[str]], tokenizer: Tokenizer) -> Self:
        """Measures what is told of facts.

        Args:
            facts: sentences of the source.
            told: stems of the content words of each grounded sentence.
        """
        source = plan.draft.source
        stems = {at: source.read.table.content_stems(source.read.ranges[at]) for at in facts}
        return cls(plan, told_shares(source.index, stems, told), tokenizer)

    def read(self, sentence: int, fact: FactPlan, scores: PairScores) -> KeyPoint:
        """Returns a fact with its coverage.

        Args:
            sentence: of the source, that states it.
        """
        share = self.shares[sentence]
        entailment = scores.entailment(*fact.pair) if fact.pair else 0.0
        covered = max(entailment, min(1.0, share / _ROOM))
        return KeyPoint(
            passage=fact.statement,
            token_count=len(self.tokenizer.offsets(fact.statement.text)),
            entailment=entailment,
            content_share=share,
            covered_share=covered,
            coverage=covered_of(covered, self.plan.config),
            best=self.plan.draft.summary.read.passages[fact.passage.best[0]] if fact.passage else None,
        )
