"""One thread owns the SQLite file: rounds are committed together, and nothing handed over is lost."""

import asyncio
from pathlib import Path

import pytest

from pipeline.summarize.errors import StorageError
from pipeline.summarize.storage.schema import Statement
from pipeline.summarize.storage.sqlite import SqliteDatabase

COUNT = "SELECT COUNT(*) FROM texts"


def text(name: str) -> list[Statement]:
    return [Statement("INSERT INTO texts VALUES (?, 'a text')", (name,))]


async def test_an_error_belongs_to_its_caller_alone(tmp_path: Path) -> None:
    async with SqliteDatabase(tmp_path / "rounds.sqlite") as database:
        bad, good = await asyncio.gather(
            database.transact([*text("bad"), Statement("no SQL")]),
            database.transact(text("good")),
            return_exceptions=True,
        )
        assert isinstance(bad, StorageError)
        assert good == [1]
        assert await database.fetch(COUNT) == [(1,)]


async def test_what_is_handed_over_together_is_committed_together(tmp_path: Path) -> None:
    async with SqliteDatabase(tmp_path / "rounds.sqlite") as database:
        needs = "CREATE TABLE needs (sha256 TEXT REFERENCES texts DEFERRABLE INITIALLY DEFERRED)"
        await database.transact([Statement(needs)])
        await database.fetch("PRAGMA foreign_keys = ON")
        lacking = [Statement("INSERT INTO needs VALUES ('nowhere')")]  # only the commit finds out
        answers = await asyncio.gather(
            database.transact(lacking), database.transact(text("good")), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [StorageError] * 2
        assert await database.fetch(COUNT) == [(0,)]
        assert await database.transact(text("good")) == [1]


async def test_work_that_is_handed_over_while_it_closes_has_an_end(tmp_path: Path) -> None:
    async with SqliteDatabase(tmp_path / "rounds.sqlite") as database:
        before = asyncio.create_task(database.transact(text("before")))
        await asyncio.sleep(0)
    assert await before == [1]
    with pytest.raises(StorageError, match="closed"):
        await asyncio.wait_for(database.fetch(COUNT), 60)
