"""The state of a run: numbers in the graph's state, everything else in LangGraph's runtime context.

The context is shared by the nodes and never in a checkpoint. Texts are in the store, so that a checkpoint has the same
size at every step. When one call has failed, those that are on their way are let finish.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import TracebackType
from typing import Generic, Protocol, TypedDict, TypeVar

from langgraph.graph.state import CompiledStateGraph
from pydantic import TypeAdapter

from pipeline.llm.chat_model import LlmUsage
from pipeline.off_loop import OffLoop
from pipeline.summarize.citations.cite import Citing
from pipeline.summarize.config import SummarizeConfig
from pipeline.summarize.document import Document, SummarizeOptions
from pipeline.summarize.event_channel import EventChannel
from pipeline.summarize.events import CallOutcome, Drafted, SummaryObserver
from pipeline.summarize.gate.gate import GatedWriter, TrustGate
from pipeline.summarize.graph.background import Background
from pipeline.summarize.graph.texts import Task, TextOutcome, task_key
from pipeline.summarize.incremental.known_calls import CallTexts, answer_scope, call_scope, remember_call
from pipeline.summarize.meter import BatchTerms, Meter
from pipeline.summarize.plan import SummaryPlan
from pipeline.summarize.retention import Mentions
from pipeline.summarize.storage.records import StepId, StepOutput
from pipeline.summarize.storage.store import SummaryStore
from pipeline.summarize.writer import DraftListener, Extraction, MergeStage, MergeTask, Writer


class CallGate:
    """Enter it around every call of a writer, and around storing the answer.

    After the first failure no new call begins, and the failure is raised only when the calls on their way are done:
    their answers are paid for. A cancelled call does not wait for anything.
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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active -= 1
        if not self._active:
            self._idle.set()
        if isinstance(error, Exception):
            self.close(error)
            await self._idle.wait()

    def close(self, failure: Exception) -> None:
        """Lets no further call begin; those that would begin fail with this once all calls on their way are done."""
        self._failure = self._failure or failure


class HasUsage(Protocol):
    """What a call came to."""

    @property
    def usage(self) -> LlmUsage:
        """What it cost."""


Outcome = TypeVar("Outcome", bound=HasUsage)
_NO_OUTPUT = StepOutput(0, "")

# Neighbouring batches see the same context; a run holds on to a few texts, not to all.
_REMEMBERED_TEXTS = 16


@dataclass(frozen=True, slots=True)
class PlannedCall(Generic[Outcome]):
    """One planned call.

    Attributes:
        task: what is asked; with the job's `answer_scope` it is the answer's key.
        output: the stretch of the document that a text is of; `position` and key are filled in here.
        texts: what it reads, by which later summaries know it; None of calls that are not taken over.
    """

    step: StepId
    task: Task
    ask: Callable[[], Awaitable[Outcome]]
    adapter: TypeAdapter[Outcome]
    output: StepOutput = _NO_OUTPUT
    texts: CallTexts | None = None


@dataclass(frozen=True, slots=True)
class StepAnswer(Generic[Outcome]):
    """An outcome, new or from the store."""

    outcome: Outcome
    result_key: str
    is_reused: bool


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """What is to be done, and with what."""

    summary_id: str
    document: Document
    options: SummarizeOptions
    writer: Writer
    store: SummaryStore
    observer: SummaryObserver
    config: SummarizeConfig
    off_loop: OffLoop
    owner: str = ""

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

    @property
    def gate(self) -> TrustGate | None:
        """What the writer's texts must pass, if anything."""
        return self.writer.trust_gate if isinstance(self.writer, GatedWriter) else None

    @property
    def answer_scope(self) -> str:
        """Whose answers may be used again: those of this writer to this owner."""
        return answer_scope(self.owner, self.writer.identity)

    @property
    def caller(self) -> str:
        """Who takes turns with others: the owner, or where owners are not told apart the summary."""
        return self.owner or self.summary_id

    @property
    def call_scope(self) -> str:
        """What calls of earlier summaries must have in common with those of this one."""
        return call_scope(self.answer_scope, self.config, self.options)


