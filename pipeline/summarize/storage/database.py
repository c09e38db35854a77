"""The little of SQL that summaries need, for SQLite and Postgres alike."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

Value = str | int | float | None
Row = tuple[Any, ...]


class Statement(NamedTuple):
    """SQL with `?` for values, and the values. NOW_S stands for the database's clock, in seconds since 1970."""

    sql: str
    values: tuple[Value, ...] = ()


class Database(Protocol):
    """Runs statements for one server process. Enter it to connect, leave it to close.

    A statement that was handed over is carried out even if the caller is cancelled while it waits: the answer to a
    paid call is never lost between its arrival and the disk.

    All methods raise StorageError, and StorageFullError when the disk is full.
    """

    @property
    def owner(self) -> str:
        """Names this process in leases; new with every start."""

    @property
    def held_leases(self) -> set[str]:
        """Leases that runs of this process hold. One that is missing here is over, even if a full disk still has it."""

    async def fetch(self, statement: Statement) -> list[Row]:
        """Returns the rows of a query."""

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """Carries out all statements or none. Returns the number of rows that each changed."""

    async def is_gone(self, owner: str) -> bool:
        """Tells whether another process is known to have ended. False if that cannot be told."""
