"""The summary of a bulk run."""

import io

import pytest
from google.rpc import code_pb2
from hypothesis import given
from hypothesis import strategies as st
from precis.v1 import common_pb2
from precis.v1 import evaluate_pb2 as pb
from rich.console import Console

from server.cli.console import SHOWN_ITEMS
from server.cli.errors import InputError
from server.cli.evaluate.evaluations import Candidate, EvaluateTally
from server.cli.tally import Answer
from tests.unit.server.cli.evaluate.evaluations import answered, candidate, evaluation

EvaluateAnswer = Answer[Candidate, pb.EvaluateResponse]


def answer(loss: float, item_id: str = "") -> EvaluateAnswer:
    response = pb.EvaluateResponse(loss=loss)
    response.length.score.applicable = True
    response.length.score.score = 1 - loss
    return answered(candidate(item_id), response)


def failure(item_id: str) -> EvaluateAnswer:
    error = common_pb2.ItemError(code=code_pb2.INVALID_ARGUMENT, message="wrong [red]")
    return EvaluateAnswer(item_id, None, None, error, "")


def printed(summary: EvaluateTally) -> str:
    file = io.StringIO()
    summary.print(Console(file=file, width=120))
    return file.getvalue()


def test_the_worst_items_come_first_and_the_earlier_one_of_equals() -> None:
    summary = EvaluateTally()
    for number in range(100):
        summary.add(answer((number % 50) / 100, f"item-{number}"))
    rows = printed(summary).split("worst items")[1].split()
    names = [word for word in rows if word.startswith("item-")]
    assert names[:4] == ["item-49", "item-99", "item-48", "item-98"]
    assert len(names) == SHOWN_ITEMS


def test_mean_and_deciles_are_over_the_answered_items() -> None:
    summary = EvaluateTally()
    for number in range(11):
        summary.add(answer(number / 10))
    summary.add(failure("bad"))
    [loss] = [line.split() for line in printed(summary).splitlines() if line.split()[:1] == ["loss"]]
    assert loss == ["loss", "0.500", "0.100", "0.500", "0.900", "11"]
    assert summary.item_count == 12


def test_a_component_counts_where_it_applies() -> None:
    summary = EvaluateTally()
    summary.add(answer(0.4))
    assert summary.scores["length"] == [pytest.approx(0.6)]
    assert summary.scores["facts"] == []


def test_failed_items_are_shown_but_not_all_of_them() -> None:
    summary = EvaluateTally()
    for number in range(SHOWN_ITEMS + 5):
        summary.add(failure(f"bad-{number}"))
    text = printed(summary)
    assert "15 items, 15 failed" in text
    assert text.count("INVALID_ARGUMENT: wrong [red]") == SHOWN_ITEMS
    assert "5 more failed items" in text


def test_no_items_pass_no_gate() -> None:
    with pytest.raises(InputError, match="there are no items"):
        EvaluateTally(fail_over=0.4).check()


def test_losses_are_broken_down_by_category_when_items_have_one() -> None:
    summary = EvaluateTally()
    for number, category in enumerate(("News", "Law", "News", "")):
        summary.add(answered(candidate(category=category), evaluation(number / 10)))
    rows = [line.split() for line in printed(summary).split("loss by category")[1].splitlines()]
    assert [row[:2] for row in rows if row][2:5] == [["(none)", "0.300"], ["Law", "0.100"], ["News", "0.100"]]
    plain = EvaluateTally()
    plain.add(answered(candidate(), evaluation()))
    assert "category" not in printed(plain)


def test_categories_are_bounded() -> None:
    summary = EvaluateTally()
    for number in range(300):
        summary.add(answered(candidate(category=f"kind {number}"), evaluation()))
    assert len(summary.categories) == 101
    assert len(dict(summary.categories)["(others)"]) == 200


@given(st.lists(st.integers(0, 5)), st.integers(1, 4))
def test_a_tally_keeps_what_a_stable_sort_would_put_first(losses: list[int], limit: int) -> None:
    tally = EvaluateTally(keeps_page=True, whole_limit=limit)
    for number, loss in enumerate(losses):
        tally.add(answered(candidate(str(number)), pb.EvaluateResponse(loss=loss)))
    order = [str(number) for number in sorted(range(len(losses)), key=lambda number: -losses[number])]
    assert [item.id for _, item in tally.whole] == order[:limit]
    assert [row.id for row in tally.worst] == order[:10]
