"""Callers that leave, run out of time, or are in a hurry."""

import asyncio

import pytest

from inference.call import Call, Priority
from inference.errors import DeadlineExpiredError
from inference.statistics import ModelStatistics
from tests.fakes import Clock
from tests.unit.inference.serving import make_limits, serving, settle

ONE_ROW = make_limits(max_rows=1)
LATE = Call(deadline_s=10.0)


def pending(statistics: ModelStatistics) -> tuple[int, int]:
    return statistics.pending_items, statistics.pending_tokens


async def test_what_nobody_waits_for_any_more_is_not_computed() -> None:
    async with serving(limits=ONE_ROW) as s:
        async with s.held():
            leaving = s.start(2, 3)
            await settle()
            leaving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaving
            statistics = s.batcher.statistics()
            assert (statistics.cancelled_items, pending(statistics)) == (2, (1, 4))
        await s.submit(4)
    assert s.backend.batches == [[1], [4]]


async def test_a_caller_that_leaves_does_not_take_the_work_from_another() -> None:
    async with serving(limits=ONE_ROW) as s:
        async with s.held():
            leaving, staying = s.start(2), s.start(2)
            await settle()
            leaving.cancel()
        assert (await staying).values.tolist() == [[2, 4]]
    assert s.backend.batches == [[1], [2]]


async def test_a_caller_that_leaves_mid_batch_leaves_its_answer_in_the_cache() -> None:
    async with serving() as s:
        s.backend.close_gate()
        leaving = s.start(1)
        await s.backend.wait_entered()
        leaving.cancel()
        await settle()
        joining = s.start(1)
        await settle()
        s.backend.open_gate()
        assert (await joining).values.tolist() == [[1, 4]]
        assert s.batcher.statistics().pending_items == 0
    assert s.backend.batches == [[1]]


async def test_a_list_that_is_cancelled_while_it_is_queued_leaves_nothing_behind() -> None:
    async with serving() as s, s.held():
        leaving = s.start(*range(100, 1100))
        await asyncio.sleep(0)  # the first slice is queued, the rest is not
        leaving.cancel()
        await settle()
        assert leaving.cancelled()
        statistics = s.batcher.statistics()
        assert (pending(statistics), statistics.cancelled_items) == ((1, 4), 1000)
    assert s.backend.batches == [[1]]


async def test_a_deadline_that_passes_while_waiting_drops_all_of_the_call_and_nothing_of_another() -> None:
    clock = Clock()
    async with serving(limits=ONE_ROW, clock=clock) as s:
        async with s.held():
            calls, patient = [s.start(2, call=LATE), s.start(2, 3, 4, call=LATE)], s.start(3)
            await settle()
            clock.now_s = 11.0
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(result) for result in results] == [DeadlineExpiredError] * 2
        await patient
        statistics = s.batcher.statistics()
    assert s.backend.batches == [[1], [3]]
    assert (statistics.expired_items, pending(statistics)) == (4, (0, 0))


@pytest.mark.parametrize(
    ("deadline_s", "counts"), [(-1.0, (0, 1)), (500.0, (1, 0))], ids=["has passed", "cannot be met"]
)
async def test_a_deadline_without_hope_is_refused_before_anything_is_queued(
    deadline_s: float, counts: tuple[int, int]
) -> None:
    async with serving(limits=make_limits(fixed_s=1000.0), clock=Clock()) as s:
        with pytest.raises(DeadlineExpiredError):
            await s.submit(1, call=Call(deadline_s=deadline_s))
        statistics = s.batcher.statistics()
    assert s.backend.batches == []
    assert (statistics.shed_items, statistics.expired_items) == counts


async def test_a_caller_with_more_time_keeps_what_another_could_not_wait_for() -> None:
    async with serving(limits=make_limits(fixed_s=1000.0, max_rows=1), clock=Clock()) as s:
        async with s.held():
            hasty = s.start(2, call=Call(deadline_s=500.0))
            await settle()
            patient = s.start(2)
        assert (await patient).values.tolist() == [[2, 4]]
        await hasty
    assert s.backend.batches == [[1], [2]]


async def test_an_interactive_caller_takes_bulk_work_it_joins_along() -> None:
    bulk = Call(priority=Priority.BULK)
    async with serving(limits=ONE_ROW) as s:
        async with s.held(0):
            calls = [s.start(number, call=bulk) for number in range(1, 6)]
            await settle()
            calls.append(s.start(5))
        await asyncio.gather(*calls)
    order = [batch[0] for batch in s.backend.batches]
    assert order[:2] in ([0, 5], [0, 1])
    assert order.index(5) <= 2
