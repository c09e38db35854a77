"""The components that entailment decides, facts and flow.

Facts: is what should be said there (recall), and is what is there right (precision)? Flow: does the summary visit the
points of the outline, and in their order?
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from pipeline.evaluate.comparison import EntailmentEvidence
from pipeline.evaluate.result import (
    COVERAGE_WEIGHT,
    ORDER_WEIGHT,
    FactsResult,
    FlowResult,
    OutlineInversion,
    OutlinePoint,
)


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


def score_flow(evidence: Sequence[EntailmentEvidence]) -> FlowResult:
    """Computes coverage and order over the outline points; there is at least one."""
    points = tuple(OutlinePoint(point, point.premise_index if point.hit else None) for point in evidence)
    covered = [(index, point.sentence_index) for index, point in enumerate(points) if point.sentence_index is not None]
    inversions = tuple(
        OutlineInversion(earlier, later)
        for (earlier, first), (later, second) in combinations(covered, 2)
        if first > second
    )
    coverage = len(covered) / len(points)
    order = _order(len(covered), len(inversions))
    return FlowResult(
        score=COVERAGE_WEIGHT * coverage + ORDER_WEIGHT * order,
        coverage=coverage,
        order=order,
        covered_count=len(covered),
        points=points,
        inversions=inversions,
    )


def _order(covered_count: int, inversion_count: int) -> float:
    """Returns the share of point pairs that are not inverted; 1 for a single point, 0 for none."""
    if covered_count <= 1:
        return float(covered_count)
    return 1 - inversion_count / (covered_count * (covered_count - 1) / 2)
