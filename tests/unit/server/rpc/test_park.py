"""A client's stream ends when the server stops."""

import asyncio
from collections.abc import AsyncGenerator

from server.rpc.streams import until_stopping


class Source:
    """Events that a test puts there, and whether their generator was closed."""

    def __init__(self, *events: int | None) -> None:
        self.queue: asyncio.Queue[int | None] = asyncio.Queue()
        self.is_closed = False
        for event in events:
            self.queue.put_nowait(event)

    async def events(self) -> AsyncGenerator[int, None]:
        try:
            while (event := await self.queue.get()) is not None:
                yield event
        finally:
            await asyncio.sleep(0)  # what it has to end takes its time
            self.is_closed = True


async def test_all_events_pass_while_the_server_runs() -> None:
    source = Source(1, 2, None)
    assert [event async for event in until_stopping(asyncio.Event(), source.events())] == [1, 2]
    assert source.is_closed


async def test_a_silent_stream_is_closed_when_the_server_stops() -> None:
    source, stopping = Source(), asyncio.Event()
    asyncio.get_running_loop().call_soon(stopping.set)
    assert [event async for event in until_stopping(stopping, source.events())] == []
    assert source.is_closed
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_events_that_are_there_already_are_told_first() -> None:
    source, stopping = Source(1, 2), asyncio.Event()
    stopping.set()
    events = until_stopping(stopping, source.events())
    assert [await anext(events), await anext(events)] == [1, 2]
    assert [event async for event in events] == []


async def test_a_reader_that_leaves_closes_the_source() -> None:
    source = Source(1)
    events = until_stopping(asyncio.Event(), source.events())
    assert await anext(events) == 1
    await events.aclose()
    assert source.is_closed
    assert asyncio.all_tasks() == {asyncio.current_task()}
