import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.comparison import EntailmentEvidence
from pipeline.evaluate.components import score_flow
from pipeline.evaluate.result import FlowResult
from pipeline.reading.passage import TextSpan

POINT = TextSpan("datum.summary.logical_outline[0]", 0, 1, "p", "p")


def flow(positions: list[int | None]) -> FlowResult:
    """Scores points whose best sentences are at these positions; None is a point that is not covered."""
    return score_flow(
        [
            EntailmentEvidence(POINT, POINT, 0 if position is None else position, 0.4, 0.0, hit=position is not None)
            for position in positions
        ]
    )


@pytest.mark.parametrize(
    ("positions", "coverage", "order", "inversions"),
    [
        ([0, 1, 2], 1, 1, ()),
        ([2, 1, 0], 1, 0, ((0, 1), (0, 2), (1, 2))),
        ([0, 2, 1], 1, 2 / 3, ((1, 2),)),
        ([1, 1, 1], 1, 1, ()),  # ties are not inversions
        ([3, None, 1], 2 / 3, 0, ((0, 2),)),
        ([None, 4, None, None], 1 / 4, 1, ()),  # one covered point is in order
        ([None, None], 0, 0, ()),
    ],
)
def test_coverage_and_order(positions: list[int | None], coverage: float, order: float, inversions: object) -> None:
    result = flow(positions)
    assert result.coverage == pytest.approx(coverage)
    assert result.order == pytest.approx(order)
    assert result.inversions == inversions
    assert result.score == pytest.approx(0.7 * coverage + 0.3 * order)
    assert [point.sentence_index for point in result.points] == positions


POSITIONS = st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=12)


@given(POSITIONS)
def test_sorted_positions_are_the_best_order(positions: list[int | None]) -> None:
    covered = sorted(position for position in positions if position is not None)
    in_order = flow([*covered, *([None] * (len(positions) - len(covered)))])
    assert 0 <= flow(positions).score <= in_order.score <= 1
    assert in_order.order == (1 if covered else 0)


@given(st.permutations(range(6)))
def test_reversing_distinct_positions_reverses_the_order(positions: list[int]) -> None:
    assert flow(list(positions)).order + flow(list(reversed(positions))).order == pytest.approx(1)
