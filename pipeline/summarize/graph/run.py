"""One run of a summary: with what it is made, how far it is, and what its earlier steps wrote, as it is stored.

LangGraph hands it to the nodes as the runtime context. The state of the graph holds numbers alone; texts are in the
store.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar

from opentelemetry import trace
from opentelemetry.trace import Span
from pydantic import TypeAdapter

from pipeline.llm.chat_model import LlmUsage
from pipeline.off_loop import OffLoop
from pipeline.reading.terms import Term, find_terms
from pipeline.summarize.citations.cite import CitedDocument
from pipeline.summarize.citations.places import NOT_CITED, Citations
from pipeline.summarize.config import SummarizeConfig
from pipeline.summarize.document import Document, SummarizeOptions
from pipeline.summarize.events import Drafted, EventChannel, Phase, SummaryObserver, SummaryProgress
from pipeline.summarize.gate.findings import Trust
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.graph.batches import Background
from pipeline.summarize.packing import head_by_tokens
from pipeline.summarize.plan import SummaryPlan, answer_scope, call_scope
from pipeline.summarize.result import SummaryLayers, SummaryWarning, WarningCode
from pipeline.summarize.retention import Mentions, Retention
from pipeline.summarize.steering.wishes import SummaryLength
from pipeline.summarize.storage.records import Stage, StepId, StepOutput, StoredSummary
from pipeline.summarize.storage.store import SummaryStore
from pipeline.summarize.writer import (
    Critique,
    CritiqueTask,
    DraftListener,
    Extraction,
    ExtractTask,
    MergeStage,
    MergeTask,
    RemovedDuplicate,
    TextTask,
    TopicList,
    TopicsTask,
    Writer,
    Written,
)
from pipeline.tracing import Attribute, open_span, prefixed

_tracer = trace.get_tracer("precis.summarize")

Task = TextTask | CritiqueTask | TopicsTask

_TASKS: dict[type, TypeAdapter[Task]] = {
    kind: TypeAdapter(kind) for kind in (ExtractTask, MergeTask, CritiqueTask, TopicsTask)
}


@dataclass(frozen=True, slots=True)
class TextOutcome:
    """A text."""

    written: Written
    tokens: int
    retention: Retention  # the terms of the task's texts in the answer
    trust: Trust | None = None  # what the gate found; None without a gate
    # of the stretch that it was written from. The text is used again wherever that stretch stands later, and the places
    # in it move along. None in texts of older versions, which stay where they are.
    first_chunk: int | None = None

    @property
    def usage(self) -> LlmUsage:
        """Of the writer."""
        return self.written.usage

    def duplicates_from(self, first_chunk: int) -> list[RemovedDuplicate]:
        """Returns what the writer dropped as said twice, where the text's stretch begins with another chunk."""
        moved = 0 if self.first_chunk is None else first_chunk - self.first_chunk
        return [
            replace(one, kept_chunks=_moved(one.kept_chunks, moved), dropped_chunks=_moved(one.dropped_chunks, moved))
            for one in self.written.duplicates
        ]


def _moved(chunks: tuple[int, int], by: int) -> tuple[int, int]:
    return chunks[0] + by, chunks[1] + by


@dataclass(frozen=True, slots=True)
class UniqueText:
    """A text without the sentences that stood before it, and these sentences."""

    text: str
    removed: tuple[RemovedDuplicate, ...]
    length: SummaryLength | None = None  # asked for and got; of the last text alone, where one was asked for


@dataclass(frozen=True, slots=True)
class VerdictOutcome:
    """A verdict, and what of the document's terms the judged summary has."""

    verdict: Critique
    retention: Retention

    @property
    def usage(self) -> LlmUsage:
        """Of the critic."""
        return self.verdict.usage


TEXT = TypeAdapter(TextOutcome)
UNIQUE = TypeAdapter(UniqueText)
GROUPS = TypeAdapter(list[int])
LAYERS = TypeAdapter(SummaryLayers)
VERDICT = TypeAdapter(VerdictOutcome)
TOPICS = TypeAdapter(TopicList)
WRITTEN = TypeAdapter(Written)
Stored = TypeVar("Stored")