@dataclass(slots=True)
class Run:
    """One run of one summary.

    Attributes:
        readers: of texts while they are written; all other events go the graph's way.
        slots: as many as calls may be in flight; a node that asks for a text takes one for all of its work.
            LangGraph's own `max_concurrency` forgets the tasks that wait when a run is cancelled.
        citing: told the text of the summary as soon as only its topics are missing.
        critiques: what later prompts of an iteration carry, by iteration.
    """

    job: SummaryJob
    plan: SummaryPlan
    meter: Meter
    terms: BatchTerms
    readers: EventChannel
    citing: Citing
    gate: CallGate = field(default_factory=CallGate)
    critiques: dict[int, str | None] = field(default_factory=dict)
    background: Background = field(init=False)
    slots: asyncio.Semaphore = field(init=False)
    count_tokens: Callable[[str], int] = field(init=False)
    mentions_of: Callable[[str], Mentions] = field(init=False)

    def __post_init__(self) -> None:
        self.background = Background(self.plan.batches)
        self.slots = asyncio.Semaphore(self.plan.concurrency)
        self.count_tokens = lru_cache(_REMEMBERED_TEXTS)(self.job.writer.count_tokens)
        self.mentions_of = lru_cache(_REMEMBERED_TEXTS)(Mentions.of)

    def listener(self, iteration: int) -> DraftListener | None:
        """Returns who is told the text of an iteration while it is written; None if no reader wants to see it."""
        if not self.readers.wants_drafts:
            return None
        return lambda text: self.readers.offer(Drafted(iteration, text))

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Leaves the place in flight to other calls while models of this process work on an answer."""
        self.slots.release()
        try:
            yield
        finally:
            await self.slots.acquire()

    async def answer(self, question: PlannedCall[Outcome]) -> StepAnswer[Outcome]:
        """Returns the stored answer, or makes the call and stores its answer before anybody sees it.

        Raises:
            PipelineError: the call failed, or another one did while this one had not begun.
        """
        key = task_key(self.job.answer_scope, question.task)
        stored = await self.job.store.result(key)
        if stored is not None:
            outcome = question.adapter.validate_json(stored)
            is_new = await self.record(question, key, outcome, stored)  # again: its summary may be deleted meanwhile
            self.meter.count_reused(was_counted=not is_new)
            self.job.observer.call_ended(question.step.stage, CallOutcome.REUSED, 0.0, LlmUsage())
            return StepAnswer(outcome, key, is_reused=True)
        async with self.gate:
            outcome, call_s = await self.ask(question)
            await self.record(question, key, outcome, question.adapter.dump_json(outcome).decode())
        self.meter.count(outcome.usage, call_s)
        return StepAnswer(outcome, key, is_reused=False)

    async def ask(self, question: PlannedCall[Outcome]) -> tuple[Outcome, float]:
        """Makes a call and tells the observer how it ended. Returns the outcome and the seconds it took."""
        stage, began = question.step.stage, time.monotonic()
        try:
            outcome = await question.ask()
        except BaseException as error:
            how = CallOutcome.CANCELLED if isinstance(error, asyncio.CancelledError) else CallOutcome.FAILED
            self.job.observer.call_ended(stage, how, time.monotonic() - began, LlmUsage())
            raise
        call_s = time.monotonic() - began
        self.job.observer.call_ended(stage, CallOutcome.MADE, call_s, outcome.usage)
        return outcome, call_s

    async def record(
        self, question: PlannedCall[Outcome], key: str, outcome: Outcome, body: str | None, *, is_call: bool = True
    ) -> bool:
        """Stores an outcome under its key and its step; returns False for a known step.

        Args:
            body: its JSON; None if it is stored already.
            is_call: False for an answer that is not yet the text of its step: the text will count.
        """
        output = question.output._replace(position=question.step.position, result_key=key)
        if isinstance(outcome, TextOutcome):
            output = output._replace(tokens=outcome.tokens)
        known = [remember_call(question.texts, key)] if is_call and question.texts is not None else []
        steps = [(question.step, output, body)]
        return await self.job.store.record_all(self.job.summary_id, steps, is_call=is_call, beside=known) == 1


class SummaryState(TypedDict, total=False):
    """Where a summary stands between two steps.

    Attributes:
        iteration: from 1; 0 before the plan node.
        level: of the reduction whose texts are complete; 0 is the map.
        best_iteration: the one whose summary is the best so far; 0 before the first verdict.
    """

    iteration: int
    level: int
    best_iteration: int


SummaryGraph = CompiledStateGraph[SummaryState, Run, SummaryState, SummaryState]


class BatchTask(TypedDict):
    """One map call."""

    iteration: int
    batch: int


class GroupTask(TypedDict):
    """One reduce call.

    Attributes:
        level: of the result, from 1.
        first: position of the first text in the level below.
        last: of the last text, inclusive.
    """

    iteration: int
    level: int
    group: int
    group_count: int
    first: int
    last: int
