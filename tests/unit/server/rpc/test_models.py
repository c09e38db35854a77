"""Deadline and priority of an RPC become those of its items, of which few at a time are in the queue."""

import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from precis.v1 import common_pb2

from inference.call import Call, Priority
from inference.errors import DeadlineExpiredError, QueueFullError
from pipeline.errors import InvalidInputError
from pipeline.protocols import ClaimChecker, ModelIdentity, TokenMark
from server.rpc import models
from server.rpc.models import SHARE, BoundEmbedder, BoundEntailment, CallScope, deadline_s_of, to_call
from server.rpc.record import CallRecord, serving
from tests.exported_spans import exported_spans

PAIRS = [(f"premise {number}", f"hypothesis {number}") for number in range(3 * SHARE + 1)]
IDENTITY = ModelIdentity("nli", "1", "0" * 64)


@pytest.fixture(autouse=True)
def _call() -> Iterator[None]:
    with serving(CallRecord("call", 0.0)):
        yield


def context(remaining_s: float | None) -> Any:  # noqa: ANN401
    """The part of a gRPC context that is asked."""
    return SimpleNamespace(time_remaining=lambda: remaining_s)


def test_a_deadline_is_moved_to_the_monotonic_clock() -> None:
    before = time.monotonic()
    deadline_s = deadline_s_of(context(5.0))
    assert deadline_s is not None
    assert before + 5.0 <= deadline_s <= time.monotonic() + 5.0


def test_no_deadline_stays_none() -> None:
    assert to_call(context(None), 0).deadline_s is None


def test_a_deadline_that_has_passed_is_refused_before_any_work() -> None:
    with pytest.raises(DeadlineExpiredError):
        to_call(context(0.0), 0)


@pytest.mark.parametrize(
    ("number", "default", "priority"),
    [
        (common_pb2.PRIORITY_UNSPECIFIED, Priority.INTERACTIVE, Priority.INTERACTIVE),
        (common_pb2.PRIORITY_UNSPECIFIED, Priority.BULK, Priority.BULK),
        (common_pb2.PRIORITY_INTERACTIVE, Priority.BULK, Priority.INTERACTIVE),
        (common_pb2.PRIORITY_BULK, Priority.INTERACTIVE, Priority.BULK),
    ],
)
def test_priorities_are_translated(number: int, default: Priority, priority: Priority) -> None:
    assert to_call(context(None), number, default=default).priority is priority


def test_an_unknown_priority_is_named_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match=r"priority: .* PRIORITY_INTERACTIVE \(1\), PRIORITY_BULK \(2\), got 7"):
        to_call(context(None), 7)


class CountingModel:
    """Answers with the length of each item; the queue is full at the submissions that are named."""

    def __init__(self, *full_at: int, retry_after_s: float = 0.0) -> None:
        self.sizes: list[int] = []
        self._full_at, self._retry_after_s = set(full_at), retry_after_s

    async def answer(self, items: Sequence[Any], call: Call) -> Any:  # noqa: ANN401 - part of a batch
        if len(self.sizes) in self._full_at:
            self._full_at.remove(len(self.sizes))
            raise QueueFullError(self._retry_after_s)
        self.sizes.append(len(items))
        lengths = [len(item[0]) for item in items]
        return SimpleNamespace(
            values=np.array([[length, 0, 0] for length in lengths], np.float32),
            truncated=[str(item[0]).endswith("0") for item in items],
            token_counts=[1] * len(items),
            queue_s=0.5,
            errors={},
            marks=[((0, length, 0.5),) for length in lengths],
        )

    entail = check = embed = answer


def bound(model: CountingModel, scope: CallScope | None = None) -> BoundEntailment:
    return BoundEntailment(cast("Any", model), scope or CallScope(Call()), IDENTITY)


async def test_a_submission_is_a_span_that_counts_and_names_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = next(exported_spans(models, monkeypatch))
    scope, model = CallScope(Call(), name="judge"), cast("Any", CountingModel())
    await bound(model, scope).entail([("premise", "hypothesis")] * 3)
    await BoundEmbedder(model, scope, IDENTITY).embed(["text"] * 2)
    found = [(span.name, dict(span.attributes or {})) for span in exporter.get_finished_spans()]
    assert found == [("judge entail", {"precis.pair_count": 3}), ("judge embed", {"precis.text_count": 2})]


async def test_a_long_list_is_asked_in_shares_and_answered_in_order() -> None:
    model, scope = CountingModel(), CallScope(Call())
    scores = await bound(model, scope).entail(PAIRS)
    assert model.sizes == [SHARE, SHARE, SHARE, 1]
    assert scores[:, 0].tolist() == [len(premise) for premise, _ in PAIRS]
    assert (scope.usage.item_count, scope.usage.queue_ms) == (len(PAIRS), 4 * 500)
    assert scope.usage.truncated_pair_count == sum(premise.endswith("0") for premise, _ in PAIRS)


async def test_marks_are_asked_in_shares_too() -> None:
    model = CountingModel()
    checker = bound(model)
    assert isinstance(checker, ClaimChecker)
    checked = await checker.check(PAIRS)
    assert model.sizes == [SHARE, SHARE, SHARE, 1]
    assert list(checked.marks) == [(TokenMark(0, len(premise), 0.5),) for premise, _ in PAIRS]
    assert checked.probabilities.shape == (len(PAIRS), 3)


async def test_a_call_that_was_admitted_waits_for_room_for_its_next_share() -> None:
    assert len(await bound(CountingModel(2)).entail(PAIRS)) == len(PAIRS)


async def test_a_call_that_finds_the_queue_full_is_refused_at_once() -> None:
    model = CountingModel(0, retry_after_s=1.0)
    with pytest.raises(QueueFullError):
        await bound(model).entail(PAIRS)
    assert model.sizes == []
