"""The same rules hold in SQLite and in a real Postgres."""

import asyncio
import resource
import sqlite3
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from pipeline.errors import InvalidInputError
from pipeline.summarize.document import SourceChunk, SummarizeOptions
from pipeline.summarize.errors import DamagedSummaryError, StorageError, StorageFullError
from pipeline.summarize.events import Accepted, BatchDone
from pipeline.summarize.result import SummaryWarning
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


async def create(
    store: SummaryStore, key: str | None = None, request_key: str = "", owner: str = "", document: str = "doc"
) -> StoredSummary:
    request, request_key = replace(REQUEST, owner=owner), request_key or uuid4().hex
    return await store.create(request, request_key=request_key, document_sha256=document, idempotency_key=key)


async def test_a_summary_is_read_back_as_it_was_stored(open_database: OpenDatabase) -> None:
    async with open_database() as database:
        store = SummaryStore(database)
        await database.check()
        created = await create(store)
        await store.set_plan(created.summary_id, PlanRecord("plan", 270, 269, 1_000))
        found = await store.find(created.summary_id)
    assert created.status is SummaryStatus.RUNNING
    assert (created.is_leased, created.plan, created.result) == (False, None, None)
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
        for owner, text in (("a", f"b{name}"), ("ab", name)):
            await store.save_document(owner + name, [SourceChunk(0, 0, text)], owner)
            assert [one.text for one in await store.chunks(owner + name)] == [text]
        rows = await database.fetch("SELECT COUNT(*) FROM texts WHERE body LIKE ?", f"{name} %")
    assert rows[0][0] == 50


async def test_steps_are_counted_once_and_read_in_order(open_database: OpenDatabase) -> None:
    async with open_database() as database:
        store = SummaryStore(database)
        summary_id = (await create(store)).summary_id
        key, text = uuid4().hex, '{"a": "ä?%"}'
        output = OUTPUT._replace(result_key=key)
        are_new = [
            await store.record(summary_id, [(StepId(1, Stage.MAP, 0, at), output, text)], is_call=True)
            for at in (3, 1, 2, 1)
        ]
        assert are_new == [1, 1, 1, 0]
        await store.record(summary_id, [(StepId(1, Stage.MAP, 0, 4), OUTPUT._replace(result_key=key), None)])
        assert await store.call_count(summary_id) == 3
        assert [each.position for each in await store.outputs(summary_id, 1, Stage.MAP)] == [1, 2, 3, 4]
        bodies = await store.bodies(summary_id, StepId(1, Stage.MAP, 0, 2), 9, calls_only=True)
        found = [(output.position, output.pages, body) for output, body in bodies]
        assert found == [(2, (3, 4), text), (3, (3, 4), text)]
        assert await store.levels(summary_id) == [(1, Stage.MAP, 0, 4)]
        (first, _), (second, _) = await store.bodies(summary_id, StepId(1, Stage.MAP), most=2)
        assert (first.position, second.position) == (1, 2)


async def test_several_statements_are_carried_out_together_or_not_at_all(open_database: OpenDatabase) -> None:
    key = uuid4().hex
    insert = Statement("INSERT INTO texts VALUES (?, ?)", (key, "body"))
    async with open_database() as database:
        with pytest.raises(StorageError):
            await database.transact([insert, insert])
        assert await database.fetch("SELECT * FROM texts WHERE sha256 = ?", key) == []


async def test_what_was_handed_over_is_stored_even_if_the_caller_is_cancelled(open_database: OpenDatabase) -> None:
    key = uuid4().hex
    async with open_database() as database:
        storing = asyncio.create_task(database.transact([Statement("INSERT INTO texts VALUES (?, ?)", (key, "body"))]))
        await asyncio.sleep(0)
        storing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await storing
    async with open_database() as database:
        assert await database.fetch("SELECT body FROM texts WHERE sha256 = ?", key) == [("body",)]


async def test_old_summaries_are_deleted_with_all_that_only_they_need(open_database: OpenDatabase) -> None:
    old, young = uuid4().hex, uuid4().hex
    async with open_database() as database:
        store = SummaryStore(database)
        ids = {}
        for name in (old, young):
            await store.save_document(name, [SourceChunk(0, 0, name)])
            ids[name] = (await create(store, request_key=name, document=name)).summary_id
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
        assert await store.warnings(ids[young]) == [SummaryWarning("code", young)]
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


async def test_a_check_finds_a_file_that_was_deleted_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "summaries.sqlite"
    async with SqliteDatabase(path) as database:
        await asyncio.to_thread(path.rename, tmp_path / "elsewhere")
        with pytest.raises(StorageError):
            await database.check()
        async with SqliteDatabase(path):
            with pytest.raises(StorageError, match="replaced"):
                await database.check()


DAMAGES = ("request = 'garbage'", "request = '{}'", "status = 'weird'", "plan = 'x'")


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_row_hurts_itself_alone(open_database: OpenDatabase, damage: str) -> None:
    owner = uuid4().hex
    async with open_database() as database:
        store = SummaryStore(database)
        made = [await create(store, request_key=f"{owner} {number}", owner=owner) for number in range(4)]
        ids = [summary.summary_id for summary in made]
        sql = f"UPDATE summaries SET {damage} WHERE summary_id = ?"  # noqa: S608 - of this file
        await database.transact([Statement(sql, (ids[1],))])
        listed, token = list[str](), ""
        for _ in range(4):
            page = await store.page(owner, 1, token)
            listed += [entry.summary_id for entry in page.summaries]
            token = page.next_page_token
        assert set(ids) - set(listed) <= {ids[1]}
        with pytest.raises(DamagedSummaryError, match=ids[1]):
            await store.find(ids[1])
        assert await store.find(ids[2]) is not None
        await database.transact([Statement("UPDATE summaries SET status = 'done' WHERE status <> 'weird'")])
        found = await store.find_done(f"{owner} 1")
        assert found is None


@pytest.mark.parametrize("text", ["a\0b", "\0"])
async def test_a_zero_byte_is_refused_by_its_field(open_database: OpenDatabase, text: str) -> None:
    async with open_database() as database:
        store = SummaryStore(database)
        with pytest.raises(InvalidInputError, match="idempotency_key"):
            await create(store, text)
        with pytest.raises(InvalidInputError, match="page_token"):
            await store.page("", 10, f"1.0:{text}")


def overwrite(path: Path) -> None:
    """Damages all pages but the first."""
    with path.open("r+b") as file:
        file.seek(4_096)
        file.write(b"\xa5" * (path.stat().st_size - 4_096))


async def test_a_damaged_file_does_not_serve_and_does_not_start(tmp_path: Path) -> None:
    path = tmp_path / "summaries.sqlite"
    async with SqliteDatabase(path) as database:
        await create(SummaryStore(database))
    async with SqliteDatabase(path) as database:
        overwrite(path)
        sqlite_connection(database).execute("PRAGMA shrink_memory")
        with pytest.raises(StorageError, match="summaries check"):
            await SummaryStore(database).page("", 10, "")
        with pytest.raises(StorageError, match="damaged"):
            await database.check()
    with pytest.raises(StorageError, match="`precis summaries check` says what to do"):
        async with SqliteDatabase(path):
            pass


async def test_a_check_finds_a_disk_with_too_little_space_for_a_summary(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with SqliteDatabase(tmp_path / "summaries.sqlite") as database:
        await database.check()
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, limits[1]))  # a file that grows beyond it fails
        try:
            with pytest.raises(StorageError, match="cannot use"):
                await database.check()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        await database.check()  # there is some again


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
