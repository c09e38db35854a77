"""Runs the graph of one summary under its lease, from the plan to the result, which is put together from the store.

A run has an OpenTelemetry span; below it are those of the nodes, and below these those of the calls. Attributes are
ids, names of ours, counts and shares: never a text, a name or a topic.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from opentelemetry.trace import Span, Status, StatusCode
from pydantic import TypeAdapter

from pipeline.errors import PipelineError
from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import EndpointUnavailableError
from pipeline.summarize.citations.places import NOT_CITED, Citations
from pipeline.summarize.config import SummarizeConfig
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.errors import LeaseLostError, StorageError, SummaryAsideError
from pipeline.summarize.events import Finished, Planned
from pipeline.summarize.gate.findings import Trust
from pipeline.summarize.graph.graph import SummaryState, summary_graph
from pipeline.summarize.graph.run import (
    LAYERS,
    TEXT,
    TOPICS,
    UNIQUE,
    VERDICT,
    WRITTEN,
    Meter,
    Run,
    Stored,
    TextOutcome,
    VerdictOutcome,
    alongside,
    read_step,
)
from pipeline.summarize.plan import Planner, SummaryPlan
from pipeline.summarize.result import (
    IntermediateSummary,
    StageRetention,
    SummaryFailure,
    SummaryLayers,
    SummaryResult,
    SummaryWarning,
    WarningCode,
)
from pipeline.summarize.retention import add_up
from pipeline.summarize.steering.budget import NO_BUDGET, Spending, spend_from
from pipeline.summarize.storage.leases import Lease
from pipeline.summarize.storage.records import PlanRecord, Stage, StepId, StepOutput, StoredSummary, SummaryStatus
from pipeline.summarize.storage.store import TEXTS_AT_ONCE, SummaryStore
from pipeline.summarize.trust_report import add_up_trust, first_warnings, flaw_note, place_of, trust_warnings
from pipeline.summarize.writer import RemovedDuplicate
from pipeline.tracing import note

_log = logging.getLogger(__name__)


class _CancelRequestedError(Exception):
    """Somebody asked to cancel the summary."""


@dataclass(slots=True)
class SummaryRun:
    """One run of one summary."""

    context: Run  # its channel is closed at the end
    lease: Lease
    is_resumed: bool
    stop: asyncio.Event = field(default_factory=asyncio.Event)  # set it to cancel the summary from within this process
    _spending: Spending | None = None
    _has_begun: bool = False

    async def work(self) -> None:
        """Runs to the end and stores how it ended. The last event is the result, if there is one to give.

        Raises:
            StorageError: the database cannot be used; what it holds is kept.
            LeaseLostError: another server runs the summary.
            SummaryAsideError: this server stops; the summary can be resumed.
            asyncio.CancelledError: the reader left; the summary can be resumed.
        """
        self._has_begun = True
        status, result = SummaryStatus.FAILED, None
        self.context.observer.run_started(is_resumed=self.is_resumed)
        try:
            with self.context.root_span() as span:
                result = await self._end(*await self._run())
                _note_result(span, result)
            status = result.status
        except asyncio.CancelledError:
            status = SummaryStatus.CANCELLED
            await asyncio.shield(self._release(status))  # a second cancel must not leave the lease
            raise
        except BaseException as error:
            if isinstance(error, SummaryAsideError):
                status = SummaryStatus.CANCELLED
            await self._release(status)
            raise
        finally:
            self.context.observer.run_ended(status, result)
            self.context.channel.close()

    def put_aside(self) -> None:
        """Ends the run as soon as the calls on their way are done: their answers are paid for."""
        self.context.calls.close(SummaryAsideError(self.context.summary_id))

    async def give_up(self) -> None:
        """Returns the lease if `work` never began: a task that is cancelled before its first step does nothing."""
        if not self._has_begun:
            await asyncio.shield(self._release(SummaryStatus.CANCELLED))

    async def _release(self, status: SummaryStatus) -> None:
        """Returns the lease after an error, which matters more than one that happens here."""
        try:
            await self.context.store.leases.release(self.lease, status, None)  # first: somebody may resume at once
            await self._note_cost()
        except StorageError as error:
            _log.warning("cannot store the end of summary_id=%s: %s", self.context.summary_id, error)

    async def _run(self) -> tuple[SummaryStatus, SummaryFailure | None]:
        """Runs to the end. Returns how the summary stands then, and why it is not done."""
        try:
            async with alongside(self._graph_to_its_end()) as graph, alongside(self._heartbeat()) as heart:
                for task in (await asyncio.wait((graph, heart), return_when=asyncio.FIRST_COMPLETED))[0]:
                    task.result()
        except _CancelRequestedError:
            failure = SummaryFailure("SummaryCancelled", "the summary was cancelled: resume it by its id")
            return SummaryStatus.CANCELLED, failure
        except (StorageError, LeaseLostError, SummaryAsideError):
            raise
        except PipelineError as error:
            retry_after_s = error.retry_after_s if isinstance(error, EndpointUnavailableError) else None
            return SummaryStatus.FAILED, SummaryFailure(type(error).__name__, str(error), retry_after_s)
        return SummaryStatus.DONE, None

    async def _note_cost(self) -> None:
        """Stores what this run has cost so far, so that the totals outlive it."""
        run, usage = self.context, self.context.meter.usage
        if run.meter.calls_total:
            if self._spending and self._spending.usage.calls > usage.calls:  # with calls that were paid for in vain
                usage = self._spending.usage
            await run.store.note_cost(run.summary_id, self.lease.holder, usage, run.meter.elapsed_s)

    async def _end(self, status: SummaryStatus, failure: SummaryFailure | None) -> SummaryResult:
        await self._note_cost()
        run = self.context
        assembler = Assembler(run.store, await run.store.find(run.summary_id) or run.summary, run.config)
        meter = run.meter if run.meter.calls_total else None
        result = await assembler.assemble(status, failure, meter=meter, citation=run.citation)
        is_kept = status is not SummaryStatus.CANCELLED
        kept, flaw_count = (RESULT.dump_json(result).decode(), result.flaw_count) if is_kept else (None, None)
        await self.context.store.leases.release(self.lease, status, kept, flaw_count=flaw_count, ends_job=True)
        self.context.channel.offer(Finished(result))
        return result

    async def _heartbeat(self) -> None:
        """Keeps the lease, and ends when somebody cancels the summary, here or from another server."""
        while True:
            try:
                async with asyncio.timeout(self.context.config.heartbeat_s):
                    await self.stop.wait()
            except TimeoutError:
                if not await self.context.store.leases.renew(self.lease, self.context.config.lease_ttl_s):
                    await self._note_cost()
                    continue
            raise _CancelRequestedError

    async def _graph_to_its_end(self) -> None:
        run, before = self.context, self.context.summary.plan
        planner = Planner(run.document, run.writer, run.config, run.options)
        lengths = before.batch_lengths if before else ()  # of the batches that the summary has already
        run.plan = await planner.plan_with_known(run.call_scope, lengths, store=run.store, off_loop=run.off_loop)
        await self._adopt(run.plan)
        done = await run.store.call_count(run.summary_id)
        begun = max((iteration for iteration, *_ in await run.store.levels(run.summary_id)), default=1)
        await self._open_budget()
        calls_total = max(run.plan.calls(begun), done)
        run.meter = Meter(calls_done=done, calls_total=calls_total, calls_reused=done, iteration=begun)
        run.channel.offer(Planned(run.plan, run.progress()))
        start, most_steps = SummaryState(iteration=0, best_iteration=0), 4 * run.plan.max_iterations + 2
        await summary_graph().ainvoke(start, {"recursion_limit": most_steps, "run_name": "summarize"}, context=run)

    async def _open_budget(self) -> None:
        """Has the calls of this task taken out of the summary's budget, with what earlier runs took."""
        run, budget = self.context, self.context.summary.request.budget
        if budget != NO_BUDGET:
            _, before, _ = await run.store.run_totals(run.summary_id)
            self._spending = Spending(budget, run.writer.limits.prices, before)
            spend_from(self._spending)

    async def _adopt(self, plan: SummaryPlan) -> None:
        """Remembers the plan. A resumed summary whose plan has changed begins again; equal calls are reused."""
        run, before = self.context, self.context.summary
        calls, each = plan.calls(), plan.calls(2) - plan.calls()
        record = PlanRecord(plan.key, calls, each, plan.input_tokens, len(plan.batches), plan.batch_lengths)
        if before.plan is not None:
            begun_by, writer = before.request.writer, run.writer.identity
            if begun_by != writer:
                await run.warn(WarningCode.WRITER_CHANGED, f"begun by {begun_by}, resumed by {writer}")
            if before.plan.plan_key == record.plan_key:
                return
        await run.store.set_plan(run.summary_id, record)
        if empty := run.document.empty_chunk_count:
            await run.warn(WarningCode.EMPTY_CHUNKS, f"{empty} chunks hold no text and were left out")
        if plan.limits.shortfall and len(plan.batches) > 1:
            await run.warn(WarningCode.SMALL_CONTEXT, plan.limits.shortfall)


