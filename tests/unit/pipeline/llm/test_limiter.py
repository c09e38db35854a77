"""Rates, concurrency that is found out, and who may send a request when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.config import RateConfig
from pipeline.llm.errors import EndpointBusyError, EndpointFailedError
from pipeline.llm.limiter import Asker, EndpointLimiter, Rate, Turns, asking
from tests.unit.pipeline.llm.clocks import HandClock, settle

PER_MINUTE = 600.0
BURST_S = 10.0
Steps = list[tuple[float, float]]  # seconds since the step before, amount


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 99)), min_size=1, max_size=60))
def test_no_stretch_of_time_gets_more_than_its_rate_and_one_burst(steps: Steps) -> None:
    rate, now_s, granted = Rate(PER_MINUTE), 100.0, []
    for pause_s, amount in steps:
        now_s += pause_s
        granted.append((rate.reserve(amount, now_s), amount))
    for first, (start_s, _) in enumerate(granted):
        for last in range(first, len(granted)):
            spent = sum(amount for _, amount in granted[first : last + 1])
            assert spent <= PER_MINUTE / 60 * (granted[last][0] - start_s + BURST_S) + 1e-6


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 5000)), min_size=2, max_size=60))
def test_reservations_are_served_in_order_and_never_in_the_past(steps: Steps) -> None:
    rate, now_s, before_s = Rate(PER_MINUTE), 100.0, 0.0
    for pause_s, amount in steps:
        now_s += pause_s
        ready_s = rate.reserve(amount, now_s)
        assert ready_s >= now_s
        assert amount == 0 or ready_s >= before_s - 1e-6
        before_s = ready_s if amount else before_s


def test_a_request_larger_than_the_burst_goes_through_and_giving_back_never_fills_more_than_one() -> None:
    rate, full = Rate(PER_MINUTE), Rate(PER_MINUTE)  # 10 a second, a burst of 100
    assert [rate.reserve(amount, now_s=0) for amount in (300, 100)] == [0, 30]
    full.give_back(10_000, now_s=0)
    assert [full.reserve(amount, now_s=0) for amount in (100, 10)] == [0, 1]


class Users:
    """Tasks that each hold a permit until they are told to end, well or not."""

    def __init__(self, limiter: EndpointLimiter) -> None:
        self._limiter = limiter
        self._ends: dict[int, asyncio.Future[Exception | None]] = {}
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.order: list[int] = []

    def start(self, name: int, *, number: int | None = None, tokens: int = 1, used: int | None = None) -> None:
        self._ends[name] = asyncio.get_running_loop().create_future()
        number = self._limiter.take_number() if number is None else number
        self.tasks[name] = asyncio.create_task(self._use(name, number, tokens, used))

    async def begin(self, *names: int) -> None:
        for name in names:
            self.start(name)
        await settle()

    def inside(self) -> set[int]:
        return {name for name in self.order if not self.tasks[name].done()}

    async def end(self, name: int, error: Exception | None = None) -> None:
        self._ends[name].set_result(error)
        await settle()

    async def _use(self, name: int, number: int, tokens: int, used: int | None) -> None:
        try:
            async with self._limiter.attempt(number, tokens) as permit:
                self.order.append(name)
                if (error := await self._ends[name]) is not None:
                    raise error
                permit.used_tokens = used
        except (EndpointBusyError, EndpointFailedError):
            pass


@asynccontextmanager
async def users_of(clock: HandClock, **rates: int) -> AsyncIterator[tuple[EndpointLimiter, Users]]:
    limiter = EndpointLimiter(RateConfig.model_validate(rates), clock, max_quiet_s=60)
    users = Users(limiter)
    yield limiter, users
    for task in users.tasks.values():
        task.cancel()
    await asyncio.gather(*users.tasks.values(), return_exceptions=True)
    assert (limiter.in_flight, limiter.waiting) == (0, 0)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


async def test_never_more_than_the_limit_are_in_flight(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=3) as (limiter, users):
        await users.begin(*range(10))
        assert users.inside() == {0, 1, 2}
        assert limiter.waiting == 7
        await users.end(1)
        assert users.inside() == {0, 2, 3}


async def test_a_burst_of_refusals_halves_it_once_and_a_round_of_good_answers_adds_one(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=16) as (limiter, users):
        await users.begin(*range(16))
        for name in range(16):
            await users.end(name, EndpointBusyError("busy"))
        limits = []
        for name in range(16, 25):
            limits.append(limiter.concurrency_limit)
            await users.begin(name)
            await users.end(name)
        assert [*limits, limiter.concurrency_limit] == [8] * 9 + [9]


@given(st.integers(1, 8), st.lists(st.booleans(), max_size=40))
def test_it_stays_between_one_and_its_maximum(maximum: int, outcomes: list[bool]) -> None:
    async def play() -> None:
        async with users_of(HandClock(), max_concurrency=maximum) as (limiter, users):
            for name, is_good in enumerate(outcomes):
                await users.begin(name)
                await users.end(name, None if is_good else EndpointBusyError("busy"))
                assert 1 <= limiter.concurrency_limit <= maximum

    asyncio.run(play())


async def test_a_retry_goes_before_calls_that_came_later(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=1) as (limiter, users):
        early = limiter.take_number()
        await users.begin(*range(3))
        users.start(99, number=early)
        await settle()
        for name in (0, 99, 1):
            await users.end(name)
        assert users.order == [0, 99, 1, 2]


async def test_a_refusal_halves_what_may_be_in_flight(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=4) as (limiter, users):
        await users.begin(*range(8))
        await users.end(0, EndpointBusyError("busy"))
        assert limiter.concurrency_limit == 2
        assert users.inside() == {1, 2, 3}  # those on their way are not called back
        await users.end(1)
        assert users.inside() == {2, 3}
        await users.end(2)
        assert users.inside() == {3, 4}


async def test_other_failures_leave_the_limit_alone(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=4) as (limiter, users):
        await users.begin(0)
        await users.end(0, EndpointFailedError("failed"))
        assert limiter.concurrency_limit == 4


async def test_retry_after_silences_everybody_until_then(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=4) as (_, users):
        await users.begin(0)
        await users.end(0, EndpointBusyError("busy", retry_after_s=5))
        users.start(1)
        await clock.advance(4.9)
        assert users.inside() == set()
        await clock.advance(0.2)
        assert users.inside() == {1}


async def test_a_pause_can_be_prolonged_while_others_wait_for_its_end(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=8) as (_, users):
        await users.begin(0, 1)
        await users.end(0, EndpointBusyError("busy", retry_after_s=5))
        await users.begin(2)
        await users.end(1, EndpointBusyError("busy", retry_after_s=20))
        await clock.advance(6)
        assert users.inside() == set()
        await clock.advance(15)
        assert users.inside() == {2}


async def test_a_pause_longer_than_anybody_would_wait_stops_only_its_own_call(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=4) as (_, users):
        await users.begin(0)
        await users.end(0, EndpointBusyError("busy", retry_after_s=3600))
        await users.begin(1)
        assert users.inside() == {1}


async def test_the_token_rate_delays_and_is_corrected_by_what_was_used(clock: HandClock) -> None:
    async with users_of(clock, tokens_per_minute=600) as (_, users):  # 10 a second, a burst of 100
        users.start(0, tokens=100, used=40)
        users.start(1, tokens=100)
        await settle()
        assert users.inside() == {0}
        await users.end(0)
        users.start(2, tokens=60)
        await clock.advance(9.9)
        assert users.inside() == set()
        await clock.advance(0.2)
        assert users.inside() == {1, 2}  # at 10 s, not at 16: 60 of the first call's tokens were never used


async def test_the_request_rate_delays(clock: HandClock) -> None:
    async with users_of(clock, requests_per_minute=6) as (_, users):  # one in ten seconds
        await users.begin(0, 1)
        assert users.inside() == {0}
        await clock.advance(10)
        assert users.inside() == {0, 1}


async def test_who_leaves_while_waiting_for_the_rate_gives_it_back(clock: HandClock) -> None:
    async with users_of(clock, tokens_per_minute=600, requests_per_minute=600) as (_, users):
        users.start(0, tokens=100)
        users.start(1, tokens=100)
        await settle()
        users.tasks[1].cancel()
        await settle()
        users.start(2, tokens=50)
        await clock.advance(5)
        assert users.inside() == {0, 2}


async def test_who_leaves_the_queue_takes_no_place(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=1) as (limiter, users):
        await users.begin(*range(3))
        users.tasks[1].cancel()
        await settle()
        assert limiter.waiting == 1
        await users.end(0)
        assert users.inside() == {2}


async def test_who_leaves_in_the_moment_of_its_turn_hands_it_on(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=1) as (_, users):
        await users.begin(*range(3))
        users._ends[0].set_result(None)  # noqa: SLF001 - the loop shall not run between these two
        await asyncio.sleep(0)
        users.tasks[1].cancel()
        await settle()
        assert users.inside() == {2}


BUSY, LIGHT = Asker("busy"), Asker("light")
JOB = Asker("light", is_background=True)


class Served:
    """Turns of one endpoint, with requests that cost what they are said to."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.tokens = dict.fromkeys((BUSY, LIGHT, JOB), 0)
        self._waiting: list[tuple[Asker, int, asyncio.Future[float]]] = []

    def ask(self, asker: Asker, *costs: int) -> None:
        for cost in costs:
            self._waiting.append((asker, cost, self.turns.push(asker, 0)))

    def serve(self, count: int) -> None:
        for _ in range(count):
            assert self.turns.pop()
            [served] = [one for one in self._waiting if one[2].done()]
            self._waiting.remove(served)
            asker, cost, turn = served
            self.turns.settle(asker, turn.result(), cost)
            self.tokens[asker] += cost


