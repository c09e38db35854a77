"""Callers that leave, run out of time, or are in a hurry."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from inference.call import Call, Priority
from inference.errors import DeadlineExpiredError
from tests.unit.inference.serving import make_item, make_limits, serving, settle

ANY = Call()
ONE_ROW = make_limits(max_rows=1)


@dataclass
class Clock:
    """A clock that stands still until it is set."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


async def test_what_nobody_waits_for_any_more_is_not_computed() -> None:
    async with serving(limits=ONE_ROW) as s:
        s.backend.close_gate()
        first = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        leaving = asyncio.create_task(s.batcher.submit([make_item(2), make_item(3)], ANY))
        await settle()
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        statistics = s.batcher.statistics()
        assert (statistics.cancelled_items, statistics.pending_items, statistics.pending_tokens) == (2, 1, 4)
        s.backend.open_gate()
        await first
        await s.batcher.submit([make_item(4)], ANY)
    assert s.backend.batches == [[1], [4]]


async def test_a_caller_that_leaves_does_not_take_the_work_from_another() -> None:
    async with serving(limits=ONE_ROW) as s:
        s.backend.close_gate()
        blocker = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        leaving = asyncio.create_task(s.batcher.submit([make_item(2)], ANY))
        staying = asyncio.create_task(s.batcher.submit([make_item(2)], ANY))
        await settle()
        leaving.cancel()
        await settle()
        s.backend.open_gate()
        assert (await staying).values.tolist() == [[2, 4]]
        await blocker
    assert s.backend.batches == [[1], [2]]


async def test_a_caller_that_leaves_mid_batch_leaves_its_answer_in_the_cache() -> None:
    async with serving() as s:
        s.backend.close_gate()
        leaving = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        leaving.cancel()
        await settle()
        joining = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await settle()
        s.backend.open_gate()
        assert (await joining).values.tolist() == [[1, 4]]
        assert s.batcher.statistics().pending_items == 0
    assert s.backend.batches == [[1]]


async def test_a_list_that_is_cancelled_while_it_is_queued_leaves_nothing_behind() -> None:
    async with serving() as s:
        s.backend.close_gate()
        blocker = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        leaving = asyncio.create_task(s.batcher.submit([make_item(i) for i in range(100, 1100)], ANY))
        await asyncio.sleep(0)  # the first slice is queued, the rest is not
        leaving.cancel()
        await settle()
        assert leaving.cancelled()
        statistics = s.batcher.statistics()
        assert (statistics.pending_items, statistics.pending_tokens, statistics.cancelled_items) == (1, 4, 1000)
        s.backend.open_gate()
        await blocker
    assert s.backend.batches == [[1]]


async def test_a_deadline_that_has_passed_is_refused_before_anything_is_queued() -> None:
    async with serving(clock=Clock()) as s:
        with pytest.raises(DeadlineExpiredError):
            await s.batcher.submit([make_item(1)], Call(deadline_s=-1.0))
        assert s.batcher.statistics().expired_items == 1
    assert s.backend.batches == []


async def test_a_deadline_that_passes_while_waiting_drops_all_of_the_call() -> None:
    clock = Clock()
    async with serving(limits=ONE_ROW, clock=clock) as s:
        s.backend.close_gate()
        blocker = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        late = asyncio.create_task(s.batcher.submit([make_item(2), make_item(3)], Call(deadline_s=10.0)))
        patient = asyncio.create_task(s.batcher.submit([make_item(4)], ANY))
        await settle()
        clock.now_s = 11.0
        s.backend.open_gate()
        with pytest.raises(DeadlineExpiredError):
            await late
        await asyncio.gather(blocker, patient)
        statistics = s.batcher.statistics()
    assert s.backend.batches == [[1], [4]]
    assert (statistics.expired_items, statistics.pending_items, statistics.pending_tokens) == (2, 0, 0)


async def test_a_call_that_is_late_for_one_item_leaves_the_others_too() -> None:
    clock = Clock()
    async with serving(limits=ONE_ROW, clock=clock) as s:
        s.backend.close_gate()
        blocker = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        late = Call(deadline_s=10.0)
        calls = [asyncio.create_task(s.batcher.submit([make_item(2)], late))]
        calls.append(asyncio.create_task(s.batcher.submit([make_item(2), make_item(3), make_item(4)], late)))
        patient = asyncio.create_task(s.batcher.submit([make_item(3)], ANY))
        await settle()
        clock.now_s = 11.0
        s.backend.open_gate()
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(result) for result in results] == [DeadlineExpiredError] * 2
        await asyncio.gather(blocker, patient)
        statistics = s.batcher.statistics()
    assert s.backend.batches == [[1], [3]]
    assert (statistics.expired_items, statistics.pending_items, statistics.pending_tokens) == (4, 0, 0)


async def test_a_deadline_that_cannot_be_met_is_shed_and_counted_apart() -> None:
    async with serving(limits=make_limits(fixed_s=1000.0), clock=Clock()) as s:
        with pytest.raises(DeadlineExpiredError):
            await s.batcher.submit([make_item(1)], Call(deadline_s=500.0))
        statistics = s.batcher.statistics()
    assert s.backend.batches == []
    assert (statistics.shed_items, statistics.expired_items) == (1, 0)


async def test_a_caller_with_more_time_keeps_what_another_could_not_wait_for() -> None:
    async with serving(limits=make_limits(fixed_s=1000.0, max_rows=1), clock=Clock()) as s:
        s.backend.close_gate()
        blocker = asyncio.create_task(s.batcher.submit([make_item(1)], ANY))
        await s.backend.wait_entered()
        hasty = asyncio.create_task(s.batcher.submit([make_item(2)], Call(deadline_s=500.0)))
        await settle()
        patient = asyncio.create_task(s.batcher.submit([make_item(2)], ANY))
        await settle()
        s.backend.open_gate()
        assert (await patient).values.tolist() == [[2, 4]]
        await asyncio.gather(blocker, hasty)
    assert s.backend.batches == [[1], [2]]


async def test_an_interactive_caller_takes_bulk_work_it_joins_along() -> None:
    async with serving(limits=ONE_ROW) as s:
        s.backend.close_gate()
        bulk = Call(priority=Priority.BULK)
        calls = [asyncio.create_task(s.batcher.submit([make_item(i)], bulk)) for i in range(6)]
        await s.backend.wait_entered()
        calls.append(asyncio.create_task(s.batcher.submit([make_item(5)], ANY)))
        await settle()
        s.backend.open_gate()
        await asyncio.gather(*calls)
    order = [batch[0] for batch in s.backend.batches]
    assert order[:2] in ([0, 5], [0, 1])
    assert order.index(5) <= 2
