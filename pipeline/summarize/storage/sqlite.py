"""Summaries in one SQLite file: the default, for one host.

One thread owns the connection, and is visited as rarely as possible.
"""

import asyncio
import fcntl
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Self, TypeVar
from uuid import uuid4

from pipeline.summarize.errors import StorageError, StorageFullError
from pipeline.summarize.storage.schema import ADDED_COLUMNS, SCHEMA, WRITES_NOTHING, Row, Statement

Result = TypeVar("Result")

NOW_S = "((julianday('now') - 2440587.5) * 86400.0)"
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
        self._file_number = 0
        self._is_damaged = False

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._open)
        except BaseException:
            await self._run(self._close)
            await self._thread.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._run(self._close)
        await self._thread.close()

    async def fetch(self, statement: Statement) -> list[Row]:
        """See Database."""
        return await self._run(lambda: self._execute(statement).fetchall())

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """See Database."""
        return await self._run(lambda: self._transact(statements))

    async def check(self) -> None:
        """See Database. A file that was deleted or replaced takes writes that nobody will read."""
        await self._run(self._check)

    async def is_gone(self, owner: str) -> bool:
        """See Database."""
        return await self._run(lambda: self._is_unlocked(owner))

    async def _run(self, work: Callable[[], Result]) -> Result:
        try:
            return await self._thread.run(work)
        except sqlite3.Error as error:
            if error.sqlite_errorcode in NO_SPACE:
                problem = f"no space left for {self._path}: free some, then resume the summary"
                raise StorageFullError(problem) from error
            # As far as it is known: of a page that is in memory nobody sees that it is damaged on the disk.
            self._is_damaged |= error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
            advice = "; `precis summaries check` says what to do" if self._is_damaged else ""
            raise StorageError(f"cannot use {self._path}: {error}{advice}") from error
        except OSError as error:
            raise StorageError(f"cannot use {self._path}: {error}") from error

    @property
    def _connected(self) -> sqlite3.Connection:
        assert self._connection is not None, "enter the database first"  # noqa: S101
        return self._connection

    def _open(self) -> None:
        self._owners.mkdir(parents=True, exist_ok=True)
        self._owner_file = (self._owners / self.owner).open("wb")
        fcntl.flock(self._owner_file, fcntl.LOCK_EX)
        self._connection = sqlite3.connect(
            self._path, timeout=10.0, isolation_level=None, cached_statements=64, check_same_thread=False
        )
        if found := damage(self._connection):
            raise StorageError(f"{self._path} is damaged: {found[0]}; `precis summaries check` says what to do")
        # A killed process loses nothing in WAL mode; only a power failure may take back the last moments.
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        for statement in SCHEMA:
            self._connection.execute(statement)
        self._connection.execute("BEGIN IMMEDIATE")  # servers that start together do it one after the other
        for table, column, kind in ADDED_COLUMNS:
            if column not in {row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")}:
                self._connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
        self._connection.execute("COMMIT")
        self._file_number = self._path.stat().st_ino

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None
        if self._owner_file:
            self._owner_file.close()
            (self._owners / self.owner).unlink(missing_ok=True)

    def _execute(self, statement: Statement) -> sqlite3.Cursor:
        sql = statement.sql.replace("NOW_S", NOW_S).replace("LOCK_SHARED", "1").replace("LOCK_ALONE", "1")
        return self._connected.execute(sql, statement.values)

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

    def _check(self) -> None:
        if self._path.stat().st_ino != self._file_number:
            raise FileNotFoundError("the file was replaced while the server ran: restart it")
        if self._is_damaged:
            raise StorageError(f"{self._path} is damaged: `precis summaries check` says what to do")
        room = self._owners / f"{self.owner}.room"  # a statement that changes nothing would find it on a full disk
        try:
            room.write_bytes(bytes(1 << 16))
        finally:
            room.unlink(missing_ok=True)
        self._transact([Statement(WRITES_NOTHING)])

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


def damage(connection: sqlite3.Connection) -> list[str]:
    """Says what is damaged in a database file, in SQLite's words; nothing if it is whole."""
    found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(10)")]
    return [] if found == ["ok"] else found


_Work = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class SerialThread:
    """Runs work on one named thread, in the order in which it was handed over.

    What is handed over while the thread is busy goes there together, and its results come back together: waking a
    thread and the event loop costs more than a small query. Work is carried out even if the caller is cancelled.

    Args:
        finish: ends what a round of work left open, such as a transaction; its error is the error of the whole round.
    """

    def __init__(self, name: str, finish: Callable[[], None] | None = None) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._finish = finish
        self._waiting: list[_Work] = []
        self._is_busy = False
        self._is_closed = False

    async def run(self, work: Callable[[], Result]) -> Result:
        """Returns what the work returns, or raises what it raises.

        Raises:
            StorageError: the thread has ended.
        """
        if self._is_closed:
            raise StorageError("the database is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((work, future))
        if not self._is_busy:
            self._is_busy = True
            loop.call_soon(self._hand_over, loop)  # with all else that this turn of the loop hands over
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Waits for all work, also what is handed over meanwhile, and ends the thread."""
        while self._is_busy:
            await self.run(lambda: None)
        self._is_closed = True
        self._executor.shutdown()

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        round_, self._waiting = self._waiting, []
        if not round_:
            self._is_busy = False
            return
        self._executor.submit(self._work, loop, round_)

    def _work(self, loop: asyncio.AbstractEventLoop, round_: list[_Work]) -> None:
        """On the thread: does a round and sends all its results back at once."""
        outcomes: list[tuple[Any, BaseException | None]] = []
        for work, _ in round_:
            try:
                outcomes.append((work(), None))
            except BaseException as error:  # noqa: BLE001 - belongs to the caller who handed the work over
                outcomes.append((None, error))
        try:
            if self._finish:
                self._finish()
        except Exception as error:  # noqa: BLE001 - the same, for all callers of the round
            outcomes = [(None, failed or error) for _, failed in outcomes]
        loop.call_soon_threadsafe(self._deliver, loop, round_, outcomes)

    def _deliver(
        self, loop: asyncio.AbstractEventLoop, round_: list[_Work], outcomes: list[tuple[Any, BaseException | None]]
    ) -> None:
        for (_, future), (result, error) in zip(round_, outcomes, strict=True):
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        self._hand_over(loop)
