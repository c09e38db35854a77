"""The same rules hold in SQLite and in a real Postgres."""

import asyncio
import sqlite3
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from pipeline.summarize.document import SourceChunk, SummarizeOptions
from pipeline.summarize.errors import StorageError, StorageFullError
from pipeline.summarize.events import Accepted, BatchDone
from pipeline.summarize.storage.records import (
    PlanRecord,
    Stage,
    StepId,
    StepOutput,
    StoredSummary,
    SummaryRequest,
    SummaryStatus,
)
from pipeline.summarize.storage.schema import Database, Statement
from pipeline.summarize.storage.sqlite import SqliteDatabase
from pipeline.summarize.storage.store import SummaryStore
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.conftest import OpenDatabase
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in

REQUEST = SummaryRequest("id", "Name", 3, 0, SummarizeOptions(wave="all"), "writer")
OUTPUT = StepOutput(0, "key", 7, (1, 2), (3, 4))


async def create(store: SummaryStore, key: str | None = None, request_key: str = "") -> StoredSummary:
    request_key = request_key or uuid4().hex
    return await store.create(REQUEST, request_key=request_key, document_sha256="doc", idempotency_key=key)


async def test_a_summary_is_read_back_as_it_was_stored(open_database: OpenDatabase) -> None:
    async with open_database() as database:
        store = SummaryStore(database)
        created = await create(store)
        await store.set_plan(created.summary_id, PlanRecord("plan", 270, 269, 1_000))
        found = await store.find(created.summary_id)
    assert (created.status, created.is_leased, created.plan, created.result) == (
        SummaryStatus.RUNNING,
        False,
        None,
        None,
    )
    assert found is not None
    assert found.request == REQUEST
    assert found.plan is not None
    assert found.plan.calls(2) == 539


async def test_an_idempotency_key_is_given_once_however_many_ask(open_database: OpenDatabase) -> None:
    key = uuid4().hex
    async with open_database() as one, open_database() as two:
        stores = [SummaryStore(one), SummaryStore(two)]
        summaries = await asyncio.gather(*(create(store, key) for store in stores * 4))
    assert len({summary.summary_id for summary in summaries}) == 1


