"""Lets the calls that are on their way finish when one of them has failed."""

import asyncio
from types import TracebackType


class CallGate:
    """Enter it around every call of a writer, and around storing the answer.

    After the first failure no new call begins, and the failure is raised only when the calls on their way are done:
    their answers are paid for. A cancelled call does not wait for anything.
    """

    def __init__(self) -> None:
        self._active = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._failure: Exception | None = None

    async def __aenter__(self) -> None:
        if self._failure is not None:
            await self._idle.wait()
            raise self._failure
        self._active += 1
        self._idle.clear()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active -= 1
        if not self._active:
            self._idle.set()
        if isinstance(error, Exception):
            self._failure = self._failure or error
            await self._idle.wait()
