import asyncio
import random
from contextlib import nullcontext

import pytest

from inference.batching.batch import Batch
from inference.batching.in_flight import Entry
from inference.call import Call, Priority
from inference.errors import ListTooLongError, QueueFullError, ShuttingDownError
from inference.statistics import BatchRecord
from tests.unit.inference.serving import ANY, make_item, make_limits, serving, settle


async def test_an_idle_worker_starts_at_once_and_batches_grow_while_it_is_busy() -> None:
    async with serving(limits=make_limits(fixed_s=1.0)) as s:
        async with s.held(0):
            calls = [s.start(number) for number in range(1, 7)]
        await asyncio.gather(*calls)
    assert s.backend.batches == [[0], [1, 2, 3, 4, 5, 6]]


async def test_every_item_of_many_calls_gets_exactly_its_answer() -> None:
    random.seed(5)
    async with serving(limits=make_limits(fixed_s=1.0), workers=3, cache={"max_bytes": 20_000}) as s:

        async def call() -> None:
            numbers = [(random.randrange(300), random.randrange(1, 40)) for _ in range(random.randrange(1, 20))]
            priority = random.choice(list(Priority))
            ticket = await s.batcher.submit([make_item(*number) for number in numbers], Call(priority=priority))
            assert ticket.values.tolist() == [list(number) for number in numbers]

        await asyncio.gather(*(call() for _ in range(200)))
        statistics = s.batcher.statistics()
    assert statistics.pending_items == statistics.pending_tokens == 0
    assert statistics.rows + statistics.joined_items == statistics.computed_items  # each item once
    assert max(len(batch) for batch in s.backend.batches) <= 8
    assert all(len(b) == 1 or len(b) * w <= 128 for b, w in zip(s.backend.batches, s.backend.widths, strict=True))


async def test_the_same_item_is_computed_once_while_it_is_in_flight() -> None:
    async with serving(cache={"max_bytes": 0}) as s:
        s.backend.close_gate()
        calls = [s.start(1, 1) for _ in range(3)]
        await s.backend.wait_entered()
        s.backend.open_gate()
        tickets = await asyncio.gather(*calls)
        statistics = s.batcher.statistics()
    assert s.backend.batches == [[1]]
    assert [ticket.values.tolist() for ticket in tickets] == [[[1, 4], [1, 4]]] * 3
    assert [ticket.cache_hit_count for ticket in tickets] == [1, 2, 2]
    assert (statistics.computed_items, statistics.joined_items) == (6, 5)


async def test_the_same_item_is_answered_from_the_cache_later() -> None:
    async with serving() as s:
        await s.submit(1)
        (await s.submit(1)).values[:] = -1  # answers are the caller's own to change
        ticket = await s.submit(1, 2)
    assert s.backend.batches == [[1], [2]]
    assert ticket.cache_hit_count == 1
    assert ticket.values.tolist() == [[1, 4], [2, 4]]


async def test_a_cached_answer_needs_no_room_in_the_queue() -> None:
    async with serving(queue={"max_queue_items": 1}) as s:
        await s.submit(1)
        async with s.held(2):
            assert (await s.submit(1)).values.tolist() == [[1, 4]]


@pytest.mark.parametrize(("unit", "bound"), [("items", 4), ("tokens", 16)])
async def test_a_full_queue_refuses_a_list_whole_and_at_once(unit: str, bound: int) -> None:
    async with serving(queue={f"max_queue_{unit}": bound}) as s:
        s.backend.close_gate()
        first = s.start(*range(3))
        await s.backend.wait_entered()
        with pytest.raises(QueueFullError) as caught:
            await s.submit(8, 9)
        assert caught.value.retry_after_s > 0
        assert s.batcher.statistics().pending_items == 3
        second = s.start(8)
        await settle()
        s.backend.open_gate()
        await asyncio.gather(first, second)
        with pytest.raises(ListTooLongError, match=unit):
            await s.submit(*range(100, 105))
        assert s.batcher.statistics().refused_calls == 2
    assert 9 not in [number for batch in s.backend.batches for number in batch]


