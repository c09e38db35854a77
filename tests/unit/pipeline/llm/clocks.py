"""Clocks that tests move."""

import asyncio

from pipeline.llm.limiter import Clock


class InstantClock(Clock):
    """Every sleep is over at once, and the time has passed."""

    def __init__(self) -> None:
        self.time_s = 1000.0
        self.sleeps: list[float] = []

    def now_s(self) -> float:
        return self.time_s

    async def sleep(self, delay_s: float) -> None:
        self.sleeps.append(delay_s)
        self.time_s += delay_s
        await asyncio.sleep(0)


class HandClock(Clock):
    """Time passes only when the test says so."""

    def __init__(self) -> None:
        self.time_s = 1000.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def now_s(self) -> float:
        return self.time_s

    async def sleep(self, delay_s: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.time_s + delay_s, woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Lets time pass, wakes who is due, and lets everybody run until they wait again."""
        self.time_s += seconds
        for due_s, woken in self._sleepers:
            if due_s <= self.time_s:
                woken.set()
        self._sleepers = [sleeper for sleeper in self._sleepers if not sleeper[1].is_set()]
        await settle()


async def settle() -> None:
    """Lets every task run until it waits for something that is not there."""
    for _ in range(20):
        await asyncio.sleep(0)
