"""Summaries in Postgres: for servers on several hosts. Needs the extra `postgres`."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar
from uuid import uuid4

from psycopg import AsyncConnection, Error
from psycopg.errors import DiskFull
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from pipeline.summarize.errors import StorageError, StorageFullError
from pipeline.summarize.storage.schema import ADDED_COLUMNS, SCHEMA, WRITES_NOTHING, Row, Statement, Value

Result = TypeVar("Result")

_NOW_S = "EXTRACT(EPOCH FROM clock_timestamp())::double precision"
_SCHEMA_LOCK = 0x70726563  # "prec": servers that start together create the tables one after the other
_TEXTS_LOCK = 0x70726566
_WORDS = {
    "?": "%s",
    "NOW_S": _NOW_S,
    "LOCK_SHARED": f"pg_advisory_xact_lock_shared({_TEXTS_LOCK})",
    "LOCK_ALONE": f"pg_advisory_xact_lock({_TEXTS_LOCK})",
}
_CONNECT_TIMEOUT_S = 10.0


class PostgresDatabase:
    """A pool of connections, and one more that holds an advisory lock as long as this process lives.

    Postgres frees the lock when the connection breaks, so that a killed server's summaries are free at once. A server
    that only lost its connection notices at its next heartbeat that its lease is gone.
    """

    def __init__(self, url: str, *, pool_size: int = 4) -> None:
        self.owner = uuid4().hex
        self.held_leases: set[str] = set()
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            url, min_size=1, max_size=pool_size, open=False, timeout=_CONNECT_TIMEOUT_S
        )
        self._url = url
        self._owner_connection: AsyncConnection[Any] | None = None
        self._unfinished: set[asyncio.Future[Any]] = set()

    async def __aenter__(self) -> Self:
        with _storage_errors():
            try:
                await self._pool.open(wait=True, timeout=_CONNECT_TIMEOUT_S)
                self._owner_connection = await AsyncConnection.connect(self._url, autocommit=True)
                await self._owner_connection.execute("SELECT pg_advisory_lock(%s)", (_lock_number(self.owner),))
                async with self._pool.connection() as connection, connection.transaction():
                    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
                    for column in ADDED_COLUMNS:
                        await connection.execute(f"ALTER TABLE IF EXISTS summaries ADD COLUMN IF NOT EXISTS {column}")
                    for statement in SCHEMA:
                        await connection.execute(statement)
            except BaseException:
                await self._close()
                raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._close()

    async def fetch(self, sql: str, *values: Value) -> list[Row]:
        """See Database."""
        return await self._finish(self._fetch(Statement(sql, values)))

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """See Database."""
        return await self._finish(self._transact(statements))

    async def check(self) -> None:
        """See Database."""
        await self.transact([Statement(WRITES_NOTHING)])

    async def is_gone(self, owner: str) -> bool:
        """See Database."""
        return bool((await self.fetch("SELECT pg_try_advisory_xact_lock(?::bigint)", _lock_number(owner)))[0][0])

    async def _fetch(self, statement: Statement) -> list[Row]:
        with _storage_errors():
            async with self._pool.connection() as connection:
                cursor = await connection.execute(*_to_postgres(statement))
                return await cursor.fetchall()

    async def _transact(self, statements: Sequence[Statement]) -> list[int]:
        with _storage_errors():
            async with self._pool.connection() as connection, connection.transaction():
                cursors = [await connection.execute(*_to_postgres(statement)) for statement in statements]
                return [cursor.rowcount for cursor in cursors]

    async def _finish(self, work: Awaitable[Result]) -> Result:
        """Waits for work that goes on if the caller is cancelled; see Database."""
        future = asyncio.ensure_future(work)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return await asyncio.shield(future)

    async def _close(self) -> None:
        await asyncio.gather(*self._unfinished, return_exceptions=True)
        if self._owner_connection:
            with suppress(Error):  # closing unlocks too, but only when Postgres gets to see it
                await self._owner_connection.execute("SELECT pg_advisory_unlock_all()")
            await self._owner_connection.close()
        await self._pool.close()


def _to_postgres(statement: Statement) -> tuple[str, list[Value]]:
    """Translates a statement. psycopg would store the name of a StrEnum, not its value."""
    values = [str(value) if isinstance(value, str) else value for value in statement.values]
    sql = statement.sql
    for word, meaning in _WORDS.items():
        sql = sql.replace(word, meaning)
    return sql, values


def _lock_number(owner: str) -> int:
    """Returns 63 bits of an owner's name, which is random."""
    return int(owner[:16], 16) >> 1


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except DiskFull as error:
        raise StorageFullError("no space left for Postgres: free some, then resume the summary") from error
    except (Error, PoolTimeout) as error:
        raise StorageError(f"cannot use Postgres: {type(error).__name__}") from error
