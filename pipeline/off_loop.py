"""Work that would hold up the event loop, and how long the phases of work take."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")


class OffLoop:
    """Runs CPU work of more than 5 ms where it does not hold up the event loop.

    Args:
        executor: where; the caller owns it. None: in the loop's own thread, for short texts, scripts and tests.
    """

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor

    async def __call__(self, work: Callable[[], T]) -> T:
        """Returns what the work returns."""
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


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
