"""A blocking iterator, such as the lines of stdin, read from an event loop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

T = TypeVar("T")


async def feed(items: Iterator[T], *, ahead: int = 16) -> AsyncIterator[T]:
    """Iterates `items` on a thread, at most `ahead` items before the reader.

    The thread is a daemon: a read from a terminal or pipe cannot be interrupted, and must not keep Ctrl+C waiting.
    An error of the iterator is raised here.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[T | Exception | None] = asyncio.Queue(ahead)

    def put(item: T | Exception | None) -> None:
        asyncio.run_coroutine_threadsafe(queue.put(item), loop).result()

    def read() -> None:
        try:
            for item in items:
                put(item)
            put(None)
        except Exception as error:  # noqa: BLE001 - handed over whole
            if not loop.is_closed():  # closed: the reader has left, nobody asks any more
                put(error)

    threading.Thread(target=read, name="precis-line-feed", daemon=True).start()
    while (item := await queue.get()) is not None:
        if isinstance(item, Exception):
            raise item
        yield item
