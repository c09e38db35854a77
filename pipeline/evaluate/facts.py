"""Facts: is what should be said there (recall), and is what is there right (precision)?"""

from collections.abc import Sequence

import numpy as np

from pipeline.evaluate.comparison import EntailmentEvidence
from pipeline.evaluate.result import FactsResult


def score_facts(facts: Sequence[EntailmentEvidence], sentences: Sequence[EntailmentEvidence]) -> FactsResult:
    """Computes the F1 of recall over facts and precision over sentences; neither may be empty."""
    recall = sum(fact.hit for fact in facts) / len(facts)
    precision = sum(sentence.hit for sentence in sentences) / len(sentences)
    soft_recall = float(np.mean([fact.entailment for fact in facts]))
    soft_precision = float(np.mean([sentence.entailment for sentence in sentences]))
    return FactsResult(
        score=harmonic_mean(precision, recall),
        recall=recall,
        precision=precision,
        soft_score=harmonic_mean(soft_precision, soft_recall),
        soft_recall=soft_recall,
        soft_precision=soft_precision,
        facts=tuple(facts),
        sentences=tuple(sentences),
    )


def harmonic_mean(left: float, right: float) -> float:
    """Returns 2ab / (a + b), 0 when both are 0."""
    return 2 * left * right / (left + right) if left + right > 0 else 0.0
