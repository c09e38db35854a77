"""The tables of summaries, and the little SQL that SQLite and Postgres share. Times are seconds since 1970."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

ADDED_COLUMNS = (
    "owner TEXT NOT NULL DEFAULT ''",
    "created_at DOUBLE PRECISION NOT NULL DEFAULT 0",
    "flaw_count INTEGER",
)
"""Columns of `summaries` that older versions lack. Their summaries have no owner, no time and no known flaws."""

SCHEMA = (
    # A chunk's text, once, however many documents hold it.
    """
    CREATE TABLE IF NOT EXISTS texts (
        sha256 TEXT PRIMARY KEY,
        body TEXT NOT NULL
    )""",
    # The chunks of a document, in order.
    """
    CREATE TABLE IF NOT EXISTS document_chunks (
        document_sha256 TEXT NOT NULL,
        position INTEGER NOT NULL,
        chunk_index INTEGER NOT NULL,
        page_number INTEGER NOT NULL,
        text_sha256 TEXT NOT NULL,
        PRIMARY KEY (document_sha256, position)
    )""",
    # What a writer answered, once, under the hash of all that was asked.
    """
    CREATE TABLE IF NOT EXISTS results (
        result_key TEXT PRIMARY KEY,
        body TEXT NOT NULL,
        written_at DOUBLE PRECISION NOT NULL
    )""",
    # A summary that runs without a reader, until it has ended. The lowest priority is taken first.
    """
    CREATE TABLE IF NOT EXISTS jobs (
        summary_id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        priority INTEGER NOT NULL,
        submitted_at DOUBLE PRECISION NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0
    )""",
    # With which texts a call began whose answer is stored. Older versions wrote how many it read, and the key of all.
    """
    CREATE TABLE IF NOT EXISTS call_texts (
        first_key TEXT NOT NULL,
        text_count INTEGER NOT NULL,
        whole_key TEXT NOT NULL,
        result_key TEXT NOT NULL,
        written_at DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (first_key, text_count, whole_key)
    )""",
    # One summary. It runs while `lease_expires_at` is in the future.
    f"""
    CREATE TABLE IF NOT EXISTS summaries (
        summary_id TEXT PRIMARY KEY,
        idempotency_key TEXT UNIQUE,
        request_key TEXT NOT NULL,
        request TEXT NOT NULL,
        document_sha256 TEXT NOT NULL,
        status TEXT NOT NULL,
        plan TEXT,
        result TEXT,
        cancel_requested INTEGER NOT NULL DEFAULT 0,
        lease_owner TEXT,
        lease_expires_at DOUBLE PRECISION NOT NULL DEFAULT 0,
        updated_at DOUBLE PRECISION NOT NULL,
        {", ".join(ADDED_COLUMNS)}
    )""",
    # Without these, what one caller asks for would hold up everybody's storage, the longer the more others have stored.
    "CREATE INDEX IF NOT EXISTS summaries_by_request ON summaries (request_key, status)",
    "CREATE INDEX IF NOT EXISTS summaries_by_owner ON summaries (owner, created_at)",
    "CREATE INDEX IF NOT EXISTS summaries_by_document ON summaries (document_sha256)",
    "CREATE INDEX IF NOT EXISTS chunks_by_text ON document_chunks (text_sha256)",
    # A finished step of a summary. A stage's texts are its rows by position.
    """
    CREATE TABLE IF NOT EXISTS steps (
        summary_id TEXT NOT NULL,
        iteration INTEGER NOT NULL,
        stage TEXT NOT NULL,
        level INTEGER NOT NULL,
        position INTEGER NOT NULL,
        result_key TEXT NOT NULL,
        is_call INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        first_chunk INTEGER NOT NULL,
        last_chunk INTEGER NOT NULL,
        first_page INTEGER NOT NULL,
        last_page INTEGER NOT NULL,
        PRIMARY KEY (summary_id, iteration, stage, level, position)
    )""",
    "CREATE INDEX IF NOT EXISTS steps_by_result ON steps (result_key)",
    # What the reader of a summary should know, once each.
    """
    CREATE TABLE IF NOT EXISTS warnings (
        summary_id TEXT NOT NULL,
        code TEXT NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (summary_id, code, message)
    )""",
    # What every run has cost, in JSON, up to its end or its last heartbeat.
    """
    CREATE TABLE IF NOT EXISTS run_costs (
        summary_id TEXT NOT NULL,
        run TEXT NOT NULL,
        usage TEXT NOT NULL,
        elapsed_s DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (summary_id, run)
    )""",
)

WRITES_NOTHING = "UPDATE summaries SET status = status WHERE summary_id = ''"  # fails where a write would

Value = str | int | float | None
Row = tuple[Any, ...]


class Statement(NamedTuple):
    """SQL with `?` for values, and the values. NOW_S stands for the database's clock, in seconds since 1970."""

    sql: str
    values: tuple[Value, ...] = ()


KEEPS_TEXTS, DROPS_TEXTS = Statement("SELECT LOCK_SHARED"), Statement("SELECT LOCK_ALONE")
"""Begin a transaction that refers to stored texts, and one that deletes those to which nothing refers.
Postgres lets many of the first run at once, and one of the second alone. SQLite has one writer at a time as it is."""


class Database(Protocol):
    """Runs statements for one server process. Enter it to connect, leave it to close.

    A statement that was handed over is carried out even if the caller is cancelled while it waits. The answer to a paid
    call is never lost on its way to the disk.

    All methods raise StorageError, and StorageFullError when the disk is full.
    """

    @property
    def owner(self) -> str:
        """Names this process in leases; new with every start."""

    @property
    def held_leases(self) -> set[str]:
        """Leases that runs of this process hold. One that is missing here is over, even if a full disk still has it."""

    async def fetch(self, sql: str, *values: Value) -> list[Row]:
        """Returns the rows of a query, see Statement."""

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """Carries out all statements or none. Returns the number of rows that each changed."""

    async def check(self) -> None:
        """Makes sure that what is written now can be read later. Raises StorageError."""

    async def is_gone(self, owner: str) -> bool:
        """Tells whether another process is known to have ended. False if that cannot be told."""
