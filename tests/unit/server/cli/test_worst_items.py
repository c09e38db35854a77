"""The worst of many, without keeping the others."""

from hypothesis import given
from hypothesis import strategies as st
from precis.v1 import evaluate_pb2 as pb

from server.cli.evaluate.evaluations import EvaluateTally
from tests.unit.server.cli.evaluate.evaluations import answered, candidate


@given(st.lists(st.integers(0, 5)), st.integers(1, 4))
def test_a_tally_keeps_what_a_stable_sort_would_put_first(losses: list[int], limit: int) -> None:
    tally = EvaluateTally(keeps_page=True, whole_limit=limit)
    for number, loss in enumerate(losses):
        tally.add(answered(candidate(str(number)), pb.EvaluateResponse(loss=loss)))
    order = [str(number) for number in sorted(range(len(losses)), key=lambda number: -losses[number])]
    assert [item.id for _, item in tally.whole] == order[:limit]
    assert [row.id for row in tally.worst] == order[:10]
