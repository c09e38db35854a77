"""Rate limit and adaptive concurrency: how many requests may an endpoint have at once, and how many in a minute?

Tokens and requests per minute may not exceed a rate. How many requests an endpoint bears at once is found out by asking
(additive increase, multiplicative decrease). While it asks for quiet, none is let through. Whose request is next is
decided by tokens. Time is passed in, so that tests can choose it.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.llm.config import RateConfig
from pipeline.llm.errors import EndpointBusyError


class Rate:
    """A bucket that fills at a steady rate and holds ten seconds' worth.

    In any T seconds at most `per_minute * (T + 10) / 60` are let through, plus one request that is larger than the
    bucket. That one waits until the bucket is full, and leaves a debt which the others wait for.
    """

    def __init__(self, per_minute: float) -> None:
        self._per_s = per_minute / 60
        self._capacity = self._per_s * 10
        self._level = self._capacity
        self._updated_s = 0.0

    def reserve(self, amount: float, now_s: float) -> float:
        """Takes `amount` and returns when it may be used: `now_s` or later. Reservations are served in order."""
        self._fill(now_s)
        missing = min(amount, self._capacity) - self._level
        self._level -= amount
        return now_s + max(0.0, missing / self._per_s)

    def give_back(self, amount: float, now_s: float) -> None:
        """Returns what was reserved and not used; a negative amount takes what was used beyond."""
        self._fill(now_s)
        self._level = min(self._capacity, self._level + amount)

    def _fill(self, now_s: float) -> None:
        self._level = min(self._capacity, self._level + (now_s - self._updated_s) * self._per_s)
        self._updated_s = now_s


class Clock:
    """Tells and waits for time: the system's, or a test's."""

    def now_s(self) -> float:
        """Returns seconds since some moment; never goes back."""
        return time.monotonic()

    async def sleep(self, delay_s: float) -> None:
        """Sleeps without blocking the event loop."""
        await asyncio.sleep(delay_s)


@dataclass(slots=True)
class Permit:
    """Leave to send one request.

    Attributes:
        used_tokens: what the request turned out to cost; set it when known, else it counts as the most it could.
    """

    used_tokens: int | None = None


class Asker(NamedTuple):
    """Whose requests wait together: a caller's that somebody waits for, or its work in the background."""

    name: str = ""
    is_background: bool = False


asking: ContextVar[Asker] = ContextVar("asking")  # for whom the running task asks an endpoint


class Turns:
    """Virtual token counter (Sheng et al. 2024): the next request is that of the asker who was given fewest tokens.

    While two wait, neither is given more than the other by twice what is in flight. Whoever comes back has saved
    nothing up. Work in the background counts eightfold: it gives way, and goes on. One asker's requests go in the
    order of their numbers.
    """

    def __init__(self) -> None:
        self._waiting: dict[Asker, list[tuple[int, int, asyncio.Future[float]]]] = {}
        self._given: dict[Asker, float] = {}  # of those who wait, or were given more than the present
        self._present = 0.0  # what the one whose turn it was last had been given
        self._usual_tokens = 1_000.0  # what a request costs, as far as is known before it is answered
        self._arrivals = itertools.count()

    def __len__(self) -> int:
        return sum(not turn.done() for waiting in self._waiting.values() for _, _, turn in waiting)

    def push(self, asker: Asker, number: int) -> asyncio.Future[float]:
        """Returns what tells, when the turn has come, for how much; whoever leaves before cancels it."""
        turn = asyncio.get_running_loop().create_future()
        if asker not in self._waiting:
            self._given[asker] = max(self._given.get(asker, 0.0), self._present)
        heapq.heappush(self._waiting.setdefault(asker, []), (number, next(self._arrivals), turn))
        return turn

    def pop(self) -> bool:
        """Lets the request go whose turn it is, and charges what is usual. Returns False when none waits."""
        while self._waiting:
            asker = min(self._waiting, key=self._given.__getitem__)
            _, _, turn = heapq.heappop(self._waiting[asker])
            if not self._waiting[asker]:
                del self._waiting[asker]
            if not turn.done():
                self._present = max(self._present, self._given[asker])
                self._charge(asker, self._usual_tokens)
                turn.set_result(self._usual_tokens)
                return True
        return False

    def settle(self, asker: Asker, charged: float, used: int) -> None:
        """Corrects what was charged by what was used; 0: it was not sent."""
        self._charge(asker, used - charged)
        if used:
            self._usual_tokens += 0.1 * (used - self._usual_tokens)

    def _charge(self, asker: Asker, tokens: float) -> None:
        self._given[asker] = self._given.get(asker, self._present) + tokens * (8 if asker.is_background else 1)
        kept = self._waiting.keys() | {one for one, given in self._given.items() if given > self._present}
        self._given = {one: self._given[one] for one in kept}


