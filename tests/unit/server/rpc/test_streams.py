"""Streams: items worked on concurrently within a bound, ends with the server, and nothing left behind."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import pytest

from server.rpc.streams import map_concurrently, until_stopping
from tests.unit.inference.serving import settle


class Numbers:
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


async def test_every_item_is_answered_once() -> None:
    async def double(item: int) -> int:
        return 2 * item

    results = [result async for result in map_concurrently(Numbers(100), double, limit=7)]
    assert sorted(results) == [2 * item for item in range(1, 101)]


async def test_results_come_in_the_order_of_completion() -> None:
    gate = Gate()
    results = map_concurrently(Numbers(3), gate, limit=3)
    seen = []
    for item in (3, 1, 2):
        gate.event(item).set()
        seen.append(await anext(results))
    assert seen == [3, 1, 2]
    assert await anext(results, None) is None


async def test_no_more_than_the_limit_is_worked_on_and_one_is_read_ahead_at_most() -> None:
    gate, source = Gate(), Numbers()
    results = map_concurrently(source, gate, limit=4)
    async with aclosing(results):
        first = asyncio.ensure_future(anext(results))
        await settle(20)
        assert gate.started == [1, 2, 3, 4]
        assert source.taken == 4
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_a_slow_reader_stops_the_reading() -> None:
    source = Numbers()

    async def work(item: int) -> int:
        return item

    results = map_concurrently(source, work, limit=4)
    async with aclosing(results):
        await anext(results)
        taken = source.taken
        await settle(20)  # the reader asks for nothing, however much could be done
        assert source.taken == taken <= 6


async def test_leaving_early_cancels_all_work() -> None:
    gate = Gate()
    results = map_concurrently(Numbers(), gate, limit=3)
    gate.event(1).set()
    assert await anext(results) == 1
    await results.aclose()
    assert sorted(gate.cancelled) == [item for item in sorted(gate.started) if item != 1]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_the_reader_cancels_all_work() -> None:
    gate = Gate()

    async def read() -> None:
        async for _ in map_concurrently(Numbers(), gate, limit=3):
            pass

    reader = asyncio.create_task(read())
    await settle(20)
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
        await anext(map_concurrently(Numbers(), work, limit=3))
    assert 1 in gate.cancelled


class Events:
    """Events that a test puts there, and whether their generator was closed."""

    def __init__(self, *events: int | None) -> None:
        self.queue: asyncio.Queue[int | None] = asyncio.Queue()
        self.is_closed = False
        for event in events:
            self.queue.put_nowait(event)

    async def told(self) -> AsyncGenerator[int, None]:
        try:
            while (event := await self.queue.get()) is not None:
                yield event
        finally:
            await asyncio.sleep(0)  # what it has to end takes its time
            self.is_closed = True


async def test_all_events_pass_while_the_server_runs() -> None:
    source = Events(1, 2, None)
    assert [event async for event in until_stopping(asyncio.Event(), source.told())] == [1, 2]
    assert source.is_closed


async def test_a_silent_stream_is_closed_when_the_server_stops() -> None:
    source, stopping = Events(), asyncio.Event()
    asyncio.get_running_loop().call_soon(stopping.set)
    assert [event async for event in until_stopping(stopping, source.told())] == []
    assert source.is_closed
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_events_that_are_there_already_are_told_first() -> None:
    source, stopping = Events(1, 2), asyncio.Event()
    stopping.set()
    events = until_stopping(stopping, source.told())
    assert [await anext(events), await anext(events)] == [1, 2]
    assert [event async for event in events] == []


async def test_a_reader_that_leaves_closes_the_source() -> None:
    source = Events(1)
    events = until_stopping(asyncio.Event(), source.told())
    assert await anext(events) == 1
    await events.aclose()
    assert source.is_closed
    assert asyncio.all_tasks() == {asyncio.current_task()}