async def read_step(store: SummaryStore, summary_id: str, step: StepId, form: TypeAdapter[Stored]) -> Stored | None:
    """Returns what a step stored; None before it."""
    bodies = await store.bodies(summary_id, step, step.position)
    return form.validate_json(bodies[0][1]) if bodies else None


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, Stored]) -> AsyncIterator["asyncio.Task[Stored]"]:
    """Does work beside the body of a `with`, at whose end it is given up."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


_EACH = "__all__"
_LABELS: dict[type, dict[str, Any]] = {
    ExtractTask: {
        **dict.fromkeys(("document_name", "batch_index", "batch_count", "on_draft"), True),
        "chunks": {_EACH: {"chunk_index", "page_number"}},
    },
    MergeTask: {
        **dict.fromkeys(("document_name", "level", "group_index", "group_count", "on_draft"), True),
        "extractions": {_EACH: {"chunk_indexes", "pages"}},
    },
    CritiqueTask: {"document_name": True},
    TopicsTask: {"document_name": True},
}
"""What a task says of its place and its readers. An answer must not depend on them: texts may move."""


def task_key(scope: str, task: Task) -> str:
    """Returns the hash of whose an answer is, its texts and what is asked of them; not of where they stand."""
    digest = hashlib.sha256(f"{scope}\n{type(task).__name__}\n{_place(task)}\n".encode())
    digest.update(_TASKS[type(task)].dump_json(task, exclude=_LABELS[type(task)]))
    return digest.hexdigest()


def _place(task: Task) -> tuple[object, ...]:
    """Returns whether the document begins and ends with a task's texts, and how far apart their chunks are."""
    if not isinstance(task, TextTask):
        return ()
    is_map = isinstance(task, ExtractTask)
    numbers = [number for one in task.extractions for number in one.chunk_indexes[: 1 if is_map else 2]]
    return task.starts_document, task.ends_document, tuple(number - numbers[0] for number in numbers)


def text_key(kind: str, text: str) -> str:
    """Returns the key of a text that code made."""
    return hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


class CallGate:
    """Enter it around every call of a writer, and around storing the answer.

    After the first failure no new call begins. The failure is raised only when the calls on their way are done: their
    answers are paid for. A cancelled call does not wait for anything.
    """

    def __init__(self) -> None:
        self._active = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._failure: Exception | None = None

    async def __aenter__(self) -> None:
        if self._failure is not None:
            await self._idle.wait()
            raise self._failure
        self._active += 1
        self._idle.clear()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._active -= 1
        if not self._active:
            self._idle.set()
        if isinstance(error, Exception):
            self.close(error)
            await self._idle.wait()

    def close(self, failure: Exception) -> None:
        """Lets no further call begin; those that would begin fail with this once all calls on their way are done."""
        self._failure = self._failure or failure


@dataclass(slots=True)
class Meter:
    """The totals of one run."""

    calls_done: int = 0  # planned calls that are finished, of earlier runs too
    calls_total: int = 0  # 0 until the run is planned
    # part of `calls_done` that cost nothing in this run: what earlier runs had finished, and answers of other summaries
    # to equal calls
    calls_reused: int = 0
    usage: LlmUsage = field(default_factory=LlmUsage)
    phase: Phase = Phase.PLAN
    iteration: int = 1
    _began: float = field(default_factory=time.monotonic)
    _timed_calls: int = 0
    _timed_s: float = 0.0

    @property
    def elapsed_s(self) -> float:
        """Of this run."""
        return time.monotonic() - self._began

    def count(self, usage: LlmUsage, call_s: float) -> None:
        """Adds a call that was made."""
        self.calls_done += 1
        self.usage += usage
        self._timed_calls += 1
        self._timed_s += call_s

    def count_reused(self, *, was_counted: bool) -> None:
        """Adds a call that was not made since its result was stored; `was_counted` if an earlier run had done it."""
        self.calls_reused += not was_counted
        self.calls_done += not was_counted

    def eta_s(self, plan: SummaryPlan) -> float | None:
        """Estimates the critical path of the rest, in calls, times the mean duration of a call."""
        if not self._timed_calls:
            return None
        left = max(0, self.calls_total - self.calls_done) / max(1, self.calls_total)
        iterations = max(1, self.iteration)
        return left * plan.rounds(iterations) * self._timed_s / self._timed_calls