@given(st.lists(st.integers(1, 20_000), min_size=30, max_size=60), st.integers(0, 20))
async def test_of_two_that_wait_none_gets_more_than_twice_the_largest_request(
    costs: list[int], head_start: int
) -> None:
    served = Served()
    served.ask(BUSY, *costs)
    served.serve(head_start)
    served.tokens[BUSY] = 0
    served.ask(LIGHT, *reversed(costs))
    for _ in range(len(costs) - head_start):
        served.serve(1)
        assert abs(served.tokens[BUSY] - served.tokens[LIGHT]) <= 2 * max(costs)


async def test_who_was_away_has_saved_nothing_up_and_who_leaves_for_a_moment_owes_what_it_was_given() -> None:
    served = Served()
    served.ask(LIGHT, 50_000)
    served.ask(BUSY, *[1_000] * 200)
    served.serve(101)
    served.ask(LIGHT, *[1_000] * 100)
    served.serve(60)
    assert served.tokens == {BUSY: 130_000, LIGHT: 80_000, JOB: 0}


async def test_work_in_the_background_gives_way_and_goes_on() -> None:
    served = Served()
    served.ask(JOB, *[1_000] * 20)
    served.ask(LIGHT, *[1_000] * 90)
    served.serve(90)
    assert served.tokens[JOB] == pytest.approx(10_000, abs=1_000)


async def test_a_crowd_of_one_caller_does_not_hold_up_another(clock: HandClock) -> None:
    async with users_of(clock, max_concurrency=4) as (_, users):
        await users.begin(*range(40))
        asking.set(LIGHT)
        await users.begin(99)
        await users.end(0)
        assert users.inside() == {1, 2, 3, 99}


async def test_a_request_that_was_never_sent_is_charged_to_nobody() -> None:
    served = Served()
    served.ask(BUSY, 1)
    [(_, _, turn)] = served._waiting  # noqa: SLF001 - a request that goes astray
    assert served.turns.pop()
    served.turns.settle(BUSY, turn.result(), 0)
    assert not served.turns._given  # noqa: SLF001
