"""Leases, in SQLite and in a real Postgres: one run at a time, whatever ends, hangs, or happens to the clock."""

import asyncio
import itertools
from pathlib import Path

import pytest

from pipeline.summarize.errors import LeaseLostError, StorageError, SummaryRunningError
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.storage.schema import Database, Statement
from pipeline.summarize.storage.sqlite import SqliteDatabase
from pipeline.summarize.storage.store import SummaryStore
from tests.unit.pipeline.summarize.conftest import OpenDatabase
from tests.unit.pipeline.summarize.test_storage import create, sqlite_connection


async def test_a_lease_has_one_holder(open_database: OpenDatabase) -> None:
    async with open_database() as one, open_database() as two:
        mine, theirs = SummaryStore(one), SummaryStore(two)
        summary_id = (await create(mine)).summary_id
        lease = await mine.leases.acquire(summary_id, 60)
        for store in (mine, theirs):
            with pytest.raises(SummaryRunningError) as refusal:
                await store.leases.acquire(summary_id, 60)
            assert 50 < refusal.value.retry_after_s <= 60
        assert not await mine.leases.renew(lease, 60)
        await theirs.leases.request_cancel(summary_id)
        assert await mine.leases.renew(lease, 60)
        await mine.leases.release(lease, SummaryStatus.CANCELLED, None)
        assert not await mine.leases.renew(await theirs.leases.acquire(summary_id, 60), 60)


async def test_the_lease_of_a_process_that_ended_is_free_at_once(open_database: OpenDatabase) -> None:
    async with open_database() as two:
        async with open_database() as one:
            summary_id = (await create(SummaryStore(one))).summary_id
            lease = await SummaryStore(one).leases.acquire(summary_id, 3_600)
            assert not await two.is_gone(one.owner)
        assert await two.is_gone(one.owner)
        taken = await SummaryStore(two).leases.acquire(summary_id, 60)
        with pytest.raises(LeaseLostError):
            await SummaryStore(two).leases.renew(lease, 60)
        await SummaryStore(two).leases.release(lease, SummaryStatus.DONE, "stale")  # changes nothing
        assert not await SummaryStore(two).leases.renew(taken, 60)


async def test_a_lease_that_could_not_be_released_is_free_for_its_own_process(tmp_path: Path) -> None:
    async with SqliteDatabase(tmp_path / "summaries.sqlite") as database:
        store = SummaryStore(database)
        summary_id = (await create(store)).summary_id
        lease = await store.leases.acquire(summary_id, 3_600)
        connection = sqlite_connection(database)
        connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StorageError):
            await store.leases.release(lease, SummaryStatus.FAILED, None)
        connection.execute("PRAGMA query_only = OFF")
        assert (await store.leases.acquire(summary_id, 60)).holder != lease.holder


async def _expire(database: Database, at_s: float) -> None:
    """Makes all leases look as they do when the database's clock has leapt ahead."""
    await database.transact([Statement("UPDATE summaries SET lease_expires_at = ?", (at_s,))])


async def test_a_clock_that_leaps_takes_no_lease_from_a_living_run(open_database: OpenDatabase) -> None:
    async with open_database() as one, open_database() as two:
        mine, theirs = SummaryStore(one), SummaryStore(two)
        summary_id = (await create(mine)).summary_id
        lease = await mine.leases.acquire(summary_id, 60)
        await _expire(one, 1.0)
        with pytest.raises(SummaryRunningError):
            await mine.leases.acquire(summary_id, 60)
        taking = asyncio.create_task(theirs.leases.acquire(summary_id, 0.3))
        for renewal in itertools.count(2):  # each is in the past: the clock is still ahead
            await _expire(one, float(renewal))
            if taking.done():
                break
        with pytest.raises(SummaryRunningError):
            await taking
        assert not await mine.leases.renew(lease, 60)


async def test_a_stuck_server_loses_its_summary(open_database: OpenDatabase) -> None:
    async with open_database() as one, open_database() as two:
        summary_id = (await create(SummaryStore(one))).summary_id
        lease = await SummaryStore(one).leases.acquire(summary_id, 60)
        await _expire(one, 1.0)
        await SummaryStore(two).leases.acquire(summary_id, 0.3)
        with pytest.raises(LeaseLostError):
            await SummaryStore(one).leases.renew(lease, 60)


async def test_of_many_that_take_a_dead_ones_lease_one_gets_it(open_database: OpenDatabase) -> None:
    async with open_database() as one:
        summary_id = (await create(SummaryStore(one))).summary_id
        await SummaryStore(one).leases.acquire(summary_id, 3_600)
    async with open_database() as two, open_database() as three:
        attempts = [SummaryStore(database).leases.acquire(summary_id, 60) for database in (two, three) * 3]
        answers = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(not isinstance(answer, SummaryRunningError) for answer in answers) == 1
