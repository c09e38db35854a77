"""Holds what a server gives to its threads, so that a test decides what is answered meanwhile."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar
from unittest.mock import patch

P = ParamSpec("P")
T = TypeVar("T")

_submit = ThreadPoolExecutor.submit


class HeldThreads:
    """Work that was given to a pool's threads, and waits there until the test lets it go.

    Args:
        pool: how the names of its threads begin.
    """

    def __init__(self, pool: str) -> None:
        self._pool = pool
        self._go_on = threading.Event()
        self._has_work = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def reached_by(self, call: asyncio.Task[T]) -> bool:
        """Waits until the call has work in the pool or has ended, and returns whether it has work there."""
        waits = asyncio.create_task(self._has_work.wait())
        await asyncio.wait((waits, call), return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        return self._has_work.is_set()

    def run(self, work: Callable[[], T]) -> T:
        """Runs work in its thread, once the test lets it."""
        if threading.current_thread().name.startswith(self._pool):
            self._loop.call_soon_threadsafe(self._has_work.set)
            self._go_on.wait()
        return work()

    def let_go(self) -> None:
        """Lets what waits and all that follows run."""
        self._go_on.set()


@contextmanager
def held_threads(pool: str) -> Iterator[HeldThreads]:
    """Holds all work in the threads of a pool from now on, at most until the end of the block."""
    held = HeldThreads(pool)

    def submit(executor: ThreadPoolExecutor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        return _submit(executor, held.run, partial(work, *args, **kwargs))

    with patch.object(ThreadPoolExecutor, "submit", submit):
        try:
            yield held
        finally:
            held.let_go()
