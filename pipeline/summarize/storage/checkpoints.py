"""LangGraph's checkpoints: a SQLite file of their own, or Postgres."""

import importlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from pipeline.summarize.errors import StorageError, StorageFullError


@asynccontextmanager
async def sqlite_checkpoints(path: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Opens the checkpoints in a file."""
    with storage_errors():
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            await saver.setup()
            # As in SqliteDatabase: a killed process loses nothing. What a power failure takes back is done again from
            # the results, without calls.
            await saver.conn.execute("PRAGMA synchronous=NORMAL")
            await saver.conn.execute("PRAGMA busy_timeout=10000")
            yield saver


@asynccontextmanager
async def postgres_checkpoints(url: str, pool_size: int) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Opens the checkpoints in Postgres. Needs the extra `postgres`."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415 - only with the extra
    from psycopg.rows import dict_row  # noqa: PLC0415
    from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415

    # autocommit: setup() creates indexes concurrently, which no transaction allows
    settings: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with storage_errors():
        async with AsyncConnectionPool(url, min_size=1, max_size=pool_size, open=False, kwargs=settings) as pool:
            saver = AsyncPostgresSaver(pool)  # type: ignore[arg-type]  # rows are dicts by the settings above
            await saver.setup()
            yield saver


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turns a checkpointer's database errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise StorageFullError("no space left for checkpoints: free some, then resume the summary") from error
        raise StorageError(f"cannot use the checkpoints: {error}") from error
    except _postgres_errors() as error:
        name = type(error).__name__
        if name == "DiskFull":
            raise StorageFullError("no space left for checkpoints: free some, then resume the summary") from error
        raise StorageError(f"cannot use the checkpoints: {name}") from error


def _postgres_errors() -> tuple[type[Exception], ...]:
    try:
        return (importlib.import_module("psycopg").Error,)
    except ImportError:
        return ()
