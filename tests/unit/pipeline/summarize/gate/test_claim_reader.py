"""Sentences are read in turns of the callers."""

import asyncio
from collections.abc import Sequence

import numpy as np

from pipeline.protocols import Float32, ModelIdentity
from pipeline.summarize.gate.gate import ClaimReader
from pipeline.support.claim_support import Hypothesis, SupportConfig


class SteppedEntailment:
    """Says whose sentences it has to read, and answers when it is told to."""

    identity = ModelIdentity("stepped-nli", "1", "c" * 64)

    def __init__(self) -> None:
        self.calls: asyncio.Queue[tuple[str, asyncio.Event]] = asyncio.Queue()

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        go_on = asyncio.Event()
        self.calls.put_nowait((pairs[0][1].split()[0], go_on))
        await go_on.wait()
        return np.tile(np.array([0.9, 0.1, 0.0], dtype=np.float32), (len(pairs), 1))


def claims_of(caller: str, count: int) -> list[Hypothesis]:
    return [Hypothesis(f"{caller} says {number}", (f"{number} is said",), 1.0) for number in range(count)]


async def test_a_short_answer_of_one_caller_does_not_wait_for_the_long_ones_of_another() -> None:
    model = SteppedEntailment()
    reader = ClaimReader(model, 1, SupportConfig())
    async with asyncio.TaskGroup() as group:
        anns = [group.create_task(reader.read(claims_of("ann", 256), caller="ann")) for _ in range(3)]
        caller, go_on = await model.calls.get()
        bobs = group.create_task(reader.read(claims_of("bob", 3), caller="bob"))
        order = [caller]
        while caller != "bob":
            go_on.set()
            caller, go_on = await model.calls.get()
            order.append(caller)
        go_on.set()
        assert [support.is_supported for support in await bobs] == [True] * 3
        for task in anns:
            task.cancel()
    assert order == ["ann", "bob"]


async def test_no_more_answers_are_read_at_once_than_the_settings_say() -> None:
    model = SteppedEntailment()
    reader = ClaimReader(model, 2, SupportConfig())
    names = ("ann", "bob", "cid", "dan")
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(reader.read(claims_of(name, 1), caller=name))
        begun = [await model.calls.get() for _ in range(2)]
        assert model.calls.empty()
        for _, go_on in begun:
            go_on.set()
        begun += [await model.calls.get() for _ in range(2)]
        for _, go_on in begun:
            go_on.set()
    assert [caller for caller, _ in begun] == list(names)