async def test_room_is_checked_and_held_before_tokens_are_known() -> None:
    async with serving(queue={"max_queue_items": 3}) as s:
        with s.batcher.held(2, ANY):
            with pytest.raises(QueueFullError):
                s.batcher.check_room(2, ANY)
            s.batcher.check_room(1, ANY)
        s.batcher.check_room(3, ANY)


async def test_a_long_list_lets_other_calls_through_while_it_is_queued() -> None:
    async with serving() as s:
        s.backend.close_gate()
        long = asyncio.create_task(s.batcher.submit([make_item(i) for i in range(1000)], Call(priority=Priority.BULK)))
        await asyncio.sleep(0)
        assert 0 < s.batcher.statistics().pending_tokens < 4000  # a slice of it, and the loop is free again
        assert s.batcher.statistics().pending_items == 1000  # all of it is admitted
        s.backend.open_gate()
        assert (await long).values[:, 0].tolist() == list(range(1000))


async def test_closing_refuses_new_calls_and_finishes_the_admitted() -> None:
    async with serving() as s:
        s.backend.close_gate()
        admitted = s.start(1, 2)
        await s.backend.wait_entered()
        s.batcher.close()
        with pytest.raises(ShuttingDownError):
            await s.submit(3)
        drained = asyncio.create_task(s.batcher.drained())
        await settle()
        assert not drained.done()
        s.backend.open_gate()
        await drained
        assert (await admitted).values[:, 0].tolist() == [1, 2]


async def test_leaving_the_pool_refuses_what_was_not_begun_and_answers_what_was() -> None:
    async with serving(limits=make_limits(max_rows=1)) as s:
        s.backend.close_gate()
        calls = [s.start(i) for i in range(3)]
        await s.backend.wait_entered()
        calls[2].add_done_callback(lambda _: s.backend.open_gate())
    begun, *waiting = await asyncio.gather(*calls, return_exceptions=True)
    assert not isinstance(begun, BaseException)
    assert begun.values.tolist() == [[0, 4]]
    assert [type(result) for result in waiting] == [ShuttingDownError] * 2
    assert s.batcher.statistics().pending_items == 0


async def test_timings_and_the_record_tell_of_the_batch() -> None:
    records: list[BatchRecord] = []
    async with serving(observe=records.append, limits=make_limits(fixed_s=100.0, token_s=0.001)) as s:
        ticket = await s.batcher.submit([make_item(1, 4), make_item(2, 6)], ANY)
    (record,) = records
    assert (record.model, record.rows, record.tokens, record.padded_tokens) == ("fake", 2, 10, 12)
    assert record.queue_s >= 0
    assert ticket.queued_s <= ticket.started_s <= ticket.finished_s
    assert ticket.finished_s - ticket.started_s == pytest.approx(record.compute_s)


async def test_what_cannot_meet_its_deadline_behind_the_queue_is_refused_on_arrival() -> None:
    clock_s = 100.0
    limits = make_limits(fixed_s=0.0, token_s=0.1, max_rows=1)  # 0.4 s an item
    async with serving(limits=limits, clock=lambda: clock_s) as s:
        s.backend.close_gate()
        heavy = [asyncio.create_task(s.batcher.submit([make_item(i)], Call(caller="heavy"))) for i in range(50)]
        await s.backend.wait_entered()
        soon, later = clock_s + 2.0, clock_s + 60.0
        with pytest.raises(QueueFullError) as caught:
            await s.submit(90, call=Call(soon, caller="heavy"))
        assert 15 < caught.value.retry_after_s < 30  # 49 items wait: 19.6 s
        admitted = [s.start(91, call=Call(soon, caller="light")), s.start(92, call=Call(later, caller="heavy"))]
        await settle()
        assert s.batcher.statistics().pending_items == 52
        s.backend.open_gate()
        await asyncio.gather(*heavy, *admitted)
        numbers = [number for batch in s.backend.batches for number in batch]
        assert numbers.index(91) < 5  # one caller's turn, however many items another has
        assert numbers[-1] == 92


