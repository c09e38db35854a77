"""Time, as something that tests can pass in."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Tells and waits for time."""

    def now_s(self) -> float:
        """Seconds since some moment; never goes back."""

    async def sleep(self, delay_s: float) -> None:
        """Returns after `delay_s` seconds."""


class SystemClock:
    """The real one."""

    def now_s(self) -> float:
        """Returns the monotonic clock."""
        return time.monotonic()

    async def sleep(self, delay_s: float) -> None:
        """Sleeps without blocking the event loop."""
        await asyncio.sleep(delay_s)
