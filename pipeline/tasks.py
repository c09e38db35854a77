"""Tasks of the event loop that end with what they are for."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


async def end(*tasks: asyncio.Future[Any]) -> None:
    """Cancels tasks and waits until they have ended; whoever wanted their errors has had them."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, T]) -> AsyncIterator["asyncio.Task[T]"]:
    """Does work beside the body of a `with`, at whose end it is given up."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        await end(task)


async def at_once(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Waits for several works; with the first error, and when nobody waits any more, the others end."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        await end(*tasks)
