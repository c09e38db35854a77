"""Fixtures of the tests of summaries."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from pipeline.summarize.storage.postgres import PostgresDatabase
from pipeline.summarize.storage.schema import Database
from pipeline.summarize.storage.sqlite import SqliteDatabase
from tests.unit.pipeline.summarize.postgres_server import running_postgres

OpenDatabase = Callable[[], AbstractAsyncContextManager[Database]]


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real Postgres, once for all tests; each test uses summaries of its own."""
    with running_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def postgres_url_or_none(request: pytest.FixtureRequest) -> str | None:
    """None for SQLite, which every test may use in its own folder."""
    return None if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def open_database(tmp_path: Path, postgres_url_or_none: str | None) -> OpenDatabase:
    """Opens the database of a test; each time as another process would."""
    url = postgres_url_or_none
    return lambda: PostgresDatabase(url) if url else SqliteDatabase(tmp_path / "summaries.sqlite")