@dataclass
class Run:
    """One run of one summary: what is to be done, and with what."""

    summary: StoredSummary  # as stored when the run began
    document: Document
    writer: Writer
    store: SummaryStore
    config: SummarizeConfig
    observer: SummaryObserver
    off_loop: OffLoop
    channel: EventChannel  # where events go
    calls: CallGate = field(default_factory=CallGate)  # every call of the writer passes it
    meter: Meter = field(default_factory=Meter)
    citation: Citations = NOT_CITED  # of the finished text
    plan: SummaryPlan = field(init=False)  # set before the graph begins
    # returns the distinct terms of a batch, which are found once
    terms_of: Callable[[int], tuple[Term, ...]] = field(init=False)
    # as many as calls may be in flight; whoever asks for a text takes one for all of its work
    slots: asyncio.Semaphore = field(init=False)
    count_tokens: Callable[[str], int] = field(init=False)
    mentions_of: Callable[[str], Mentions] = field(init=False)
    _critiques: dict[int, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.terms_of = cache(lambda batch: tuple(find_terms(self.plan.batches[batch].text)))
        self.slots = asyncio.Semaphore(self.writer.limits.concurrency)
        # Neighbouring batches see the same context; a run holds on to a few texts, not to all.
        self.count_tokens = lru_cache(16)(self.writer.count_tokens)
        self.mentions_of = lru_cache(64)(Mentions.of)

    @cached_property
    def background(self) -> Background:
        """What stands around the batches."""
        return Background(self.plan.batches)

    @cached_property
    def cited(self) -> CitedDocument:
        """The document as critic and citations read it."""
        return CitedDocument(self.document.chunks)

    def progress(self) -> SummaryProgress:
        """Returns how far the run is."""
        meter = self.meter
        return SummaryProgress(
            phase=meter.phase,
            iteration=meter.iteration,
            calls_done=meter.calls_done,
            calls_total=max(meter.calls_total, meter.calls_done),
            calls_reused=meter.calls_reused,
            usage=meter.usage,
            elapsed_s=meter.elapsed_s,
            eta_s=meter.eta_s(self.plan),
        )

    @property
    def summary_id(self) -> str:
        """Names the summary, in the store and to callers."""
        return self.summary.summary_id

    @property
    def options(self) -> SummarizeOptions:
        """What the caller chose."""
        return self.summary.request.options

    @property
    def gate(self) -> TrustGate | None:
        """What the writer's texts must pass, if anything."""
        return self.writer.trust_gate if isinstance(self.writer, GatedWriter) else None

    @property
    def answer_scope(self) -> str:
        """Whose answers may be used again: those of this writer to this owner."""
        return answer_scope(self.summary.request.owner, self.writer.identity)

    @property
    def call_scope(self) -> str:
        """What calls of earlier summaries must have in common with those of this one."""
        return call_scope(self.answer_scope, self.config, self.options)

    @property
    def caller(self) -> str:
        """Who takes turns with others: the owner, or where owners are not told apart the summary."""
        return self.summary.request.owner or self.summary_id

    def root_span(self) -> AbstractContextManager[Span]:
        """Opens the span of one run. The summary's id is its session, by which trace viewers put its runs together."""
        attributes: dict[str, Attribute] = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "summarize",
            "precis.summary_id": self.summary_id,
            "session.id": self.summary_id,
        }
        return open_span(_tracer, "invoke_workflow summarize", attributes)

    async def warn(self, code: WarningCode, message: str) -> None:
        """Stores a warning and sends it."""
        await self.store.warn(self.summary_id, code, message)
        self.channel.offer(SummaryWarning(code, message))

    def span(self, node: str, **attributes: Attribute) -> AbstractContextManager[Span]:
        """Opens the span of one execution of a node; `precis.` is put before the attributes' names."""
        return open_span(_tracer, node, prefixed({"summary_id": self.summary_id, "node": node, **attributes}))

    def listener(self, iteration: int) -> DraftListener | None:
        """Returns who is told the text of an iteration while it is written; None if no reader wants to see it."""
        if not self.channel.wants_drafts:
            return None
        return lambda text: self.channel.offer(Drafted(iteration, text))

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Leaves the place in flight to other calls while models of this process work on an answer."""
        self.slots.release()
        try:
            yield
        finally:
            await self.slots.acquire()

    def merge_task(self, stage: MergeStage, level: int, texts: Sequence[Extraction], target_tokens: int) -> MergeTask:
        """Returns the task to write one text out of several, which are the only group of their level."""
        return MergeTask(
            summary_type=self.options.summary_type,
            document_name=self.document.name,
            stage=stage,
            level=level,
            group_index=0,
            group_count=1,
            extractions=tuple(texts),
            target_tokens=target_tokens,
            wishes=self.options.wishes,
        )

    async def record(self, step: StepId, output: StepOutput, body: str | None) -> None:
        """Stores a step that is no call, with the JSON of its result unless that is stored already."""
        await self.store.record(self.summary_id, [(step, output, body)])

    async def outputs(self, iteration: int, level: int) -> list[StepOutput]:
        """Returns what the steps wrote that a level consists of, without the texts."""
        return await self.store.outputs(self.summary_id, iteration, _stage_of(level), level)

    async def written_texts(self, iteration: int, level: int, first: int, last: int) -> list[Extraction]:
        """Returns the texts of a level from position `first` to `last`, inclusive, as they were written."""
        step = StepId(iteration, _stage_of(level), level, first)
        return await self._texts(step, last, lambda body: TEXT.validate_json(body).written.text)

    async def unique_texts(self, iteration: int, level: int, first: int, last: int) -> list[Extraction]:
        """Returns the same texts without what was said before."""
        step = StepId(iteration, Stage.UNIQUE, level, first)
        return await self._texts(step, last, lambda body: UNIQUE.validate_json(body).text)

    async def _texts(self, first: StepId, last: int, read: Callable[[str], str]) -> list[Extraction]:
        bodies = await self.store.bodies(self.summary_id, first, last)
        return [Extraction(read(body), output.chunk_indexes, output.pages) for output, body in bodies]

    async def level_text(self, iteration: int, level: int) -> str:
        """Returns all texts of a level as one, without what was said before."""
        outputs = await self.outputs(iteration, level)
        members = await self.unique_texts(iteration, level, 0, outputs[-1].position)
        return "\n\n".join(member.text for member in members)

    async def final_text(self, iteration: int) -> str:
        """Returns the summary of an iteration that was reduced to one text."""
        text = await read_step(self.store, self.summary_id, StepId(iteration, Stage.FINAL), UNIQUE)
        assert text is not None, "the iteration has its text"  # noqa: S101
        return text.text

    async def verdict_of(self, iteration: int) -> VerdictOutcome | None:
        """Returns the critic's verdict on an iteration; None before it."""
        return await read_step(self.store, self.summary_id, StepId(iteration, Stage.REFLECT), VERDICT)

    async def critique_for(self, iteration: int) -> str | None:
        """Returns what the critic said of the iteration before, cut to what prompts may carry; None in the first."""
        if iteration not in self._critiques:
            before = await self.verdict_of(iteration - 1)
            limit = min(self.config.critique_tokens, self.plan.limits.context_limit_tokens // 2)
            text = head_by_tokens(before.verdict.text, limit, self.count_tokens) if before else ""
            self._critiques[iteration] = text or None
        return self._critiques[iteration]


def _stage_of(level: int) -> Stage:
    """Returns the stage that wrote the texts of a level."""
    return Stage.REDUCE if level else Stage.MAP
