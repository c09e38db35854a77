"""Measures how far key points are covered (README, Evidence).

A key point is a whole sentence, which a summary never repeats to the last word, so entailment alone is all or nothing.
Its covered share is the greater of the entailment and the told share: that of its words which the grounded sentences
have between them, for a summary may tell a point in two places. What it tells wrongly is for the claims to say.
"""

from collections.abc import Collection
from dataclasses import dataclass

from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.plan import EvidencePlan, FactPlan
from pipeline.judge.evidence.table import KeyPoint, KeyPointCoverage
from pipeline.judge.evidence.text.subject import told_share
from pipeline.model_answers import PairScores
from pipeline.protocols import Tokenizer


def covered_of(share: float, config: EvidenceConfig) -> KeyPointCoverage:
    """Returns the coverage label of a covered share; a share on an edge takes the lower band."""
    if share > config.fully_covered:
        return KeyPointCoverage.FULLY
    return KeyPointCoverage.NOT if share < config.partly_covered else KeyPointCoverage.PARTIAL


@dataclass(frozen=True, slots=True, eq=False)
class KeyPointReader:
    """Reads facts of the source as key points.

    Attributes:
        told: stems of the content words of the summary's grounded sentences.
    """

    plan: EvidencePlan
    told: Collection[str]
    tokenizer: Tokenizer

    def read(self, sentence: int, fact: FactPlan, scores: PairScores) -> KeyPoint:
        """Returns a fact with its coverage.

        Args:
            sentence: of the source, that states it.
        """
        source = self.plan.draft.source
        stems = dict.fromkeys(source.read.table.content_stems(source.read.ranges[sentence]))
        share = told_share(source.index, stems, self.told)
        entailment = scores.entailment(*fact.pair) if fact.pair else 0.0
        covered = max(entailment, share)
        return KeyPoint(
            passage=fact.statement,
            token_count=len(self.tokenizer.offsets(fact.statement.text)),
            entailment=entailment,
            content_share=share,
            covered_share=covered,
            coverage=covered_of(covered, self.plan.config),
            best=self.plan.draft.summary.read.passages[fact.passage.best[0]] if fact.passage else None,
        )