def _note_result(span: Span, result: SummaryResult) -> None:
    same = ("writer", "iterations", "calls_done", "calls_planned", "calls_reused", "input_tokens", "output_tokens")
    note(
        span,
        **{name: getattr(result, name) for name in same},
        status=result.status.value,
        model_calls=result.usage.calls,
        prompt_tokens=result.usage.prompt_tokens,
        completion_tokens=result.usage.completion_tokens,
        retained_share=result.retention.share if result.retention else None,
        removed_duplicates=result.duplicate_count,
        topics=len(result.topics),
        warnings=len(result.warnings),
    )
    if result.failure is not None:
        span.set_attribute("error.type", result.failure.kind)
        span.set_status(Status(StatusCode.ERROR, result.failure.message))


RESULT = TypeAdapter(SummaryResult)

_Levels = list[tuple[int, Stage, int, int]]  # iteration, stage, level and number of steps


def stored_result(summary: StoredSummary) -> SummaryResult | None:
    """Returns the result of the last run; that of an equal document of another name, under this one's."""
    if not summary.result:
        return None
    return replace(
        RESULT.validate_json(summary.result),
        summary_id=summary.summary_id,
        document_id=summary.request.document_id,
        document_name=summary.request.document_name,
        budget=summary.request.limited_to,
    )


