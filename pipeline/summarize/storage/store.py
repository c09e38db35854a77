"""Stores everything about summaries that must outlive a process."""

import hashlib
import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from uuid import uuid4

from pydantic import TypeAdapter

from pipeline.errors import InvalidInputError
from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.document import Document, SourceChunk
from pipeline.summarize.errors import DamagedSummaryError
from pipeline.summarize.result import SummaryWarning
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.storage.leases import JobTable, LeaseTable
from pipeline.summarize.storage.records import (
    REQUEST,
    PlanRecord,
    Stage,
    StepId,
    StepOutput,
    StoredSummary,
    SummaryEntry,
    SummaryPage,
    SummaryRequest,
    SummaryStatus,
)
from pipeline.summarize.storage.schema import DROPS_TEXTS, KEEPS_TEXTS, Database, Row, Statement, Value

_log = logging.getLogger(__name__)

_Steps = Sequence[tuple[StepId, StepOutput, str | None]]
_OWNED = "owned:"  # begins the idempotency keys and the documents of owners: each has names of its own
_PLAN = TypeAdapter(PlanRecord)
_USAGE = TypeAdapter(LlmUsage)
_CREATE = """
    INSERT INTO summaries
    (summary_id, idempotency_key, request_key, request, document_sha256, status, owner, updated_at, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, NOW_S, NOW_S) ON CONFLICT (idempotency_key) DO NOTHING"""
_SELECT = """
    SELECT summary_id, request, request_key, document_sha256, status, plan, lease_expires_at > NOW_S, result
    FROM summaries WHERE """
