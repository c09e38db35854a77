"""What goes with a summary that is deleted, and what stays."""

import asyncio
from pathlib import Path

import pytest
from psycopg import AsyncConnection

from pipeline.summarize.errors import SummaryRunningError, UnknownSummaryError
from pipeline.summarize.events import Planned
from pipeline.summarize.jobs import JobRunner
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.storage.sqlite import SqliteDatabase
from pipeline.summarize.storage.store import _OF_ITS_DOCUMENT, _OF_ONE, _PAGE
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.test_jobs import OPTIONS, QUICK, submit


async def test_a_deleted_summary_is_gone_with_its_texts(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, **QUICK) as jobs, JobRunner(jobs, writer):
        first, second = await submit(jobs, writer, 20), await submit(jobs, writer, 48)
        for one in (first, second):
            await read_all(jobs.watch(one.summary_id))
        await jobs.delete(first.summary_id)
        with pytest.raises(UnknownSummaryError):
            await jobs.get(first.summary_id)
        assert await jobs.store.chunks(first.document_sha256) == ()
        asked = len(writer.asked)
        again = await submit(jobs, writer, 20)
        await read_all(jobs.watch(again.summary_id))
        assert len(writer.asked) > asked  # its own last batch, at least, is asked for again
        assert (await jobs.get(second.summary_id)).result.text


async def test_what_one_owner_asks_for_looks_through_nothing_of_others(tmp_path: Path) -> None:
    """A deletion that did took 1.2 s of everybody's storage beside 200 books of others."""
    async with SqliteDatabase(tmp_path / "summaries.sqlite") as database:
        for sql in (*_OF_ONE, *_OF_ITS_DOCUMENT, _PAGE):
            steps = await database.fetch(f"EXPLAIN QUERY PLAN {sql}", *sql.count("?") * [""])
            assert not [step for *_, step in steps if step.startswith("SCAN")], sql


async def test_to_delete_a_summary_in_postgres_leaves_its_document_to_one_that_begins_meanwhile(
    request: pytest.FixtureRequest,
) -> None:
    url, writer, document = str(request.getfixturevalue("postgres_url")), ScriptedWriter(), numbered_document(31)
    sha256 = document.sha256
    async with (
        summarizer_in(url) as summarizer,
        await AsyncConnection.connect(url) as blocker,
        await AsyncConnection.connect(url, autocommit=True) as watcher,
    ):
        jobs = summarizer

        async def is_waited(count: int) -> bool:
            rows = await watcher.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
            return int((await rows.fetchone() or (0,))[0]) >= count

        old = await jobs.submit(document, writer=writer, options=OPTIONS)
        chunk_rows = "SELECT 1 FROM document_chunks WHERE document_sha256 = %s FOR UPDATE"
        await blocker.execute(chunk_rows, (sha256,))  # the deletion stops in its middle
        deleting = asyncio.create_task(jobs.delete(old.summary_id))
        while not await is_waited(1):
            pass
        submitting = asyncio.create_task(jobs.submit(document, writer=writer, options=OPTIONS))
        while not (submitting.done() or await is_waited(2)):
            pass
        await blocker.rollback()
        await deleting
        made = await submitting
        assert (await summarizer.store.document_of(made)).chunks == document.chunks
        await jobs.delete(made.summary_id)


async def test_answers_that_are_used_again_outlive_their_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        first = result_of(await read_all(summarizer.stream(numbered_document(20), writer=writer)))
        find = summarizer.store.result

        async def find_and_delete(result_key: str) -> str | None:
            body = await find(result_key)
            await summarizer.store.delete(first.summary_id)
            return body

        monkeypatch.setattr(summarizer.store, "result", find_and_delete)
        longer = result_of(await read_all(summarizer.stream(numbered_document(27), writer=writer)))
    assert longer.status is SummaryStatus.DONE
    assert longer.calls_reused >= 1


async def test_a_running_summary_is_not_deleted(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    writer.gate = asyncio.Event()
    async with summarizer_in(tmp_path, **QUICK) as jobs, JobRunner(jobs, writer):
        queued = await submit(jobs, writer)
        watch = jobs.watch(queued.summary_id)
        while not isinstance(await anext(watch), Planned):
            pass
        with pytest.raises(SummaryRunningError):
            await jobs.delete(queued.summary_id)
        writer.gate.set()
        await read_all(watch)
