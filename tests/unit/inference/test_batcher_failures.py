"""Items that fail, workers that die, backends that hang."""

import asyncio
import threading

import numpy as np
import pytest

from inference.errors import NoWorkerError, PoisonedItemError, RefusedError, WorkerDiedError
from tests.fakes import FakeBackend
from tests.unit.inference.serving import make_limits, serving, until

TOGETHER = make_limits(fixed_s=100.0, token_s=0.001)
BACKOFF = {"restart_backoff_s": 0.001}


@pytest.mark.parametrize("fault", ["poison", "nan"])
async def test_only_the_poisoned_item_of_a_batch_fails(fault: str) -> None:
    async with serving(limits=TOGETHER) as s:
        getattr(s.backend, fault).add(2)
        ticket = await s.submit(*range(5))
        statistics = s.batcher.statistics()
    assert list(ticket.errors) == [2]
    assert isinstance(ticket.errors[2], PoisonedItemError)
    assert np.isnan(ticket.values[2]).all()
    assert ticket.values[[0, 1, 3, 4], 0].tolist() == [0, 1, 3, 4]
    assert (statistics.computed_items, statistics.failed_items) == (4, 1)


async def test_another_callers_item_in_the_same_batch_is_answered() -> None:
    async with serving(limits=TOGETHER) as s:
        s.backend.poison.add(2)
        async with s.held(0):
            bad, good = s.start(2), s.start(3)
        assert (await good).errors == {}
        assert list((await bad).errors) == [0]
    assert [2, 3] in s.backend.batches


async def test_a_failure_is_not_cached() -> None:
    async with serving() as s:
        s.backend.poison.add(1)
        assert (await s.submit(1)).errors
        s.backend.poison.clear()
        assert (await s.submit(1)).errors == {}


async def test_items_are_not_blamed_for_a_broken_backend() -> None:
    async with serving(limits=TOGETHER) as s:
        s.backend.is_broken = True
        ticket = await s.submit(*range(3))
        assert ticket.errors == {}
        assert s.backend.reopen_count >= 1
        assert s.pool.restart_count >= 1


async def test_a_dead_worker_is_replaced_and_only_what_killed_it_fails() -> None:
    async with serving(limits=TOGETHER) as s:
        s.backend.killers.add(3)
        ticket = await s.submit(*range(6))
        assert list(ticket.errors) == [3]
        assert isinstance(ticket.errors[3], WorkerDiedError)
        assert ticket.values[[0, 1, 2, 4, 5], 0].tolist() == [0, 1, 2, 4, 5]
        assert (await s.submit(9)).errors == {}


async def test_readiness_tells_of_a_death_and_of_the_replacement() -> None:
    changes: list[bool] = []
    wake = asyncio.Event()

    def note(is_ready: bool) -> None:  # noqa: FBT001
        changes.append(is_ready)
        wake.set()

    async with serving() as s:
        s.pool.on_ready = note
        assert s.pool.is_ready
        s.backend.killers.add(3)
        await s.submit(3)
        await until(lambda: s.pool.is_ready and len(changes) >= 4, wake)
    assert changes == [False, True, False, True]  # it died with the item twice: once in company, once alone


async def test_the_other_worker_goes_on_while_one_is_dead() -> None:
    slow_restart = {"restart_backoff_s": 1000.0}
    async with serving(workers=2, runtime=slow_restart) as s:
        s.backend.killers.add(3)
        s.backend.kills_left = 1
        assert (await s.submit(3)).errors == {}  # tried again, by the other worker
        assert not s.pool.is_ready
        assert (await s.submit(4)).errors == {}


async def test_nobody_waits_for_workers_that_cannot_be_started() -> None:
    async with serving() as s:
        s.backend.is_broken, s.backend.reopen_helps = True, False
        ticket = await s.submit(1, 2)
        assert all(isinstance(error, WorkerDiedError) for error in ticket.errors.values())
        assert len(ticket.errors) == 2
        with pytest.raises(NoWorkerError):
            await s.submit(3)
        wake = asyncio.Event()
        s.pool.on_ready = lambda _: wake.set()
        s.backend.reopen_helps = True
        await until(lambda: s.pool.is_ready, wake)
        assert (await s.submit(4)).errors == {}


async def test_a_worker_that_hangs_is_given_up_and_its_items_are_computed_by_another() -> None:
    async with serving(runtime=BACKOFF | {"stall_timeout_s": 0.05}) as s:
        s.backend.close_gate()
        call = s.start(1)
        await s.backend.wait_entered(2)  # the second run is that of the replacement
        assert not call.done()
        s.backend.open_gate()
        assert (await call).values.tolist() == [[1, 4]]
        assert s.pool.restart_count == 1
        assert s.batcher.statistics().pending_items == 0


async def test_a_run_that_does_not_end_is_interrupted_when_the_pool_is_left() -> None:
    await _leave_with_a_run_that_does_not_end(interrupt_helps=True)


def test_a_run_that_nothing_ends_is_answered_and_outlives_the_loop_quietly() -> None:
    backend = asyncio.run(_leave_with_a_run_that_does_not_end(interrupt_helps=False))
    (thread,) = (thread for thread in threading.enumerate() if thread.name.startswith("precis-worker"))
    backend.open_gate()
    thread.join()  # an exception in it fails the test: pytest turns it into an error


async def _leave_with_a_run_that_does_not_end(*, interrupt_helps: bool) -> FakeBackend:
    async with serving(runtime=BACKOFF | {"stop_timeout_s": 0.01}) as s:
        s.backend.interrupt_helps = interrupt_helps
        s.backend.close_gate()
        call = s.start(1)
        await s.backend.wait_entered()
    with pytest.raises(RefusedError):
        await call
    return s.backend