ALL_SUMMARIES = _SELECT + "1 = 1"
_BY_ID = _SELECT + "summary_id = ?"
_BY_IDEMPOTENCY_KEY = _SELECT + "idempotency_key = ?"
_DONE_BY_REQUEST = _SELECT + "request_key = ? AND status = 'done' ORDER BY updated_at DESC LIMIT 1"
_RESULT = "INSERT INTO results (result_key, body, written_at) VALUES (?, ?, NOW_S) ON CONFLICT DO NOTHING"
_STEP = "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_PAGE = """
    SELECT summary_id, request, status, flaw_count, lease_expires_at > NOW_S, created_at, updated_at FROM summaries
    WHERE owner = ? AND (created_at < ? OR (created_at = ? AND summary_id > ?))
    ORDER BY created_at DESC, summary_id LIMIT ?"""
_ANY = (1 << 31) - 1  # more than any position, and than any number of steps
_ROWS_PER_STATEMENT = 200
TEXTS_AT_ONCE = 64  # of a level are in memory

_REMEMBER_CALL = "INSERT INTO call_texts VALUES (?, 0, ?, ?, NOW_S) ON CONFLICT DO NOTHING"
_OF_A_SUMMARY = ("steps", "warnings", "run_costs", "jobs")
_OF_ONE = (
    """DELETE FROM results WHERE result_key IN (SELECT result_key FROM steps WHERE summary_id = ?)
    AND NOT EXISTS (SELECT 1 FROM steps WHERE steps.result_key = results.result_key AND summary_id <> ?)""",
    *(f"DELETE FROM {table} WHERE summary_id = ?" for table in (*_OF_A_SUMMARY, "summaries")),  # noqa: S608
)
_OF_ITS_DOCUMENT = (
    """DELETE FROM texts WHERE sha256 IN (SELECT text_sha256 FROM document_chunks WHERE document_sha256 = ?)
    AND NOT EXISTS (SELECT 1 FROM document_chunks WHERE text_sha256 = texts.sha256 AND document_sha256 <> ?)
    AND NOT EXISTS (SELECT 1 FROM summaries WHERE document_sha256 = ?)""",
    """DELETE FROM document_chunks WHERE document_sha256 = ?
    AND NOT EXISTS (SELECT 1 FROM summaries WHERE document_sha256 = ?)""",
)
_EXPIRE = (
    "DELETE FROM summaries WHERE updated_at < NOW_S - ? AND lease_expires_at < NOW_S",
    *(
        f"DELETE FROM {table} WHERE summary_id NOT IN (SELECT summary_id FROM summaries)"  # noqa: S608
        for table in _OF_A_SUMMARY
    ),
    "DELETE FROM results WHERE written_at < NOW_S - ? AND result_key NOT IN (SELECT result_key FROM steps)",
    "DELETE FROM call_texts WHERE result_key NOT IN (SELECT result_key FROM results)",
    "DELETE FROM document_chunks WHERE document_sha256 NOT IN (SELECT document_sha256 FROM summaries)",
    "DELETE FROM texts WHERE sha256 NOT IN (SELECT text_sha256 FROM document_chunks)",
)


class SummaryStore:
    """Summaries, their documents, their steps, what writers answered and what runs cost."""

    def __init__(self, database: Database) -> None:
        self.jobs = JobTable(database)
        self.leases = LeaseTable(database)
        self.check = database.check
        self._database = database

    async def create(
        self, request: SummaryRequest, *, request_key: str, document_sha256: str, idempotency_key: str | None
    ) -> StoredSummary:
        """Stores a new summary, or returns the one that the idempotency key of its owner belongs to already."""
        if idempotency_key:
            idempotency_key = scoped(idempotency_key, request.owner)
        summary_id = uuid4().hex
        row = (summary_id, idempotency_key, request_key, REQUEST.dump_json(request).decode(), document_sha256)
        await self._database.transact([KEEPS_TEXTS, Statement(_CREATE, (*row, SummaryStatus.RUNNING, request.owner))])
        stored = await (self._find(_BY_IDEMPOTENCY_KEY, idempotency_key) if idempotency_key else self.find(summary_id))
        assert stored is not None, "a summary that was just stored can be read"  # noqa: S101
        return stored

    async def find(self, summary_id: str) -> StoredSummary | None:
        """Returns a summary; None if there is none. Raises DamagedSummaryError."""
        return await self._find(_BY_ID, summary_id)

    async def find_done(self, request_key: str) -> StoredSummary | None:
        """Returns a finished summary of an equal request; None if there is none, or it is damaged."""
        with suppress(DamagedSummaryError):
            return await self._find(_DONE_BY_REQUEST, request_key)
        return None

    async def page(self, owner: str, page_size: int, page_token: str) -> SummaryPage:
        """Returns an owner's summaries, the newest first, without those that are damaged.

        Raises InvalidInputError: no page gave this token.
        """
        created_at, summary_id = _parse_token(page_token)
        rows = await self._database.fetch(_PAGE, owner, created_at, created_at, summary_id, page_size + 1)
        last = rows[page_size - 1] if len(rows) > page_size else None
        entries = tuple(entry for row in rows[:page_size] if (entry := _to_entry(row)) is not None)
        return SummaryPage(entries, f"{last[5]!r}:{last[0]}" if last else "")

    async def delete(self, summary_id: str) -> None:
        """Deletes a summary, and what only it needed."""
        documents = await self._database.fetch("SELECT document_sha256 FROM summaries WHERE summary_id = ?", summary_id)
        own = [Statement(sql, (summary_id,) * sql.count("?")) for sql in _OF_ONE]
        own += [Statement(sql, one * sql.count("?")) for one in documents for sql in _OF_ITS_DOCUMENT]
        await self._database.transact([DROPS_TEXTS, *own])

    async def set_plan(self, summary_id: str, plan: PlanRecord) -> None:
        """Remembers a plan, and forgets the steps of any other; their results stay."""
        forget = Statement("DELETE FROM steps WHERE summary_id = ?", (summary_id,))
        row = (_PLAN.dump_json(plan).decode(), summary_id)
        await self._database.transact([forget, Statement("UPDATE summaries SET plan = ? WHERE summary_id = ?", row)])

    async def result(self, result_key: str) -> str | None:
        """Returns what was stored under a key; None if nothing was."""
        rows = await self._database.fetch("SELECT body FROM results WHERE result_key = ?", result_key)
        return str(rows[0][0]) if rows else None

    async def record(self, summary_id: str, steps: _Steps, *, is_call: bool = False, begin_key: str = "") -> int:
        """Stores finished steps and, where they are new, their results, all or none. Returns how many are new.

        Args:
            steps: with what each wrote, whose `position` is taken from the step, and the JSON of its result; None if
                that is stored already.
            is_call: True for what the plan counts as a call.
            begin_key: by which later summaries know where the call of the first began; empty for none.
        """
        others = [KEEPS_TEXTS]
        if begin_key:
            others.append(Statement(_REMEMBER_CALL, (begin_key, steps[0][1].result_key, steps[0][1].result_key)))
        others += [Statement(_RESULT, (output.result_key, body)) for _, output, body in steps if body is not None]
        rows: list[Statement] = []
        for step, (_, result_key, tokens, chunk_indexes, pages) in ((step, output) for step, output, _ in steps):
            values = (summary_id, *step, result_key, int(is_call), tokens, *chunk_indexes, *pages)
            rows.append(Statement(_STEP, values))
        return sum((await self._database.transact([*others, *rows]))[len(others) :])

    async def outputs(self, summary_id: str, iteration: int, stage: Stage, level: int = 0) -> list[StepOutput]:
        """Returns what the steps of a stage wrote, in the order of the document, without the texts."""
        rows = await self._database.fetch(
            "SELECT position, result_key, tokens, first_chunk, last_chunk, first_page, last_page FROM steps "
            "WHERE summary_id = ? AND iteration = ? AND stage = ? AND level = ? ORDER BY position",
            *(summary_id, iteration, stage, level),
        )
        return [_to_output(row) for row in rows]

    async def bodies(
        self,
        summary_id: str,
        first: StepId,
        last_position: int = _ANY,
        *,
        most: int = _ANY,
        calls_only: bool = False,
    ) -> list[tuple[StepOutput, str]]:
        """Returns the results of neighbouring steps, from `first` to `last_position`, inclusive, in order.

        `calls_only` leaves out steps that only passed a text on.
        """
        rows = await self._database.fetch(
            "SELECT position, steps.result_key, tokens, first_chunk, last_chunk, first_page, last_page, body "
            "FROM steps JOIN results ON results.result_key = steps.result_key WHERE summary_id = ? "
            "AND iteration = ? AND stage = ? AND level = ? AND position BETWEEN ? AND ? AND is_call >= ? "
            "ORDER BY position LIMIT ?",
            *(summary_id, *first, last_position, int(calls_only), most),
        )
        return [(_to_output(row), str(row[7])) for row in rows]

    async def call_count(self, summary_id: str) -> int:
        """Counts the finished steps that the plan counts as calls."""
        counted = "SELECT COUNT(*) FROM steps WHERE summary_id = ? AND is_call = 1"
        return int((await self._database.fetch(counted, summary_id))[0][0])

    async def levels(self, summary_id: str) -> list[tuple[int, Stage, int, int]]:
        """Returns (iteration, stage, level, number of steps) of everything that was done."""
        rows = await self._database.fetch(
            "SELECT iteration, stage, level, COUNT(*) FROM steps WHERE summary_id = ? "
            "GROUP BY iteration, stage, level ORDER BY iteration, stage, level",
            summary_id,
        )
        return [(i, Stage(s), level, n) for i, s, level, n in rows]

    async def known_calls(self, keys: Sequence[str]) -> set[str]:
        """Returns those of some keys with which calls began whose answers are stored; see `begin_keys`."""
        found = set[str]()
        for start in range(0, len(keys), _ROWS_PER_STATEMENT):
            part = keys[start : start + _ROWS_PER_STATEMENT]
            marks = ", ".join("?" * len(part))
            sql = f"SELECT first_key FROM call_texts JOIN results USING (result_key) WHERE first_key IN ({marks})"  # noqa: S608
            found.update(row[0] for row in await self._database.fetch(sql, *part))
        return found

    async def save_document(self, document_sha256: str, chunks: Sequence[SourceChunk], owner: str = "") -> None:
        """Stores every chunk's text of an owner once by its hash; does nothing if the document is there already."""
        known = "SELECT 1 FROM document_chunks WHERE document_sha256 = ? LIMIT 1"
        if not await self._database.fetch(known, document_sha256):
            await self._database.transact([KEEPS_TEXTS, *_inserts(document_sha256, chunks, owner)])

    async def document_of(self, summary: StoredSummary) -> Document:
        """Returns the document of a summary."""
        request = summary.request
        return Document(
            document_id=request.document_id,
            name=request.document_name,
            chunks=await self.chunks(summary.document_sha256),
            total_pages=request.total_pages,
            empty_chunk_count=request.empty_chunk_count,
            sha256=summary.document_sha256,
        )

    async def chunks(self, document_sha256: str) -> tuple[SourceChunk, ...]:
        """Returns the chunks of a document in order; none if it is not there."""
        rows = await self._database.fetch(
            "SELECT chunk_index, page_number, body FROM document_chunks JOIN texts ON sha256 = text_sha256 "
            "WHERE document_sha256 = ? ORDER BY position",
            document_sha256,
        )
        return tuple(SourceChunk(index, page, body) for index, page, body in rows)

    async def with_budget(self, summary: StoredSummary, budget: SummaryBudget | None) -> StoredSummary:
        """Returns a summary with another budget, and stores that; None changes nothing."""
        if budget is None or budget == summary.request.budget:
            return summary
        request = replace(summary.request, budget=budget)
        row = (REQUEST.dump_json(request).decode(), summary.summary_id)
        await self._database.transact([Statement("UPDATE summaries SET request = ? WHERE summary_id = ?", row)])
        return replace(summary, request=request)

    async def note_cost(self, summary_id: str, run: str, usage: LlmUsage, elapsed_s: float) -> None:
        """Stores what a run has cost so far; a later note replaces an earlier one."""
        statement = Statement(
            "INSERT INTO run_costs VALUES (?, ?, ?, ?) ON CONFLICT (summary_id, run) "
            "DO UPDATE SET usage = excluded.usage, elapsed_s = excluded.elapsed_s",
            (summary_id, run, _USAGE.dump_json(usage).decode(), elapsed_s),
        )
        await self._database.transact([statement])

    async def run_totals(self, summary_id: str) -> tuple[int, LlmUsage, float]:
        """Counts the runs of a summary, and adds up their usage and seconds; a killed one's to its last heartbeat."""
        rows = await self._database.fetch("SELECT usage, elapsed_s FROM run_costs WHERE summary_id = ?", summary_id)
        usage = sum((_USAGE.validate_json(row[0]) for row in rows), LlmUsage())
        return len(rows), usage, sum(float(row[1]) for row in rows)

    async def warn(self, summary_id: str, code: str, message: str) -> None:
        """Stores a warning, once."""
        sql = "INSERT INTO warnings VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        await self._database.transact([Statement(sql, (summary_id, code, message))])

    async def warnings(self, summary_id: str) -> list[SummaryWarning]:
        """Returns all warnings."""
        told = "SELECT code, message FROM warnings WHERE summary_id = ? ORDER BY code"
        return [SummaryWarning(code, message) for code, message in await self._database.fetch(told, summary_id)]

    async def expire(self, keep_s: float) -> None:
        """Deletes summaries that nobody touched for `keep_s`, and what only they needed."""
        expire = [Statement(sql, (keep_s,) if "?" in sql else ()) for sql in _EXPIRE]
        await self._database.transact([DROPS_TEXTS, *expire])

    async def _find(self, sql: str, value: str) -> StoredSummary | None:
        rows = await self._database.fetch(sql, value)
        return _to_summary(rows[0]) if rows else None


