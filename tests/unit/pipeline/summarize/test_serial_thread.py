"""One thread, in order, visited rarely, and nothing handed over is lost."""

import asyncio
import threading
from functools import partial

import pytest

from pipeline.summarize.errors import StorageError
from pipeline.summarize.storage.sqlite import SerialThread


async def test_work_is_done_in_order_on_one_named_thread() -> None:
    seen: list[tuple[int, str]] = []

    def note(number: int) -> None:
        seen.append((number, threading.current_thread().name))

    thread = SerialThread("worker")
    await asyncio.gather(*(thread.run(partial(note, number)) for number in range(9)))
    await thread.close()
    assert [number for number, _ in seen] == list(range(9))
    assert {name for _, name in seen} == {"worker_0"}


async def test_what_is_handed_over_together_is_finished_together() -> None:
    rounds: list[int] = []
    done: list[int] = []
    thread = SerialThread("worker", lambda: rounds.append(len(done)))
    await asyncio.gather(*(thread.run(partial(done.append, number)) for number in range(5)))
    assert rounds == [5]
    await thread.run(lambda: done.append(5))
    assert rounds == [5, 6]
    await thread.close()


async def test_an_error_belongs_to_its_caller_alone() -> None:
    thread = SerialThread("worker")
    bad, good = await asyncio.gather(thread.run(lambda: 1 / 0), thread.run(lambda: 7), return_exceptions=True)
    assert isinstance(bad, ZeroDivisionError)
    assert good == 7
    await thread.close()


async def test_an_error_at_the_end_of_a_round_belongs_to_all_its_callers() -> None:
    errors = [OSError("disk"), None]

    def finish() -> None:
        if errors and (error := errors.pop(0)):
            raise error

    thread = SerialThread("worker", finish)
    answers = await asyncio.gather(*(thread.run(lambda: 7) for _ in range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [OSError] * 3
    assert await thread.run(lambda: 7) == 7
    await thread.close()


async def test_work_of_a_cancelled_caller_is_still_done() -> None:
    done = threading.Event()
    thread = SerialThread("worker")
    caller = asyncio.create_task(thread.run(done.set))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await thread.close()
    assert done.is_set()


async def test_work_that_is_handed_over_while_it_closes_is_done() -> None:
    thread, gate = SerialThread("worker"), threading.Event()
    first = asyncio.create_task(thread.run(gate.wait))
    await asyncio.sleep(0)
    closing = asyncio.create_task(thread.close())
    await asyncio.sleep(0)  # it waits for the first
    later = asyncio.create_task(thread.run(partial(int, 7)))
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.wait_for(later, 60) == 7
    await asyncio.wait_for(closing, 60)
    assert await first


async def test_work_after_the_end_is_refused() -> None:
    thread = SerialThread("worker")
    await thread.run(int)
    await thread.close()
    with pytest.raises(StorageError, match="closed"):
        await asyncio.wait_for(thread.run(int), 60)
