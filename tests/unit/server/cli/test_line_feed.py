"""A blocking iterator is read without holding up the loop."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from server.cli.files import feed


async def test_all_items_come_in_order() -> None:
    assert [item async for item in feed(iter(range(100)))] == list(range(100))


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
