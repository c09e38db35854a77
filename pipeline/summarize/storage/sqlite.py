"""Summaries in one SQLite file: the default, for one host.

One thread owns the connection, and is visited as rarely as possible. What is handed over while it is busy goes there
together, and its results come back together. Waking a thread and the event loop costs more than a small query.
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
from pipeline.summarize.storage.schema import ADDED_COLUMNS, SCHEMA, WRITES_NOTHING, Row, Statement, Value

Result = TypeVar("Result")

NOW_S = "((julianday('now') - 2440587.5) * 86400.0)"
NO_SPACE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
"""What SQLite says of a full disk, and of a quota or a limit of the process that is used up."""


class SqliteDatabase:
    """A SQLite file, used by one named thread.

    Beside the file lies a folder with one locked file for each living process. The kernel unlocks it when the process
    ends, however it ends. A killed server's summaries are free at once and need not wait for their lease.
    """

    def __init__(self, path: Path) -> None:
        self.owner = uuid4().hex
        self.held_leases: set[str] = set()
        self._path = path
        self._owners = path.with_name(f"{path.name}.owners")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="summaries-sqlite")
        self._waiting: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = []
        self._rounds: asyncio.Task[None] | None = None
        self._connection: sqlite3.Connection | None = None
        self._owner_file: IO[bytes] | None = None
        self._file_number = 0
        self._is_damaged = False

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._open)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._run(self._close)
        while self._rounds:
            await self._rounds
        self._thread.shutdown()

    async def fetch(self, sql: str, *values: Value) -> list[Row]:
        """See Database."""
        return await self._run(lambda: self._execute(Statement(sql, values)).fetchall())

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
        """Returns what work does on the thread. It is carried out even if the caller is cancelled, see Database."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, future))
        self._rounds = self._rounds or asyncio.create_task(self._work_rounds())
        try:
            return await asyncio.shield(future)
        except RuntimeError as error:
            raise StorageError("the database is closed") from error
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

    async def _work_rounds(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                round_, self._waiting = self._waiting, []
                try:
                    outcomes = await loop.run_in_executor(self._thread, self._round, [work for work, _ in round_])
                except RuntimeError as error:  # the thread has ended
                    outcomes = [(None, error)] * len(round_)
                for (_, future), (result, failed) in zip(round_, outcomes, strict=True):
                    future.set_exception(failed) if failed else future.set_result(result)
        finally:
            self._rounds = None

    def _round(self, works: Sequence[Callable[[], Any]]) -> list[tuple[Any, BaseException | None]]:
        """Returns what each work came to. An error of the common commit is that of all."""
        outcomes: list[tuple[Any, BaseException | None]] = []
        for work in works:
            try:
                outcomes.append((work(), None))
            except BaseException as error:  # noqa: BLE001 - belongs to the caller who handed the work over
                outcomes.append((None, error))
        try:
            self._commit()
        except Exception as error:  # noqa: BLE001 - the same, for all callers of the round
            return [(None, failed or error) for _, failed in outcomes]
        return outcomes

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
        self._connection.execute("BEGIN IMMEDIATE")  # servers that start together do it one after the other
        known = {row[1] for row in self._connection.execute("PRAGMA table_info(summaries)")}
        for column in ADDED_COLUMNS:
            if known and column.split()[0] not in known:
                self._connection.execute(f"ALTER TABLE summaries ADD COLUMN {column}")
        for statement in SCHEMA:
            self._connection.execute(statement)
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
            room.write_bytes(bytes(1 << 20))
        finally:
            room.unlink(missing_ok=True)
        self._transact([Statement(WRITES_NOTHING)])

    def _commit(self) -> None:
        connection = self._connection
        if connection is not None and connection.in_transaction:
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