@dataclass(slots=True)
class _Measured:
    """What the calls of an iteration kept, dropped and had wrong."""

    stages: list[StageRetention] = field(default_factory=list)
    duplicates: list[RemovedDuplicate] = field(default_factory=list)
    trusts: list[Trust] = field(default_factory=list)
    warnings: list[SummaryWarning] = field(default_factory=list)

    def add(self, step: StepId, outcomes: list[tuple[StepOutput, TextOutcome]], chunks: Sequence[SourceChunk]) -> None:
        """Adds the texts of a stage."""
        if step.stage is not Stage.COMPRESS:
            retention = add_up(outcome.retention for _, outcome in outcomes)
            self.stages.append(StageRetention(step.stage, step.level, retention))
            for output, outcome in outcomes:
                self.duplicates += outcome.duplicates_from(output.chunk_indexes[0])
        for output, outcome in outcomes:
            if outcome.trust:
                self.trusts.append(outcome.trust)
                self.warnings += trust_warnings(outcome.trust, partial(place_of, output, chunks))


class Assembler:
    """Reads one summary's steps."""

    def __init__(self, store: SummaryStore, summary: StoredSummary, config: SummarizeConfig) -> None:
        self._store, self._summary, self._config = store, summary, config
        self._id = summary.summary_id

    async def assemble(
        self,
        status: SummaryStatus,
        failure: SummaryFailure | None = None,
        *,
        meter: Meter | None = None,
        citation: Citations = NOT_CITED,
    ) -> SummaryResult:
        """Returns the result as far as the summary came.

        Args:
            status: how its last run ended, and `failure` why.
            meter: of that run; None if the result is put together without one.
            citation: of the finished text.
        """
        levels = await self._store.levels(self._id)
        finals = [iteration for iteration, stage, *_ in levels if stage is Stage.FINAL]
        verdicts = {number: found for number in finals if (found := await self._read(number, Stage.REFLECT, VERDICT))}
        begun = max((iteration for iteration, *_ in levels), default=1)
        is_done = status is SummaryStatus.DONE
        chosen = _with_topics(levels) if is_done else _best(finals, verdicts, begun)
        final = await self._read(chosen, Stage.FINAL, UNIQUE)
        text, warnings = (final.text, []) if final else await self._partial_text(chosen, levels)
        if failure and final and begun > chosen:
            warnings.append(SummaryWarning(WarningCode.ITERATION_FAILED, f"iteration {begun} failed: this is {chosen}"))
        verdict, measured = verdicts.get(chosen), await self._measure(chosen, levels)
        topics = await self._read(chosen, Stage.TOPICS, TOPICS)
        json = await self._read(chosen, Stage.JSON, WRITTEN, level=1)
        result = SummaryResult(
            summary_id=self._id,
            document_id=self._summary.request.document_id,
            document_name=self._summary.request.document_name,
            status=status,
            text="\n\n".join(filter(None, (text, flaw_note(measured.warnings)))),
            topics=topics.topics if topics and is_done else (),
            writer=self._summary.request.writer,
            iteration=chosen,
            iterations=begun,
            critic_verdict=verdict.verdict.critic_verdict if verdict else None,
            critique=verdict.verdict.text if verdict else "",
            warnings=(*await self._store.warnings(self._id), *warnings, *first_warnings(measured.warnings)),
            failure=failure,
            output_tokens=(await self._store.outputs(self._id, chosen, Stage.FINAL))[0].tokens if final else 0,
            stages=tuple(measured.stages),
            retention=verdict.retention if verdict else None,
            duplicates=tuple(measured.duplicates[:1_000]),
            duplicate_count=len(measured.duplicates),
            trust=add_up_trust(measured.trusts),
            citation=citation,
            length=final.length if final else None,
            layers=await self._read(chosen, Stage.LAYERS, LAYERS) or SummaryLayers(),
            budget=self._summary.request.limited_to,
            json=json.text if json and is_done else "",
        )
        return await self._with_totals(result, levels, meter)

    async def _with_totals(self, result: SummaryResult, levels: _Levels, meter: Meter | None) -> SummaryResult:
        """Adds what this run and all runs cost, and how far the summary is."""
        (run_count, total_usage, total_s), plan = await self._store.run_totals(self._id), self._summary.plan
        begun, calls_done = (result.iterations, Stage.MAP), await self._store.call_count(self._id)
        calls_planned = meter.calls_total if meter else plan.calls(result.iterations) if plan else 0
        return replace(
            result,
            calls_done=calls_done,
            calls_planned=max(calls_done, calls_planned),
            calls_reused=meter.calls_reused if meter else 0,
            usage=meter.usage if meter else LlmUsage(),
            elapsed_s=meter.elapsed_s if meter else 0.0,
            input_tokens=plan.input_tokens if plan else 0,
            total_usage=total_usage,
            total_elapsed_s=total_s,
            run_count=run_count,
            current_batch=sum(count for iteration, stage, _, count in levels if (iteration, stage) == begun),
            batch_count=plan.batch_count if plan else 0,
        )

    async def intermediate_summaries(self, iteration: int) -> tuple[IntermediateSummary, ...]:
        """Returns what was extracted from each batch, then what merges made of it, up to 200,000 characters."""
        found: list[IntermediateSummary] = []
        chars_left = 200_000
        for number, stage, level, _ in sorted(await self._store.levels(self._id), key=lambda entry: entry[2]):
            if number != iteration or stage not in (Stage.MAP, Stage.REDUCE):
                continue
            async for output, body in self._bodies(StepId(iteration, stage, level), calls_only=True):
                if chars_left <= 0:
                    return tuple(found)
                text = TEXT.validate_json(body).written.text[:chars_left]
                chars_left -= len(text)
                found.append(IntermediateSummary(level, output.position, output.chunk_indexes, output.pages, text))
        return tuple(found)

    async def _partial_text(self, iteration: int, levels: _Levels) -> tuple[str, list[SummaryWarning]]:
        """Returns the texts of the highest level that is complete, or all extractions; none before the first answer."""
        _, usage, _ = await self._store.run_totals(self._id)
        if not usage.calls:
            return "", []  # what was only passed on is the document itself
        complete = [level for number, stage, level, _ in levels if number == iteration and stage is Stage.UNIQUE]
        texts: list[str] = []
        chars_left = self._config.partial_chars
        first = StepId(iteration, Stage.UNIQUE, max(complete)) if complete else StepId(iteration, Stage.MAP)
        async for _, body in self._bodies(first):
            text = UNIQUE.validate_json(body).text if complete else TEXT.validate_json(body).written.text
            texts.append(text[:chars_left])
            chars_left -= len(text)
            if chars_left < 0:
                message = f"only the first {self._config.partial_chars} characters: resume to get the summary"
                return "\n\n".join(texts), [SummaryWarning(WarningCode.TEXT_CUT, message)]
        return "\n\n".join(texts), []

    async def _measure(self, iteration: int, levels: _Levels) -> _Measured:
        """Adds up what the calls of an iteration kept, and collects what was said twice and what the gate found."""
        measured = _Measured()
        for number, stage, level, _ in sorted(levels, key=lambda entry: entry[2]):
            if number != iteration:
                continue
            step = StepId(iteration, stage, level)
            if stage in (Stage.MAP, Stage.REDUCE, Stage.COMPRESS):
                bodies = self._bodies(step, calls_only=True)
                outcomes = [(output, TEXT.validate_json(body)) async for output, body in bodies]
                is_found = any(outcome.trust and outcome.trust.findings for _, outcome in outcomes)
                chunks = await self._store.chunks(self._summary.document_sha256) if is_found else ()
                measured.add(step, outcomes, chunks)
            elif stage is Stage.UNIQUE:
                if measured.stages and measured.stages[-1].level < level:  # no call wrote it
                    measured.stages.append(StageRetention("join", level, add_up(())))
                async for _, body in self._bodies(step):
                    measured.duplicates += UNIQUE.validate_json(body).removed
        return measured

    async def _bodies(self, first: StepId, *, calls_only: bool = False) -> AsyncIterator[tuple[StepOutput, str]]:
        """Yields the results of all steps from `first` on, some at a time."""
        while bodies := await self._store.bodies(self._id, first, most=TEXTS_AT_ONCE, calls_only=calls_only):
            for found in bodies:
                yield found
            first = first._replace(position=bodies[-1][0].position + 1)

    async def _read(self, iteration: int, stage: Stage, form: TypeAdapter[Stored], *, level: int = 0) -> Stored | None:
        return await read_step(self._store, self._id, StepId(iteration, stage, level), form)


def _with_topics(levels: _Levels) -> int:
    """Returns the iteration whose topics were found."""
    return max(iteration for iteration, stage, *_ in levels if stage is Stage.TOPICS)


def _best(finals: list[int], verdicts: dict[int, VerdictOutcome], default: int) -> int:
    """Returns the summary that kept most, of those that were finished before the end came."""
    shares = {number: verdict.retention.share for number, verdict in verdicts.items()}
    return max(finals, key=lambda number: shares.get(number, -1.0), default=default)
