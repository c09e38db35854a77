"""The records that storage keeps of a summary, as values."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pydantic import TypeAdapter

from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.steering.budget import NO_BUDGET, SummaryBudget


class SummaryStatus(StrEnum):
    """Where a summary stands."""

    QUEUED = "queued"  # submitted; no server has taken it yet
    RUNNING = "running"  # or its server was killed: then nobody holds the lease, and it can be resumed
    DONE = "done"
    FAILED = "failed"  # a call failed after all retries; can be resumed
    CANCELLED = "cancelled"  # its reader left, or somebody cancelled it; can be resumed


class Stage(StrEnum):
    """A kind of step."""

    DRAFT = "draft"  # answers that are checked before they become a text of a stage
    MAP = "map"
    UNIQUE = "unique"  # the texts of a level without what was said before
    GROUPS = "groups"  # which texts of a level are merged together
    COMPRESS = "compress"
    REDUCE = "reduce"
    FINAL = "final"
    LAYERS = "layers"
    REFLECT = "reflect"
    TOPICS = "topics"
    JSON = "json"  # level 0: what was asked for; 1: what is kept


class StepId(NamedTuple):
    """One step of a summary."""

    iteration: int  # from 1
    stage: Stage
    level: int = 0  # of the reduction its output belongs to; 0 for the map
    position: int = 0  # from 0, in the order of the document


class StepOutput(NamedTuple):
    """A reference to what a step wrote, and what the next step must know before it reads it."""

    position: int
    result_key: str
    tokens: int = 0
    chunk_indexes: tuple[int, int] = (0, 0)
    pages: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summary was asked to do, besides the chunks."""

    document_id: str
    document_name: str
    total_pages: int
    empty_chunk_count: int
    options: SummarizeOptions
    writer: str
    # who asked, and alone may read, resume or cancel it; empty where callers are not told apart. Summaries of servers
    # that knew no owners have none either.
    owner: str = ""
    budget: SummaryBudget = NO_BUDGET  # of all runs; the last one that was set. A summary is the same with any.

    @property
    def limited_to(self) -> SummaryBudget | None:
        """Its budget; None where that bounds nothing."""
        return None if self.budget == NO_BUDGET else self.budget

    def key(self, document_sha256: str, settings: str) -> str:
        """Returns a hash of all that the result depends on; a renamed document has the same."""
        owner = (self.owner,) if self.owner else ()
        parts = (document_sha256, self.options.model_dump_json(), self.writer, settings, *owner)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def asks_as(self, before: "SummaryRequest") -> bool:
        """Tells whether a caller asks for what he asked for before; settings and writer may have changed."""
        return (self.document_id, self.document_name, self.options) == (
            before.document_id,
            before.document_name,
            before.options,
        )


REQUEST = TypeAdapter(SummaryRequest)


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """What is remembered of a plan."""

    plan_key: str  # hash of all that positions of steps depend on; steps of another plan mean something else
    calls_first: int
    calls_each: int
    input_tokens: int
    batch_count: int = 0  # 0 of a plan that an earlier version remembered
    # parts of each batch; empty of a plan of earlier versions whose batches were full
    batch_lengths: tuple[int, ...] = ()

    def calls(self, iterations: int) -> int:
        """Returns the planned calls of that many iterations."""
        return self.calls_first + max(0, iterations - 1) * self.calls_each


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """One row of the table of summaries."""

    summary_id: str
    request: SummaryRequest
    request_key: str  # hash of document, options, writer and owner: equal requests have equal results
    document_sha256: str
    status: SummaryStatus
    plan: PlanRecord | None  # None before the first run has planned
    is_leased: bool  # True while a living server runs it
    result: str | None  # JSON of the result, complete or partial; None before the first end


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """One summary of a list."""

    summary_id: str
    document_id: str
    document_name: str
    status: SummaryStatus
    flaw_count: int | None  # what checks of its result left wrong; None without a checked result, and of older versions
    is_running: bool
    created_at: float  # seconds since 1970; 0 of summaries of older versions
    updated_at: float  # when it last ran, likewise


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """A page of summaries, the newest first; an empty token says that it is the last."""

    summaries: tuple[SummaryEntry, ...]
    next_page_token: str
