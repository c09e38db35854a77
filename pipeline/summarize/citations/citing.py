"""Cites a finished summary beside what else is still asked for, such as its key topics."""

import asyncio
from collections.abc import Awaitable, Callable

from pipeline.summarize.citations.places import Citations


class Citing:
    """The citations of one summary.

    Args:
        find: finds those of a text.
    """

    def __init__(self, find: Callable[[str], Awaitable[Citations]]) -> None:
        self._find = find
        self._found: tuple[str, asyncio.Future[Citations]] | None = None
        self._given_up: list[asyncio.Future[Citations]] = []

    def begin(self, text: str) -> None:
        """Begins with a text of which it is likely that nothing changes any more; once for each text."""
        if self._found is None or self._found[0] != text:
            self._cancel()
            self._found = text, asyncio.ensure_future(self._find(text))

    async def of(self, text: str) -> Citations:
        """Returns the citations of a text; raises what finding them raises."""
        self.begin(text)
        assert self._found is not None  # noqa: S101 - it has begun
        return await self._found[1]

    async def stop(self) -> None:
        """Ends what nobody waits for. Never raises."""
        self._cancel()
        await asyncio.gather(*self._given_up, return_exceptions=True)

    def _cancel(self) -> None:
        if self._found is not None:
            self._found[1].cancel()
            self._given_up.append(self._found[1])
