"""Fixtures of the tests of summaries."""

from collections.abc import Iterator

import pytest

from tests.unit.pipeline.summarize.postgres_server import running_postgres


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real Postgres, once for all tests; each test uses summaries of its own."""
    with running_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def postgres_url_or_none(request: pytest.FixtureRequest) -> str | None:
    """None for SQLite, which every test may use in its own folder."""
    return None if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
