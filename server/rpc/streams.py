"""Streams: items worked on concurrently, never more than a fixed number, and open streams when the server stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

_END: Any = object()
"""Stands behind the last item: a task cannot raise StopIteration, and None may be an item."""

T = TypeVar("T")
R = TypeVar("R")


async def map_concurrently(
    items: AsyncIterator[T], work: Callable[[T], Coroutine[Any, Any, R]], *, limit: int
) -> AsyncGenerator[R, None]:
    """Yields `work(item)` for every item, in the order of completion.

    At most `limit` items are in work, or finished and not yet taken; one more is read ahead. A reader that is slow
    stops the work, and that stops the reading: so gRPC's flow control reaches the sender. Leaving the generator, for
    whatever reason, cancels all work and waits until it has ended. An error of `work` or `items` ends the generator.
    """
    running: set[asyncio.Task[R]] = set()
    following: asyncio.Task[T] | None = None  # the read ahead
    ended = False
    try:
        while True:
            if following is None and not ended and len(running) < limit:
                following = asyncio.create_task(_next(items))
            waiting: set[asyncio.Task[Any]] = {*running, following} if following else {*running}
            if not waiting:
                return
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if following is not None and following.done():
                item = following.result()
                following = None
                if item is _END:
                    ended = True
                else:
                    running.add(asyncio.create_task(work(item)))
            for task in [task for task in running if task.done()]:
                running.discard(task)
                yield task.result()
    finally:
        await end(*running, *([following] if following else ()))


async def _next(items: AsyncIterator[T]) -> T:
    return await anext(items, _END)


async def end(*tasks: asyncio.Future[Any]) -> None:
    """Cancels tasks and waits until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def until_stopping(stopping: asyncio.Event, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """Yields items until they end or `stopping` is set; what is there already, or was read, is always yielded."""
    stop = asyncio.ensure_future(stopping.wait())
    following: asyncio.Task[T] | None = None
    try:
        while True:
            following = asyncio.create_task(_next(items))
            await asyncio.wait({stop, following}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            item = following.result()
            if item is _END:
                return
            yield item
    finally:
        await end(stop, *([following] if following else ()))
        if isinstance(items, AsyncGenerator):
            await items.aclose()
