"""Items of a stream are worked on concurrently, within a bound, and nothing outlives the reader."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from server.rpc.streams import map_concurrently


class Source:
    """Numbers without end; counts how many were taken."""

    def __init__(self, count: int = 1_000_000) -> None:
        self.taken = 0
        self._count = count

    def __aiter__(self) -> AsyncIterator[int]:
        return self

    async def __anext__(self) -> int:
        if self.taken >= self._count:
            raise StopAsyncIteration
        self.taken += 1
        return self.taken


class Gate:
    """Work that ends when it is told to."""

    def __init__(self) -> None:
        self.started: list[int] = []
        self.cancelled: list[int] = []
        self._open: dict[int, asyncio.Event] = {}

    def event(self, item: int) -> asyncio.Event:
        return self._open.setdefault(item, asyncio.Event())

    async def __call__(self, item: int) -> int:
        self.started.append(item)
        try:
            await self.event(item).wait()
        except asyncio.CancelledError:
            self.cancelled.append(item)
            raise
        return item


async def settle() -> None:
    """Lets everything run that can run."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_every_item_is_answered_once() -> None:
    async def double(item: int) -> int:
        return 2 * item

    results = [result async for result in map_concurrently(Source(100), double, limit=7)]
    assert sorted(results) == [2 * item for item in range(1, 101)]


async def test_results_come_in_the_order_of_completion() -> None:
    gate = Gate()
    results = map_concurrently(Source(3), gate, limit=3)
    seen = []
    for item in (3, 1, 2):
        gate.event(item).set()
        seen.append(await anext(results))
    assert seen == [3, 1, 2]
    assert await anext(results, None) is None


async def test_no_more_than_the_limit_is_worked_on_and_one_is_read_ahead_at_most() -> None:
    gate, source = Gate(), Source()
    results = map_concurrently(source, gate, limit=4)
    async with aclosing(results):
        first = asyncio.ensure_future(anext(results))
        await settle()
        assert gate.started == [1, 2, 3, 4]
        assert source.taken == 4
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_a_slow_reader_stops_the_reading() -> None:
    source = Source()

    async def work(item: int) -> int:
        return item

    results = map_concurrently(source, work, limit=4)
    async with aclosing(results):
        await anext(results)
        taken = source.taken
        await settle()  # the reader asks for nothing, however much could be done
        assert source.taken == taken <= 6


async def test_leaving_early_cancels_all_work() -> None:
    gate = Gate()
    results = map_concurrently(Source(), gate, limit=3)
    gate.event(1).set()
    assert await anext(results) == 1
    await results.aclose()
    assert sorted(gate.cancelled) == [item for item in sorted(gate.started) if item != 1]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_the_reader_cancels_all_work() -> None:
    gate = Gate()

    async def read() -> None:
        async for _ in map_concurrently(Source(), gate, limit=3):
            pass

    reader = asyncio.create_task(read())
    await settle()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert sorted(gate.cancelled) == [1, 2, 3]


async def test_an_error_of_the_work_ends_the_map_and_the_other_work() -> None:
    gate = Gate()

    async def work(item: int) -> int:
        if item == 2:
            raise ValueError(item)
        return await gate(item)

    with pytest.raises(ValueError, match="2"):
        await anext(map_concurrently(Source(), work, limit=3))
    assert 1 in gate.cancelled
