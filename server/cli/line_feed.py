"""A blocking iterator, such as the lines of stdin, read from an event loop."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from typing import TypeVar

T = TypeVar("T")


async def feed(items: Iterator[T], *, ahead: int = 16) -> AsyncGenerator[T, None]:
    """Iterates `items` on a thread, at most `ahead` items before the reader.

    The thread is a daemon: a read from a terminal or pipe cannot be interrupted, and must not keep Ctrl+C waiting.
    An error of the iterator is raised here.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[T | Exception | None] = asyncio.Queue(ahead)
    has_left = threading.Event()

    def put(item: T | Exception | None) -> None:
        asyncio.run_coroutine_threadsafe(queue.put(item), loop).result()

    def read() -> None:
        try:
            for item in items:
                put(item)
                if has_left.is_set():
                    return
            put(None)
        except Exception as error:  # noqa: BLE001 - handed over whole
            if not has_left.is_set():
                put(error)

    threading.Thread(target=read, name="precis-line-feed", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        has_left.set()
        while not queue.empty():  # makes room, so that a thread that waits for it goes on, sees the event and ends
            queue.get_nowait()