class EndpointLimiter:
    """Shared by everybody who calls one endpoint. Belongs to one event loop and owns no task.

    Requests in flight have a limit that starts at its maximum: a round of good answers adds one, a busy endpoint halves
    it. A request that was on its way before says nothing of the lower limit: one burst of refusals halves it once.
    """

    def __init__(self, config: RateConfig, clock: Clock, *, max_quiet_s: float) -> None:
        self._clock = clock
        self._max_quiet_s = max_quiet_s
        self._max_concurrency = config.max_concurrency
        self._concurrency = float(config.max_concurrency)
        self._generation = 0  # of the limit
        no_limit = 1e18
        self._rates = [Rate(rate or no_limit) for rate in (config.requests_per_minute, config.tokens_per_minute)]
        self._quiet_until_s = 0.0
        self._held = 0
        self._turns = Turns()
        self._numbers = itertools.count()

    @property
    def concurrency_limit(self) -> int:
        """Requests that may be in flight now."""
        return int(self._concurrency)

    @property
    def in_flight(self) -> int:
        """Requests that hold a permit, or wait with one for the rate or the end of a pause."""
        return self._held

    @property
    def waiting(self) -> int:
        """Requests that wait for a permit."""
        return len(self._turns)

    def take_number(self) -> int:
        """Numbers a call. All its attempts keep the number, so that a retry goes before calls that came later."""
        return next(self._numbers)

    @asynccontextmanager
    async def attempt(self, number: int, tokens: int) -> AsyncIterator[Permit]:
        """Waits for leave to send a request and holds it inside the `with`.

        EndpointBusyError that comes out of the `with` lowers the limit; a good end raises it a little. If the endpoint
        named a time of at most `max_quiet_s`, everybody is silenced until then.

        Args:
            number: from `take_number`.
            tokens: the most the request may cost.
        """
        asker = asking.get(Asker())
        charged = await self._take_slot(asker, number)
        permit, generation = Permit(), None
        try:
            await self._wait_for_rate(tokens)
            generation = self._generation
            yield permit
            self._concurrency = min(float(self._max_concurrency), self._concurrency + 1 / self._concurrency)
        except EndpointBusyError as error:
            permit.used_tokens = 0
            self._slow_down(generation, error.retry_after_s or 0.0)
            raise
        finally:
            if generation is None:  # it was never sent
                self._give_back(1, tokens)
                self._turns.settle(asker, charged, 0)
            elif permit.used_tokens is not None:
                self._give_back(0, tokens - permit.used_tokens)
                self._turns.settle(asker, charged, permit.used_tokens)
            self._held -= 1
            self._admit()

    async def _take_slot(self, asker: Asker, number: int) -> float:
        """Waits for a turn. Returns the tokens that it was charged for."""
        turn = self._turns.push(asker, number)
        self._admit()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # admitted and cancelled in the same step of the loop
                self._turns.settle(asker, turn.result(), 0)
                self._held -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._held < self.concurrency_limit and self._turns.pop():
            self._held += 1

    async def _wait_for_rate(self, tokens: int) -> None:
        now_s = self._clock.now_s()
        ready_s = max(rate.reserve(amount, now_s) for rate, amount in zip(self._rates, (1, tokens), strict=True))
        # The pause may be prolonged while we wait, so look again.
        while (delay_s := max(ready_s, self._quiet_until_s) - self._clock.now_s()) > 0:
            await self._clock.sleep(delay_s)

    def _slow_down(self, generation: int | None, retry_after_s: float) -> None:
        if generation == self._generation:
            self._concurrency = max(1.0, self._concurrency / 2)
            self._generation += 1
        if retry_after_s <= self._max_quiet_s:  # else the calls fail one by one, rather than hang together
            self._quiet_until_s = max(self._quiet_until_s, self._clock.now_s() + retry_after_s)

    def _give_back(self, requests: int, tokens: int) -> None:
        """Corrects the rates by what a request really cost."""
        for rate, amount in zip(self._rates, (requests, tokens), strict=True):
            rate.give_back(amount, self._clock.now_s())
