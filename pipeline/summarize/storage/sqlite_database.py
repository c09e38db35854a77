"""Summaries in one SQLite file: the default, for one host."""

import fcntl
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar
from uuid import uuid4

from pipeline.summarize.errors import StorageError, StorageFullError
from pipeline.summarize.storage.database import Row, Statement
from pipeline.summarize.storage.schema import SCHEMA
from pipeline.summarize.storage.serial_thread import SerialThread

Result = TypeVar("Result")

_NOW_S = "((julianday('now') - 2440587.5) * 86400.0)"
_BUSY_TIMEOUT_S = 10.0
_CACHED_STATEMENTS = 64
NO_SPACE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
"""What SQLite says of a full disk, and of a quota or a limit of the process that is used up."""


class SqliteDatabase:
    """A SQLite file, used by one named thread.

    Beside the file lies a folder with one locked file for each living process. The kernel unlocks it when the process
    ends, however it ends, so that a killed server's summaries are free at once and need not wait for their lease.
    """

    def __init__(self, path: Path) -> None:
        self.owner = uuid4().hex
        self.held_leases: set[str] = set()
        self._path = path
        self._owners = path.with_name(f"{path.name}.owners")
        self._thread = SerialThread("summaries-sqlite", self._commit)
        self._connection: sqlite3.Connection | None = None
        self._owner_file: IO[bytes] | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._open)
        except BaseException:
            await self._thread.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._run(self._close)
        await self._thread.close()

    async def fetch(self, statement: Statement) -> list[Row]:
        """See Database."""
        return await self._run(lambda: self._execute(statement).fetchall())

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """See Database."""
        return await self._run(lambda: self._transact(statements))

    async def is_gone(self, owner: str) -> bool:
        """See Database."""
        return await self._run(lambda: self._is_unlocked(owner))

    async def _run(self, work: Callable[[], Result]) -> Result:
        with _storage_errors(self._path):
            return await self._thread.run(work)

    @property
    def _connected(self) -> sqlite3.Connection:
        assert self._connection is not None, "enter the database first"  # noqa: S101
        return self._connection

    def _open(self) -> None:
        self._owners.mkdir(parents=True, exist_ok=True)
        self._owner_file = (self._owners / self.owner).open("wb")
        fcntl.flock(self._owner_file, fcntl.LOCK_EX)
        self._connection = sqlite3.connect(
            self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, cached_statements=_CACHED_STATEMENTS,
            check_same_thread=False,
        )  # fmt: skip
        # A killed process loses nothing in WAL mode; only a power failure may take back the last moments.
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        for statement in SCHEMA:
            self._connection.execute(statement)

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None
        if self._owner_file:
            self._owner_file.close()
            (self._owners / self.owner).unlink(missing_ok=True)

    def _execute(self, statement: Statement) -> sqlite3.Cursor:
        return self._connected.execute(statement.sql.replace("NOW_S", _NOW_S), statement.values)

    def _transact(self, statements: Sequence[Statement]) -> list[int]:
        """Adds to the round's transaction, so that many answers that arrive together are committed together."""
        connection = self._connected
        if not connection.in_transaction:
            connection.execute("BEGIN IMMEDIATE")  # waits for other writers here, never in the middle
        connection.execute("SAVEPOINT statements")
        try:
            counts = [self._execute(statement).rowcount for statement in statements]
        except BaseException:
            if connection.in_transaction:  # some errors, a full disk among them, have ended all of it already
                connection.execute("ROLLBACK TO statements")
            raise
        connection.execute("RELEASE statements")
        return counts

    def _commit(self) -> None:
        """Ends a round. An error is the error of all of the round's callers."""
        connection = self._connection
        if connection is None or not connection.in_transaction:
            return
        try:
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _is_unlocked(self, owner: str) -> bool:
        path = self._owners / owner
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            return True  # it closed in good order
        except BlockingIOError:
            return False
        return True


@contextmanager
def _storage_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if error.sqlite_errorcode in NO_SPACE:
            raise StorageFullError(f"no space left for {path}: free some, then resume the summary") from error
        raise StorageError(f"cannot use {path}: {error}") from error
    except OSError as error:
        raise StorageError(f"cannot use {path}: {error}") from error
