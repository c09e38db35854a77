"""Streams that clients hold open end when the server stops."""

import asyncio
from collections.abc import AsyncIterator

from server.rpc.streams import until_stopping


async def numbers(queue: "asyncio.Queue[int | None]") -> AsyncIterator[int]:
    while (number := await queue.get()) is not None:
        yield number


async def test_all_items_pass_while_the_server_runs() -> None:
    queue: asyncio.Queue[int | None] = asyncio.Queue()
    for number in (1, 2, None):
        queue.put_nowait(number)
    assert [item async for item in until_stopping(asyncio.Event(), numbers(queue))] == [1, 2]


async def test_a_silent_stream_ends_when_the_server_stops() -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().call_soon(stopping.set)
    assert [item async for item in until_stopping(stopping, numbers(asyncio.Queue()))] == []


async def test_an_item_that_was_read_is_not_lost() -> None:
    queue: asyncio.Queue[int | None] = asyncio.Queue()
    stopping = asyncio.Event()
    queue.put_nowait(1)
    stopping.set()
    items = [item async for item in until_stopping(stopping, numbers(queue))]
    assert items == [1] or not queue.empty()


async def test_no_task_is_left_behind() -> None:
    stopping = asyncio.Event()
    stopping.set()
    async for _ in until_stopping(stopping, numbers(asyncio.Queue())):
        pass
    await asyncio.sleep(0)  # one turn of the loop, in which cancelled tasks end
    assert asyncio.all_tasks() == {asyncio.current_task()}
