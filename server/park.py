"""How a running summary is put aside when the server stops."""

import asyncio
from collections.abc import AsyncGenerator
from typing import TypeVar

from inference.errors import ShuttingDownError

T = TypeVar("T")


async def until_stopping(stopping: asyncio.Event, events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yields events until they end; when `stopping` is set, those that are there already, and closes their source.

    Raises:
        ShuttingDownError: the events were cut short.
    """
    stop = asyncio.ensure_future(stopping.wait())
    following: asyncio.Future[T] | None = None
    try:
        while True:
            following = asyncio.ensure_future(_next(events))
            await asyncio.wait({stop, following}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                raise ShuttingDownError
            try:
                event = following.result()
            except StopAsyncIteration:
                return
            yield event
    finally:
        stop.cancel()
        if following is not None:
            following.cancel()
            # Its source ends here, in its own time: it writes down how far it came.
            await asyncio.gather(following, return_exceptions=True)
        await events.aclose()


async def _next(events: AsyncGenerator[T, None]) -> T:
    return await anext(events)
