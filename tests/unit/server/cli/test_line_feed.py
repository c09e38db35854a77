"""A blocking iterator is read without holding up the loop, and not further ahead than it should be."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from server.cli.files import feed


async def test_all_items_come_in_order() -> None:
    assert [item async for item in feed(iter(range(100)), ahead=3)] == list(range(100))


async def test_an_error_of_the_iterator_is_raised_where_it_is_read() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    read = feed(items())
    assert await anext(read) == 1
    with pytest.raises(ValueError, match="broken"):
        await anext(read)


async def test_the_loop_runs_while_the_iterator_blocks() -> None:
    go_on = threading.Event()

    def items() -> Iterator[int]:
        go_on.wait()
        yield 1

    asyncio.get_running_loop().call_soon(go_on.set)  # never runs when the loop is blocked
    assert [item async for item in feed(items())] == [1]


async def test_the_iterator_is_not_read_far_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1_000):
            taken.append(number)
            yield number

    read = feed(items(), ahead=4)
    async with aclosing(read):
        await anext(read)
        for _ in range(50):
            await asyncio.to_thread(lambda: None)  # both threads have had many turns
        assert len(taken) <= 7  # one read, four queued, one in hand, one being handed over


async def test_the_thread_ends_when_the_reader_leaves() -> None:
    read = feed(iter(range(1_000)), ahead=2)
    await anext(read)
    [thread] = [thread for thread in threading.enumerate() if thread.name == "precis-line-feed"]
    await read.aclose()
    await asyncio.to_thread(thread.join)
