"""What a reader of a running summary is told."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.llm.llm_usage import LlmUsage
from pipeline.summarize.plan import Plan
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.retention import Retention
from pipeline.summarize.writer import CriticVerdict


class Phase(StrEnum):
    """What the graph is at."""

    PLAN = "plan"
    MAP = "map"
    REDUCE = "reduce"
    REFLECT = "reflect"
    TOPICS = "topics"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a summary is. It comes with every step, so that a reader may miss any of them.

    Attributes:
        phase: what the graph is at.
        iteration: from 1.
        calls_done: planned calls that are finished, by this run, earlier ones or the cache.
        calls_total: planned calls of all iterations begun; grows when a FAIL begins another, or a group must shrink.
        calls_reused: part of `calls_done` that cost nothing in this run.
        usage: of this run.
        elapsed_s: of this run.
        eta_s: estimate of the rest; None until a call has been timed.
        joined_events: events that were dropped before this one since the reader was slow.
    """

    phase: Phase
    iteration: int
    calls_done: int
    calls_total: int
    calls_reused: int
    usage: LlmUsage
    elapsed_s: float
    eta_s: float | None
    joined_events: int = 0


@dataclass(frozen=True, slots=True)
class Accepted:
    """First event: the summary is stored and can be resumed by its id from now on."""

    summary_id: str
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan, before any call; sent again by a resumed run."""

    plan: Plan
    progress: Progress


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A map call is finished.

    Attributes:
        batch_index: from 0.
        batch_count: of the plan.
        chunk_indexes: first and last, inclusive.
        pages: first and last, inclusive.
        usage: of this call.
        is_reused: True if it cost nothing in this run.
        retention: of the batch's terms.
        text: what was extracted; None unless the reader asked for texts.
        result_key: under which the store holds the text.
        progress: see Progress.
    """

    batch_index: int
    batch_count: int
    chunk_indexes: tuple[int, int]
    pages: tuple[int, int]
    usage: LlmUsage
    is_reused: bool
    retention: Retention
    result_key: str
    progress: Progress
    text: str | None = None


@dataclass(frozen=True, slots=True)
class GroupDone:
    """A reduce call is finished.

    Attributes:
        level: from 1.
        group_index: from 0, in this level.
        group_count: of this level, with a lone text that needs no call.
        merged_count: texts that became one.
        chunk_indexes: first and last, inclusive.
        pages: first and last, inclusive.
        usage: of this call, with compressions.
        is_reused: True if it cost nothing in this run.
        progress: see Progress.
    """

    level: int
    group_index: int
    group_count: int
    merged_count: int
    chunk_indexes: tuple[int, int]
    pages: tuple[int, int]
    usage: LlmUsage
    is_reused: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class Reflected:
    """The critic has spoken.

    Attributes:
        iteration: from 1.
        critic_verdict: PASS, FAIL or no answer.
        critique: the reasons.
        retention: what of the document's terms survived in the summary.
        begins_again: True if another iteration follows.
        progress: see Progress.
    """

    iteration: int
    critic_verdict: CriticVerdict
    critique: str
    retention: Retention
    begins_again: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class TopicsFound:
    """The key topics."""

    topics: tuple[str, ...]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the reader should know; the summary goes on."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Last event: the result, complete or partial."""

    result: SummaryResult


Event = Accepted | Planned | BatchDone | GroupDone | Reflected | TopicsFound | Warned | Finished
