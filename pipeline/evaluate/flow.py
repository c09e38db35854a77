"""Flow: does the summary visit the points of the outline, and in their order?"""

from collections.abc import Sequence
from itertools import combinations

from pipeline.evaluate.comparison import EntailmentEvidence
from pipeline.evaluate.result import COVERAGE_WEIGHT, ORDER_WEIGHT, FlowResult, OutlineInversion, OutlinePoint


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
