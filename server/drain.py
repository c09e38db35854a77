"""How a stream that a client holds open learns that the server is stopping."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

T = TypeVar("T")


async def until(stopping: asyncio.Event, items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """Yields items until there are no more or `stopping` is set, whichever comes first.

    An item that was read is always yielded, so nothing that the client sent and the server took is lost.
    """
    stop = asyncio.ensure_future(stopping.wait())
    following: asyncio.Task[T] | None = None
    try:
        while True:
            following = asyncio.ensure_future(_next(items))
            await asyncio.wait({stop, following}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            try:
                item = following.result()
            except StopAsyncIteration:
                return
            yield item
    finally:
        stop.cancel()
        if following is not None:
            following.cancel()


async def _next(items: AsyncIterator[T]) -> T:
    return await anext(items)
