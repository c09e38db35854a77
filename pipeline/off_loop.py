"""Work that would hold up the event loop, and how long the phases of work take."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextvars import ContextVar, copy_context
from itertools import chain, islice
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

_BETWEEN_LOOKS = 1_024  # items, each of a few microseconds

_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)
"""Of work in a thread: set once nobody waits for it any more."""


class NobodyWaitsError(Exception):
    """The call that this work was for has ended; never seen by a caller."""


def stop_if_nobody_waits() -> None:
    """Ends work in a thread whose call was cancelled or is past its deadline. For loops over long texts."""
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise NobodyWaitsError


def stoppable(items: Iterable[T]) -> Iterator[T]:
    """Returns items, and looks between them, not at each, whether anybody waits."""
    return chain.from_iterable(_looked_between(iter(items)))


def _looked_between(left: Iterator[T]) -> Iterator[tuple[T, ...]]:
    stop_if_nobody_waits()
    while some := tuple(islice(left, _BETWEEN_LOOKS)):
        stop_if_nobody_waits()
        yield some


class OffLoop:
    """Runs CPU work of more than 5 ms where it does not hold up the event loop.

    Args:
        executor: where; the caller owns it. None: in the loop's own thread, for short texts, scripts and tests.
    """

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor

    async def __call__(self, work: Callable[[], T]) -> T:
        """Returns what the work returns. Cancelled, the work ends at its next `stop_if_nobody_waits`."""
        if self._executor is None:
            return work()
        stop, context = threading.Event(), copy_context()
        context.run(_stop.set, stop)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, context.run, work)
        except asyncio.CancelledError:
            stop.set()
            raise


class Stopwatch:
    """Measures consecutive phases, from when it is made.

    Attributes:
        laps: milliseconds by name, in their order.
    """

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._lap_began_s = perf_counter()

    def lap(self, name: str) -> None:
        """Ends a phase."""
        now_s = perf_counter()
        self.laps[name] = 1e3 * (now_s - self._lap_began_s)
        self._lap_began_s = now_s

    @property
    def total_ms(self) -> float:
        """All phases together."""
        return sum(self.laps.values())