def _inserts(document_sha256: str, chunks: Sequence[SourceChunk], owner: str) -> Iterator[Statement]:
    for first in range(0, len(chunks), _ROWS_PER_STATEMENT):
        part = chunks[first : first + _ROWS_PER_STATEMENT]
        hashes = [hashlib.sha256(f"{owner}\0{chunk.text}".encode()).hexdigest() for chunk in part]
        texts: dict[str, str] = dict(zip(hashes, (chunk.text for chunk in part), strict=True))
        yield _insert("texts (sha256, body)", list(texts.items()))
        yield _insert(
            "document_chunks (document_sha256, position, chunk_index, page_number, text_sha256)",
            [
                (document_sha256, first + offset, chunk.chunk_index, chunk.page_number, sha256)
                for offset, (chunk, sha256) in enumerate(zip(part, hashes, strict=True))
            ],
        )


def _insert(table: str, rows: Sequence[tuple[Value, ...]]) -> Statement:
    marks = f"({', '.join('?' * len(rows[0]))})"
    values = tuple(value for row in rows for value in row)
    # Names of our own only; all values are bound.
    return Statement(f"INSERT INTO {table} VALUES {', '.join([marks] * len(rows))} ON CONFLICT DO NOTHING", values)  # noqa: S608


def scoped(name: str, owner: str) -> str:
    """Returns a name among those of all owners: its own without an owner, else one that nobody can send.

    Raises InvalidInputError: Postgres cannot store it.
    """
    if "\0" in name:
        raise InvalidInputError("idempotency_key", "a text without a zero byte", "one")
    if not owner and not name.startswith(_OWNED):
        return name
    return _OWNED + hashlib.sha256(f"{owner}\n{name}".encode()).hexdigest()


