"""One thread for one database connection, visited as rarely as possible."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

_Work = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class SerialThread:
    """Runs work on one named thread, in the order in which it was handed over.

    What is handed over while the thread is busy goes there together, and its results come back together: waking a
    thread and the event loop costs more than a small query. Work is carried out even if the caller is cancelled.

    Args:
        name: of the thread.
        finish: ends what a round of work left open, such as a transaction; its error is the error of the whole round.
    """

    def __init__(self, name: str, finish: Callable[[], None] | None = None) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._finish = finish
        self._waiting: list[_Work] = []
        self._is_busy = False

    async def run(self, work: Callable[[], Result]) -> Result:
        """Returns what the work returns, or raises what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((work, future))
        if not self._is_busy:
            self._is_busy = True
            loop.call_soon(self._hand_over, loop)  # with all else that this turn of the loop hands over
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Waits for all work and ends the thread."""
        await self.run(lambda: None)
        self._executor.shutdown()

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        round_, self._waiting = self._waiting, []
        if not round_:
            self._is_busy = False
            return
        self._executor.submit(self._work, loop, round_)

    def _work(self, loop: asyncio.AbstractEventLoop, round_: list[_Work]) -> None:
        """On the thread: does a round and sends all its results back at once."""
        outcomes: list[tuple[Any, BaseException | None]] = []
        for work, _ in round_:
            try:
                outcomes.append((work(), None))
            except BaseException as error:  # noqa: BLE001 - belongs to the caller who handed the work over
                outcomes.append((None, error))
        try:
            if self._finish:
                self._finish()
        except Exception as error:  # noqa: BLE001 - the same, for all callers of the round
            outcomes = [(None, failed or error) for _, failed in outcomes]
        loop.call_soon_threadsafe(self._deliver, loop, round_, outcomes)

    def _deliver(
        self, loop: asyncio.AbstractEventLoop, round_: list[_Work], outcomes: list[tuple[Any, BaseException | None]]
    ) -> None:
        for (_, future), (result, error) in zip(round_, outcomes, strict=True):
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        self._hand_over(loop)