async def test_what_cannot_be_in_time_is_refused_before_it_is_tokenized_and_told_when_the_queue_is_done() -> None:
    clock_s = 100.0
    async with serving(limits=make_limits(fixed_s=0.0, token_s=0.1, max_rows=1), clock=lambda: clock_s) as s:
        await s.submit(1)  # how long items are is known now: 0.4 s
        s.backend.close_gate()
        calls = [s.start(number, call=Call(caller="heavy")) for number in range(2, 52)]
        await s.backend.wait_entered()
        for left_s, caller in ((60.0, "heavy"), (3.0, "light"), (None, "heavy")):
            s.batcher.check_room(1, Call(None if left_s is None else clock_s + left_s, caller=caller))
        with pytest.raises(QueueFullError) as caught:
            s.batcher.check_room(1, Call(clock_s + 20.0, caller="heavy"))
        assert 15 < caught.value.retry_after_s < 30  # 49 items wait
        s.backend.open_gate()
        await asyncio.gather(*calls)


async def test_what_is_tokenized_counts_as_what_waits_so_that_no_second_call_is_tokenized_in_vain() -> None:
    clock_s = 100.0
    async with serving(limits=make_limits(fixed_s=0.0, token_s=0.1, max_rows=1), clock=lambda: clock_s) as s:
        await s.submit(1)
        heavy, light = (Call(clock_s + 10.0, caller=caller) for caller in ("heavy", "light"))
        with s.batcher.held(20, Call(caller="heavy")):  # 8 s
            with pytest.raises(QueueFullError):
                s.batcher.check_room(1, heavy)
            s.batcher.check_room(1, light)
        s.batcher.check_room(1, heavy)


async def test_what_is_tokenized_is_not_refused_by_the_bound_that_let_it_in() -> None:
    clock_s = 100.0
    async with serving(limits=make_limits(fixed_s=0.0, token_s=0.1, max_rows=1), clock=lambda: clock_s) as s:
        await s.submit(1)
        s.backend.close_gate()
        calls = [s.start(number) for number in range(2, 52)]
        await s.backend.wait_entered()
        call = Call(clock_s + 52.0)  # 49 items wait: with one more 20 s, which fit 2.6 times
        with pytest.raises(QueueFullError):
            s.batcher.check_room(1, call)
        calls.append(s.start(52, call=call))
        await settle()
        assert not calls[-1].done()
        s.backend.open_gate()
        await asyncio.gather(*calls)


@pytest.mark.parametrize(("pause_s", "is_refused"), [(0.0, False), (4.0, True)])
async def test_time_between_batches_counts_as_theirs(pause_s: float, *, is_refused: bool) -> None:
    clock_s = 100.0
    async with serving(limits=make_limits(fixed_s=0.0, token_s=0.1, max_rows=1), clock=lambda: clock_s) as s:
        done = await s.submit(1)
        for _ in range(20):
            entry = Entry(make_item(1), ANY, now_s=clock_s - pause_s)
            batch = Batch([entry], [], now_s=clock_s)
            batch.free_s, batch.finished_s, batch.values = clock_s - pause_s, clock_s + 0.4, [done.values[0]]
            s.batcher._note(batch)  # noqa: SLF001 - as of a worker that was kept from its next batch
        s.backend.close_gate()
        calls = [s.start(number) for number in range(2, 12)]
        await s.backend.wait_entered()
        with pytest.raises(QueueFullError) if is_refused else nullcontext():
            s.batcher.check_room(1, Call(clock_s + 14.0))
        s.backend.open_gate()
        await asyncio.gather(*calls)
