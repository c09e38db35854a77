"""Closed and open loops of calls, and how long they took.

A closed loop has a number of callers, each of whom calls again once it has its answer: it finds what a server can do
at most, and says nothing about waits, for while the server is slow nobody calls. An open loop calls at times that were
drawn beforehand, whatever the server does, and counts from the time that was drawn: a call that is late because others
were slow has waited, and is counted so. Measuring from the time of sending would leave just these waits out
(coordinated omission).
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

from server.cli.load.pace import Pace, Period

CallOnce = Callable[[int], Awaitable[str]]
"""Makes the call of a number, and returns the name of its status code."""

OK = "OK"
WAITED = {OK, "DEADLINE_EXCEEDED"}  # others are refusals, whose time says nothing
LONGEST_US = 3_600_000_000
DIGITS = 3


def _histogram() -> HdrHistogram:
    return HdrHistogram(1, LONGEST_US, DIGITS)


@dataclass
class Measurement:
    """What was measured of one loop; times in microseconds.

    Attributes:
        seconds: from the first call that was due to the last answer, and no less than was asked for.
        waits: from the time when the call was due to its answer, of calls that were answered or ran out of time.
        lags: from the time when the call was due to its sending: the load generator's own delay.
        codes: status codes of all calls that were due in the measured time.
        unsent_count: calls that were due and not made: too many were on their way.
    """

    pace: Pace
    seconds: float
    waits: HdrHistogram = field(default_factory=_histogram)
    lags: HdrHistogram = field(default_factory=_histogram)
    codes: Counter[str] = field(default_factory=Counter)
    unsent_count: int = 0

    @property
    def answered_rate(self) -> float:
        """Answers a second."""
        return self.codes[OK] / self.seconds

    def count(self, code: str, due_s: float, sent_s: float) -> None:
        """Takes in a call that has ended."""
        self.codes[code] += 1
        self.lags.record_value(_microseconds(sent_s - due_s))
        if code in WAITED:
            self.waits.record_value(_microseconds(time.perf_counter() - due_s))


async def measure(call: CallOnce, pace: Pace, period: Period, numbers: "itertools.count[int]") -> Measurement:
    """Runs one loop, and waits for the answers of all its calls."""
    loop = _closed if pace.callers else _open
    measurement = Measurement(pace, period.seconds)
    await loop(call, measurement, period, numbers)
    return measurement


async def _closed(call: CallOnce, into: Measurement, period: Period, numbers: "itertools.count[int]") -> None:
    measured_s = time.perf_counter() + period.warmup_s
    end_s = measured_s + period.seconds

    async def caller() -> None:
        while (begun_s := time.perf_counter()) < end_s:
            code = await call(next(numbers))
            if begun_s >= measured_s and time.perf_counter() <= end_s:
                into.count(code, begun_s, begun_s)

    await asyncio.gather(*(caller() for _ in range(into.pace.callers)))


async def _open(call: CallOnce, into: Measurement, period: Period, numbers: "itertools.count[int]") -> None:
    running: set[asyncio.Task[None]] = set()
    start_s = time.perf_counter()
    measured_s = start_s + period.warmup_s
    end_s = measured_s + period.seconds

    async def one(due_s: float) -> None:
        sent_s = time.perf_counter()
        code = await call(next(numbers))
        if due_s >= measured_s:
            into.count(code, due_s, sent_s)

    try:
        for at_s in into.pace.arrivals():
            due_s = start_s + at_s
            if due_s >= end_s:
                break
            await asyncio.sleep(max(0.0, due_s - time.perf_counter()))  # 0 too: answers must be read
            if len(running) >= period.max_in_flight:
                into.unsent_count += due_s >= measured_s
                continue
            task = asyncio.ensure_future(one(due_s))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.gather(*running)
        into.seconds = max(period.seconds, time.perf_counter() - measured_s)  # late answers are no rate of the period
    finally:
        for task in running:
            task.cancel()


def _microseconds(seconds: float) -> int:
    return min(LONGEST_US, max(1, round(seconds * 1e6)))
