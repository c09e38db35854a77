"""Finds out, before a summary does, that the database cannot be used."""

import asyncio
from pathlib import Path

import pytest

from pipeline.summarize.errors import StorageError
from pipeline.summarize.storage.sqlite import SqliteDatabase
from tests.unit.pipeline.summarize.test_storage import opened


async def test_a_check_passes_while_the_database_takes_writes(tmp_path: Path, postgres_url_or_none: str | None) -> None:
    async with opened(tmp_path, postgres_url_or_none) as database:
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
