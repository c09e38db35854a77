"""Sources are read once for all of their summaries, and not at all for nobody."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.judge.config import JudgementCacheConfig
from pipeline.judge.judge import Judge, JudgeCaches
from pipeline.off_loop import NobodyWaitsError, OffLoop, stop_if_nobody_waits, stoppable

SOURCE = "Acme makes engines in Leeds. It was founded in 1921. Sales fell by 12% last year."


def reader(config: JudgementCacheConfig | None = None) -> Judge:
    return Judge(caches=JudgeCaches(config))


async def test_summaries_of_one_source_share_its_reading() -> None:
    sources = reader()
    first = await sources.read(SOURCE)
    assert await sources.read(SOURCE) is first
    assert await sources.read(f"{SOURCE} ") is not first


async def test_sixteen_requests_that_arrive_together_read_once() -> None:
    with ThreadPoolExecutor(4) as executor:
        sources = Judge(executor=executor, caches=JudgeCaches())
        found = await asyncio.gather(*(sources.read(SOURCE) for _ in range(16)))
    assert len({id(one) for one in found}) == 1


async def test_no_more_characters_are_kept_than_allowed() -> None:
    sources = reader(JudgementCacheConfig(max_source_chars=len(SOURCE)))
    first = await sources.read(SOURCE)
    await sources.read(SOURCE.replace("Acme", "Emca"))
    assert await sources.read(SOURCE) is not first


@pytest.mark.parametrize(
    "steps",
    [lambda: iter(stop_if_nobody_waits, ...), lambda: stoppable(itertools.count())],
    ids=["it looks", "its items look"],
)
async def test_work_ends_in_its_thread_once_nobody_waits_for_it(steps: Callable[[], Iterator[object]]) -> None:
    began, ended = threading.Event(), threading.Event()

    def work() -> None:
        try:
            for _ in steps():
                began.set()
        finally:
            ended.set()

    with ThreadPoolExecutor(1) as executor:
        task = asyncio.create_task(OffLoop(executor)(work))
        await asyncio.to_thread(began.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ended.is_set()  # leaving the executor waits for its threads


async def test_the_next_work_of_a_thread_is_not_stopped_by_the_last() -> None:
    def cancelled() -> None:
        raise NobodyWaitsError

    with ThreadPoolExecutor(1) as executor:
        off_loop = OffLoop(executor)
        with pytest.raises(NobodyWaitsError):
            await off_loop(cancelled)
        await off_loop(stop_if_nobody_waits)
