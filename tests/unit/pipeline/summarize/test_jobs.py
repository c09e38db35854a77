"""Summaries without a reader: submitted, run, watched, listed, deleted."""

import asyncio
from pathlib import Path

import pytest

from pipeline.errors import InvalidInputError
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.errors import JobQueueFullError
from pipeline.summarize.events import Accepted, BatchDone, Event, Finished, Planned
from pipeline.summarize.jobs import JobRunner
from pipeline.summarize.storage.leases import QueuedJob
from pipeline.summarize.storage.records import StoredSummary, SummaryStatus
from pipeline.summarize.storage.schema import Statement
from pipeline.summarize.summarizer import JobPriority, Summarizer
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, summarizer_in
from tests.unit.pipeline.summarize.test_durability import FAILURES, EndpointDown

QUICK = {"jobs": {"poll_s": 0.05}, "heartbeat_s": 0.05, "lease_ttl_s": 1.0}
OPTIONS = SummarizeOptions()


async def submit(
    jobs: Summarizer, writer: ScriptedWriter, chunk_count: int = 20, *, priority: JobPriority = JobPriority.BULK
) -> StoredSummary:
    document = numbered_document(chunk_count)
    return await jobs.submit(document, writer=writer, options=OPTIONS, priority=priority)


def last(events: list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


async def test_a_submitted_summary_is_written_without_a_reader(
    tmp_path: Path, postgres_url_or_none: str | None
) -> None:
    writer = ScriptedWriter(identity="jobs")
    async with summarizer_in(postgres_url_or_none or tmp_path, **QUICK) as jobs, JobRunner(jobs, writer):
        queued = await submit(jobs, writer)
        assert queued.status is SummaryStatus.QUEUED
        events = await read_all(jobs.watch(queued.summary_id))
        assert not await jobs.store.jobs.holds(queued.summary_id)
    assert last(events).result.status is SummaryStatus.DONE
    assert last(events).result.calls_done == last(events).result.calls_planned


async def test_who_comes_late_is_told_what_happened_so_far(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    writer.gate = asyncio.Event()
    async with summarizer_in(tmp_path, **QUICK) as jobs, JobRunner(jobs, writer):
        queued = await submit(jobs, writer)
        first = jobs.watch(queued.summary_id)
        while not isinstance(await anext(first), Planned):
            pass
        late = asyncio.create_task(read_all(jobs.watch(queued.summary_id)))
        await first.aclose()  # a watcher who leaves stops nothing
        writer.gate.set()
        events = await late
    assert [type(event) for event in events][:2] == [Accepted, Planned]
    assert sum(isinstance(event, BatchDone) for event in events) >= 1
    assert last(events).result.status is SummaryStatus.DONE


async def test_a_job_goes_on_after_a_restart_without_repeating_a_call(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    seen = asyncio.Event()

    def after_ten(_: object) -> None:
        if len(writer.asked) > 10:
            seen.set()

    writer.before = after_ten
    async with summarizer_in(tmp_path, **QUICK) as jobs:
        async with JobRunner(jobs, writer):
            queued = await submit(jobs, writer, 203)
            await seen.wait()
            jobs.put_aside()
        assert await jobs.store.jobs.holds(queued.summary_id)
    async with summarizer_in(tmp_path, **QUICK) as jobs, JobRunner(jobs, writer):
        done = last(await read_all(jobs.watch(queued.summary_id))).result
    assert done.status is SummaryStatus.DONE
    assert len(writer.answered) == len(set(writer.answered)) >= done.calls_done


async def test_a_job_that_another_server_runs_loses_no_attempt(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, **QUICK) as one, summarizer_in(tmp_path, **QUICK) as two:
        summary_id = (await submit(one, writer)).summary_id
        await one.store.leases.acquire(summary_id, 60)
        for _ in range(two.config.jobs.max_attempts):
            await JobRunner(two, writer)._run(QueuedJob(summary_id, one.owner))  # noqa: SLF001 - as if it was free
        assert await two.store.jobs.begin(summary_id) == 1
    assert not writer.asked


async def test_a_failed_job_ends_and_can_be_submitted_again(tmp_path: Path) -> None:
    down = EndpointDown(FAILURES["first batch"])
    writer = ScriptedWriter(before=down)
    async with summarizer_in(tmp_path, **QUICK) as jobs, JobRunner(jobs, writer):
        queued = await submit(jobs, writer)
        failed = last(await read_all(jobs.watch(queued.summary_id))).result
        down.is_mended = True
        await jobs.submit_again(queued.summary_id)
        done = last(await read_all(jobs.watch(queued.summary_id))).result
    assert (failed.status, done.status) == (SummaryStatus.FAILED, SummaryStatus.DONE)


async def test_a_queued_job_is_cancelled_and_never_run(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, **QUICK) as jobs:
        queued = await submit(jobs, writer)
        await jobs.cancel(queued.summary_id)
        async with JobRunner(jobs, writer):
            other = await submit(jobs, writer, 21)
            await read_all(jobs.watch(other.summary_id))
        assert (await jobs.get(queued.summary_id)).status is SummaryStatus.CANCELLED


async def test_jobs_are_taken_by_priority_then_by_age(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, **QUICK) as jobs:
        bulk = [await submit(jobs, writer, count) for count in (20, 21)]
        urgent = await submit(jobs, writer, 22, priority=JobPriority.INTERACTIVE)
        order = [job.summary_id for job in await jobs.store.jobs.next()]
    assert order == [urgent.summary_id, *(one.summary_id for one in bulk)]


async def test_a_full_queue_refuses_and_takes_what_it_has_again(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, jobs={"max_queued": 1}) as jobs:
        queued = await submit(jobs, writer)
        with pytest.raises(JobQueueFullError):
            await submit(jobs, writer, 21)
        assert (await jobs.submit_again(queued.summary_id)).status is SummaryStatus.QUEUED


async def test_owners_take_turns_whatever_priority_one_of_them_chooses(
    tmp_path: Path, postgres_url_or_none: str | None
) -> None:
    writer = ScriptedWriter(identity="turns")
    async with summarizer_in(postgres_url_or_none or tmp_path) as summarizer:
        anns, bobs = (summarizer.owned_by(owner) for owner in ("ann", "bob"))
        urgent = JobPriority.INTERACTIVE
        first, second, third = [await submit(anns, writer, count, priority=urgent) for count in (20, 21, 22)]
        waiting = [await submit(bobs, writer, count) for count in (23, 24)]
        queue, names = summarizer.store.jobs, {one.summary_id: one for one in (first, second, third, *waiting)}
        order = [names[job.summary_id] for job in await queue.next() if job.summary_id in names]
        await summarizer.store.leases.acquire(first.summary_id, 60.0)  # what runs is a turn that was taken
        beside = [names[job.summary_id] for job in await queue.next() if job.summary_id in names]
        for one in names:
            await queue.remove(one)
    assert order == [first, waiting[0], second, waiting[1], third]
    assert beside == [waiting[0], second, waiting[1], third]


async def test_an_owner_may_queue_as_many_as_are_free(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, jobs={"max_queued": 4}) as summarizer:
        anns, bobs = (summarizer.owned_by(owner) for owner in ("ann", "bob"))
        for count in (20, 21):
            await submit(anns, writer, count)
        with pytest.raises(JobQueueFullError):
            await submit(anns, writer, 22)
        assert (await submit(bobs, writer, 23)).status is SummaryStatus.QUEUED


async def test_summaries_are_listed_in_pages_the_newest_first_and_by_owner(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as jobs:
        made = [(await submit(jobs, writer, count)).summary_id for count in (20, 21, 22, 23, 24)]
        for second, summary_id in enumerate(made, 1):  # made within one tick of the clock, they would be equally old
            made_at = Statement("UPDATE summaries SET created_at = ? WHERE summary_id = ?", (second, summary_id))
            await jobs.store._database.transact([made_at])  # noqa: SLF001
        await submit(jobs.owned_by("another"), writer, 25)
        listed: list[str] = []
        token = ""
        while token or not listed:
            page = await jobs.page(2, token)
            assert len(page.summaries) <= 2
            listed += [one.summary_id for one in page.summaries]
            token = page.next_page_token
        with pytest.raises(InvalidInputError, match="page_token"):
            await jobs.page(2, "nonsense")
    assert listed == made[::-1]
