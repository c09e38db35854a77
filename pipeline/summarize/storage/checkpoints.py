"""LangGraph's checkpoints: a SQLite file of their own, or Postgres."""

import asyncio
import importlib
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from pipeline.summarize.errors import StorageError, StorageFullError
from pipeline.summarize.storage.sqlite import NO_SPACE, SerialThread

_BUSY_TIMEOUT_S = 10.0
_SETUP_LOCK = 0x70726564  # beside that of the other tables: servers that start together create them one by one
_SETUP_POLL_S = 0.05


class ThreadedSqliteSaver(SqliteSaver):
    """LangGraph's SQLite saver on a thread of its own.

    Its AsyncSqliteSaver visits its thread four times for each write; this one goes there once for many.
    """

    def __init__(self, connection: sqlite3.Connection, thread: SerialThread) -> None:
        super().__init__(connection)
        self._thread = thread

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See BaseCheckpointSaver."""
        return await self._thread.run(lambda: self.get_tuple(config))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See BaseCheckpointSaver."""
        return await self._thread.run(lambda: self.put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See BaseCheckpointSaver."""
        await self._thread.run(lambda: self.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """See BaseCheckpointSaver."""
        await self._thread.run(lambda: self.delete_thread(thread_id))


@asynccontextmanager
async def sqlite_checkpoints(path: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Opens the checkpoints in a file."""
    with (
        storage_errors(),
        closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)) as connection,
    ):
        thread = SerialThread("checkpoints-sqlite")
        saver = ThreadedSqliteSaver(connection, thread)
        saver.setup()
        # As in SqliteDatabase: a killed process loses nothing. What a power failure takes back is done again from the
        # results, without calls.
        connection.execute("PRAGMA synchronous=NORMAL")
        try:
            yield saver
        finally:
            await thread.close()


@asynccontextmanager
async def postgres_checkpoints(url: str, pool_size: int) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Opens the checkpoints in Postgres. Needs the extra `postgres`."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415 - only with the extra
    from psycopg import AsyncConnection  # noqa: PLC0415
    from psycopg.rows import dict_row  # noqa: PLC0415
    from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415

    # autocommit: setup() creates indexes concurrently, which no transaction allows
    settings: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with storage_errors():
        async with await AsyncConnection.connect(url, **settings) as connection, _alone(connection):
            await AsyncPostgresSaver(connection).setup()
        async with AsyncConnectionPool(url, min_size=1, max_size=pool_size, open=False, kwargs=settings) as pool:
            yield AsyncPostgresSaver(pool)  # type: ignore[arg-type]  # rows are dicts by the settings above


@asynccontextmanager
async def _alone(connection: Any) -> AsyncIterator[None]:  # noqa: ANN401 - of an extra
    """Holds a lock while entered; the connection frees it at its end.

    Asks again instead of waiting inside Postgres: an index that is created concurrently waits for every statement that
    began before, and such a waiting one would never end.
    """
    while True:
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s) AS is_held", (_SETUP_LOCK,))
        if (await cursor.fetchone())["is_held"]:
            break
        await asyncio.sleep(_SETUP_POLL_S)
    yield


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turns a checkpointer's database errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) in NO_SPACE:
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