async def test_documents_keep_their_chunks_and_texts_are_stored_once(open_database: OpenDatabase) -> None:
    name = uuid4().hex
    chunks = tuple(SourceChunk(index, index // 3, f"{name} {index % 50}") for index in range(450))
    async with open_database() as database:
        store = SummaryStore(database)
        await store.save_document(name, chunks)
        await store.save_document(name, chunks)
        assert await store.chunks(name) == chunks
        assert await store.chunks("unknown") == ()
        rows = await database.fetch(Statement("SELECT COUNT(*) FROM texts WHERE body LIKE ?", (f"{name} %",)))
    assert rows[0][0] == 50


async def test_steps_are_counted_once_and_read_in_order(open_database: OpenDatabase) -> None:
    async with open_database() as database:
        store = SummaryStore(database)
        summary_id = (await create(store)).summary_id
        key = uuid4().hex
        output = OUTPUT._replace(result_key=key)
        are_new = [
            await store.record(summary_id, [(StepId(1, Stage.MAP, 0, at), output, '{"a": "ä?%"}')], is_call=True)
            for at in (3, 1, 2, 1)
        ]
        assert are_new == [1, 1, 1, 0]
        await store.record(summary_id, [(StepId(1, Stage.MAP, 0, 4), OUTPUT._replace(result_key=key), None)])
        assert await store.call_count(summary_id) == 3
        assert [each.position for each in await store.outputs(summary_id, 1, Stage.MAP)] == [1, 2, 3, 4]
        bodies = await store.bodies(summary_id, StepId(1, Stage.MAP, 0, 2), 9, calls_only=True)
        assert [(output.position, output.pages, body) for output, body in bodies] == [
            (2, (3, 4), '{"a": "ä?%"}'),
            (3, (3, 4), '{"a": "ä?%"}'),
        ]
        assert await store.levels(summary_id) == [(1, Stage.MAP, 0, 4)]
        (first, _), (second, _) = await store.bodies(summary_id, StepId(1, Stage.MAP), most=2)
        assert (first.position, second.position) == (1, 2)


async def test_several_statements_are_carried_out_together_or_not_at_all(open_database: OpenDatabase) -> None:
    key = uuid4().hex
    insert = Statement("INSERT INTO texts VALUES (?, ?)", (key, "body"))
    async with open_database() as database:
        with pytest.raises(StorageError):
            await database.transact([insert, insert])
        assert await database.fetch(Statement("SELECT * FROM texts WHERE sha256 = ?", (key,))) == []


async def test_what_was_handed_over_is_stored_even_if_the_caller_is_cancelled(open_database: OpenDatabase) -> None:
    key = uuid4().hex
    async with open_database() as database:
        storing = asyncio.create_task(database.transact([Statement("INSERT INTO texts VALUES (?, ?)", (key, "body"))]))
        await asyncio.sleep(0)
        storing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await storing
    async with open_database() as database:
        assert await database.fetch(Statement("SELECT body FROM texts WHERE sha256 = ?", (key,))) == [("body",)]


async def test_old_summaries_are_deleted_with_all_that_only_they_need(open_database: OpenDatabase) -> None:
    old, young = uuid4().hex, uuid4().hex
    async with open_database() as database:
        store = SummaryStore(database)
        ids = {}
        for name in (old, young):
            await store.save_document(name, [SourceChunk(0, 0, name)])
            ids[name] = (
                await store.create(REQUEST, request_key=name, document_sha256=name, idempotency_key=None)
            ).summary_id
            await store.record(ids[name], [(StepId(1, Stage.MAP), OUTPUT._replace(result_key=name), name)])
            await store.warn(ids[name], "code", name)
        hour_ago = "NOW_S - 3600"
        await database.transact(
            [
                Statement(f"UPDATE summaries SET updated_at = {hour_ago} WHERE request_key = ?", (old,)),  # noqa: S608
                Statement(f"UPDATE results SET written_at = {hour_ago} WHERE result_key = ?", (old,)),  # noqa: S608
            ]
        )
        await store.expire(1_800)
        assert await store.find(ids[old]) is None
        assert await store.result(old) is None
        assert await store.warnings(ids[old]) == []
        assert await store.chunks(old) == ()
        assert await store.find(ids[young]) is not None
        assert await store.result(young) == young
        assert await store.warnings(ids[young]) == [("code", young)]
        assert await store.chunks(young) == (SourceChunk(0, 0, young),)


async def test_a_database_that_cannot_be_opened_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Postgres"):
        async with summarizer_in("postgresql://precis@localhost:1/nowhere?connect_timeout=1"):
            pass
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(StorageError, match="file"):
        async with summarizer_in(tmp_path / "file"):
            pass


async def test_a_full_disk_for_results_is_a_clear_error_and_nothing_is_lost(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    document = numbered_document(203)
    async with summarizer_in(tmp_path) as summarizer:
        events = summarizer.stream(document, writer=writer)
        accepted = await anext(events)
        assert isinstance(accepted, Accepted)
        connection = sqlite_connection(summarizer.store._database)  # noqa: SLF001
        while not isinstance(await anext(events), BatchDone):
            pass
        connection.execute("PRAGMA max_page_count = 1")  # as large as the file is now
        with pytest.raises(StorageFullError, match="no space left"):
            await read_all(events)
        connection.execute("PRAGMA max_page_count = 1000000")
        result = result_of(await read_all(summarizer.resume(accepted.summary_id, writer=writer)))
    assert result.status is SummaryStatus.DONE


async def test_a_check_passes_while_the_database_takes_writes(open_database: OpenDatabase) -> None:
    async with open_database() as database:
        await database.check()


async def test_a_check_finds_a_file_that_was_deleted_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "summaries.sqlite"
    async with SqliteDatabase(path) as database:
        await asyncio.to_thread(path.rename, tmp_path / "elsewhere")
        with pytest.raises(StorageError):
            await database.check()
        async with SqliteDatabase(path):
            with pytest.raises(StorageError, match="replaced"):
                await database.check()


async def test_servers_that_start_together_on_an_empty_postgres_all_start(postgres_url: str) -> None:
    async with await AsyncConnection.connect(postgres_url, autocommit=True) as connection:
        await connection.execute("CREATE DATABASE together")
    url = postgres_url.replace("/postgres?", "/together?")

    async def start() -> None:
        async with summarizer_in(url):
            pass

    async with asyncio.TaskGroup() as tasks:
        for _ in range(6):
            tasks.create_task(start())


def sqlite_connection(database: Database) -> sqlite3.Connection:
    assert isinstance(database, SqliteDatabase)
    return database._connected  # noqa: SLF001
