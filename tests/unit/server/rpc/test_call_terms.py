"""Deadline and priority of an RPC become those of its items."""

import time
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from precis.v1 import common_pb2

from inference.call import Call, Priority
from inference.errors import DeadlineExpiredError
from inference.front_doors import CheckBatch, InferenceTimings
from pipeline.protocols import ClaimChecker, TokenMark
from server.rpc import models
from server.rpc.models import BoundEmbedder, BoundEntailment, CallScope, deadline_s_of, priority_violations, to_call
from tests.exported_spans import exported_spans


class Context:
    """The part of a gRPC context that is asked."""

    def __init__(self, remaining_s: float | None) -> None:
        self._remaining_s = remaining_s

    def time_remaining(self) -> float | None:
        return self._remaining_s


def context(remaining_s: float | None) -> Any:  # noqa: ANN401
    return Context(remaining_s)


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


def test_every_priority_of_the_contract_is_known() -> None:
    assert [priority_violations(number) for number in common_pb2.Priority.values()] == [[], [], []]


def test_an_unknown_priority_is_named() -> None:
    [violation] = priority_violations(-1, "request.priority")
    assert violation.field == "request.priority"


class Model:
    """The part of a front door that is asked. Its manifest names it."""

    def __init__(self) -> None:
        manifest = SimpleNamespace(name="fake", revision="1", precision="fp32")
        self.model = SimpleNamespace(directory=SimpleNamespace(manifest=manifest, model_sha256="a" * 64))

    async def answer(self, items: list[Any], call: Call) -> Any:  # noqa: ANN401
        return SimpleNamespace(
            timings=SimpleNamespace(queue_s=0.0), token_counts=items, errors={}, truncated=[False], values=items
        )

    entail = embed = answer


async def test_a_submission_is_a_span_that_counts_and_names_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = next(exported_spans(models, monkeypatch))
    scope, model = CallScope(Call(), name="judge"), cast("Any", Model())
    await BoundEntailment(model, scope).entail([("premise", "hypothesis")] * 3)
    await BoundEmbedder(model, scope).embed(["text"] * 2)
    found = [(span.name, dict(span.attributes or {})) for span in exporter.get_finished_spans()]
    assert found == [("judge entail", {"precis.pair_count": 3}), ("judge embed", {"precis.text_count": 2})]


async def test_a_check_gives_marks_beside_the_probabilities() -> None:
    async def check(pairs: list[Any], call: Call) -> CheckBatch:
        timings = InferenceTimings(queue_s=0.5, compute_s=0.0)
        scores = np.array([[0.2, 0.7, 0.1]], np.float32)
        return CheckBatch(scores, {}, (9,), (True,), timings, cache_hit_count=0, marks=(((0, 4, 0.25), (5, 9, 0.75)),))

    scope, model = CallScope(Call()), cast("Any", Model())
    model.check = check
    checker = BoundEntailment(model, scope)
    assert isinstance(checker, ClaimChecker)
    checked = await checker.check([("premise", "some text")])
    assert checked.marks == ((TokenMark(0, 4, 0.25), TokenMark(5, 9, 0.75)),)
    assert checked.probabilities.shape == (1, 3)
    assert (scope.usage.item_count, scope.usage.truncated_pair_count, scope.usage.queue_ms) == (1, 1, 500)
