"""Stores documents, every chunk's text once by its hash, and what is known of the runs of a summary.

Their traces, to which later ones point back, and what they cost.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from pipeline.llm.chat_model import NO_USAGE, LlmUsage
from pipeline.summarize.document import Document, SourceChunk
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.storage.records import REQUEST, StoredSummary
from pipeline.summarize.storage.schema import KEEPS_TEXTS, Database, Statement, Value

_ROWS_PER_STATEMENT = 200


class DocumentTable:
    """The tables `texts` and `document_chunks`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, document_sha256: str, chunks: Sequence[SourceChunk]) -> None:
        """Stores a document; does nothing if it is there already."""
        known = Statement("SELECT 1 FROM document_chunks WHERE document_sha256 = ? LIMIT 1", (document_sha256,))
        if not await self._database.fetch(known):
            await self._database.transact([KEEPS_TEXTS, *_inserts(document_sha256, chunks)])

    async def of(self, summary: StoredSummary) -> Document:
        """Returns the document of a summary."""
        request = summary.request
        return Document(
            document_id=request.document_id,
            name=request.document_name,
            chunks=await self.load(summary.document_sha256),
            total_pages=request.total_pages,
            empty_chunk_count=request.empty_chunk_count,
            sha256=summary.document_sha256,
        )

    async def load(self, document_sha256: str) -> tuple[SourceChunk, ...]:
        """Returns the chunks in order; none if the document is not there."""
        rows = await self._database.fetch(
            Statement(
                "SELECT chunk_index, page_number, body FROM document_chunks JOIN texts ON sha256 = text_sha256 "
                "WHERE document_sha256 = ? ORDER BY position",
                (document_sha256,),
            )
        )
        return tuple(SourceChunk(index, page, body) for index, page, body in rows)


def _inserts(document_sha256: str, chunks: Sequence[SourceChunk]) -> Iterator[Statement]:
    for first in range(0, len(chunks), _ROWS_PER_STATEMENT):
        part = chunks[first : first + _ROWS_PER_STATEMENT]
        hashes = [hashlib.sha256(chunk.text.encode()).hexdigest() for chunk in part]
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


_MOST_LINKS = 16


class RunTraceTable:
    """The table `run_traces`. It has rows only for runs that were traced."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, summary_id: str, traceparent: str) -> None:
        """Stores the W3C traceparent of a run."""
        insert = Statement(
            "INSERT INTO run_traces VALUES (?, ?, NOW_S) ON CONFLICT DO NOTHING", (summary_id, traceparent)
        )
        await self._database.transact([insert])

    async def earlier(self, summary_id: str) -> list[str]:
        """Returns the traceparents of the last runs, the latest first."""
        select = Statement(
            "SELECT traceparent FROM run_traces WHERE summary_id = ? ORDER BY began_at DESC LIMIT ?",
            (summary_id, _MOST_LINKS),
        )
        return [str(traceparent) for (traceparent,) in await self._database.fetch(select)]


_USAGE = TypeAdapter(LlmUsage)


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What runs cost together.

    Attributes:
        elapsed_s: of one that was killed, up to its last heartbeat.
    """

    run_count: int = 0
    usage: LlmUsage = NO_USAGE
    elapsed_s: float = 0.0


class RunCostTable:
    """The table `run_costs`, and how much may be in it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, summary_id: str, run: str, usage: LlmUsage, elapsed_s: float) -> None:
        """Stores what a run has cost so far; a later note replaces an earlier one."""
        statement = Statement(
            "INSERT INTO run_costs VALUES (?, ?, ?, ?) ON CONFLICT (summary_id, run) "
            "DO UPDATE SET usage = excluded.usage, elapsed_s = excluded.elapsed_s",
            (summary_id, run, _USAGE.dump_json(usage).decode(), elapsed_s),
        )
        await self._database.transact([statement])

    async def with_budget(self, summary: StoredSummary, budget: SummaryBudget | None) -> StoredSummary:
        """Returns a summary with another budget, and stores that; None changes nothing."""
        if budget is None or budget == summary.request.budget:
            return summary
        request = replace(summary.request, budget=budget)
        row = (REQUEST.dump_json(request).decode(), summary.summary_id)
        await self._database.transact([Statement("UPDATE summaries SET request = ? WHERE summary_id = ?", row)])
        return replace(summary, request=request)

    async def totals(self, summary_id: str) -> RunTotals:
        """Adds up all runs of a summary."""
        statement = Statement("SELECT usage, elapsed_s FROM run_costs WHERE summary_id = ?", (summary_id,))
        rows = await self._database.fetch(statement)
        usage = sum((_USAGE.validate_json(row[0]) for row in rows), LlmUsage())
        return RunTotals(len(rows), usage, sum(float(row[1]) for row in rows))
