"""A call with many pairs has few of them in the queue at a time."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from inference.call import Call
from inference.errors import QueueFullError
from inference.front_doors import NliModel
from server.rpc.models import SHARE, BoundEntailment, CallScope

PAIRS = [(f"premise {number}", f"hypothesis {number}") for number in range(3 * SHARE + 1)]


class CountingModel:
    """Answers with the length of each premise; the queue is full at the submissions that are named."""

    def __init__(self, *full_at: int, retry_after_s: float = 0.0) -> None:
        manifest = SimpleNamespace(name="nli", revision="1", precision="fp32")
        self.model = SimpleNamespace(directory=SimpleNamespace(manifest=manifest, model_sha256="0" * 64))
        self.sizes: list[int] = []
        self._full_at, self._retry_after_s = set(full_at), retry_after_s

    async def entail(self, pairs: Sequence[tuple[str, str]], call: Call) -> Any:  # noqa: ANN401 - part of a batch
        if len(self.sizes) in self._full_at:
            self._full_at.remove(len(self.sizes))
            raise QueueFullError(self._retry_after_s)
        self.sizes.append(len(pairs))
        return SimpleNamespace(
            values=np.array([[len(premise), 0, 0] for premise, _ in pairs], np.float32),
            truncated=[premise.endswith("0") for premise, _ in pairs],
            token_counts=[1] * len(pairs),
            timings=SimpleNamespace(queue_s=0.0),
            errors={},
            marks=[((0, len(premise), 0.5),) for premise, _ in pairs],
        )

    async def check(self, pairs: Sequence[tuple[str, str]], call: Call) -> Any:  # noqa: ANN401 - part of a batch
        return await self.entail(pairs, call)


def bound(model: CountingModel, scope: CallScope) -> BoundEntailment:
    return BoundEntailment(cast("NliModel", model), scope)


async def test_a_long_list_is_asked_in_shares_and_answered_in_order() -> None:
    model, scope = CountingModel(), CallScope(Call())
    scores = await bound(model, scope).entail(PAIRS)
    assert model.sizes == [SHARE, SHARE, SHARE, 1]
    assert scores[:, 0].tolist() == [len(premise) for premise, _ in PAIRS]
    assert scope.usage.item_count == len(PAIRS)
    assert scope.usage.truncated_pair_count == sum(premise.endswith("0") for premise, _ in PAIRS)


async def test_marks_are_asked_in_shares_too() -> None:
    model = CountingModel()
    checked = await bound(model, CallScope(Call())).check(PAIRS)
    assert model.sizes == [SHARE, SHARE, SHARE, 1]
    assert [mark.end for (mark,) in checked.marks] == [len(premise) for premise, _ in PAIRS]
    assert len(checked.probabilities) == len(PAIRS)


async def test_a_call_that_was_admitted_waits_for_room_for_its_next_share() -> None:
    model = CountingModel(2)
    assert len(await bound(model, CallScope(Call())).entail(PAIRS)) == len(PAIRS)


async def test_a_call_that_finds_the_queue_full_is_refused_at_once() -> None:
    model = CountingModel(0, retry_after_s=1.0)
    with pytest.raises(QueueFullError):
        await bound(model, CallScope(Call())).entail(PAIRS)
    assert model.sizes == []