def _parse_token(page_token: str) -> tuple[float, str]:
    if not page_token:
        return math.inf, ""
    created_at, _, summary_id = page_token.partition(":")
    try:
        if "\0" not in summary_id:
            return float(created_at), summary_id
    except ValueError:
        pass
    raise InvalidInputError("page_token", "a token of an earlier page", "another text")


def damaged_summaries(rows: Iterable[Row]) -> list[str]:
    """Returns the ids of those among all summaries, by `ALL_SUMMARIES`, that cannot be read."""
    found = []
    for row in rows:
        try:
            _to_summary(row)
        except DamagedSummaryError as error:
            found.append(error.summary_id)
    return found


def _to_entry(row: Row) -> SummaryEntry | None:
    """Returns an entry of a list; None where its row is damaged, for the others are not."""
    summary_id, request, status, flaw_count, is_leased, created_at, updated_at = row
    try:
        asked, status = REQUEST.validate_json(request), SummaryStatus(status)
    except ValueError:
        _log.error("event=summary_damaged summary_id=%s", summary_id)
        return None
    return SummaryEntry(
        summary_id=summary_id,
        document_id=asked.document_id,
        document_name=asked.document_name,
        status=status,
        flaw_count=flaw_count,
        is_running=bool(is_leased),
        created_at=created_at,
        updated_at=updated_at,
    )


def _to_output(row: Row) -> StepOutput:
    return StepOutput(row[0], row[1], row[2], row[3:5], row[5:7])


def _to_summary(row: Row) -> StoredSummary:
    summary_id, request, request_key, document_sha256, status, plan, is_leased, result = row
    try:
        return StoredSummary(
            summary_id=summary_id,
            request=REQUEST.validate_json(request),
            request_key=request_key,
            document_sha256=document_sha256,
            status=SummaryStatus(status),
            plan=None if plan is None else _PLAN.validate_json(plan),
            is_leased=bool(is_leased),
            result=result,
        )
    except ValueError:
        raise DamagedSummaryError(summary_id) from None  # its error would hold the text
