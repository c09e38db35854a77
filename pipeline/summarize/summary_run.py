"""Runs the graph of one summary under its lease, from the plan to the result.

A run has an OpenTelemetry span, with links to those of the summary's runs before; below it are those of the nodes, and
below these those of the calls. Attributes are ids, names of ours, counts and shares: never a text, a name or a topic.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from pipeline.errors import PipelineError
from pipeline.llm.errors import EndpointUnavailableError
from pipeline.summarize.assemble import RESULT, Assembler
from pipeline.summarize.citations.cite import CitationBounds, Citing, cite
from pipeline.summarize.citations.places import NOT_CITED, Citations
from pipeline.summarize.errors import LeaseLostError, StorageError, SummaryAsideError
from pipeline.summarize.events import Finished, Planned
from pipeline.summarize.graph.graph import SummaryGraph, SummaryState
from pipeline.summarize.graph.run import CallGate, Meter, Run, SummaryJob
from pipeline.summarize.plan import Planner, SummaryPlan
from pipeline.summarize.result import SummaryFailure, SummaryResult, WarningCode
from pipeline.summarize.steering.budget import NO_BUDGET, Spending, spend_from
from pipeline.summarize.storage.checkpoints import storage_errors
from pipeline.summarize.storage.leases import Lease
from pipeline.summarize.storage.records import PlanRecord, SummaryStatus
from pipeline.tracing import note

_log = logging.getLogger(__name__)
_propagator = TraceContextTextMapPropagator()
_TRACEPARENT = "traceparent"


class _CancelRequestedError(Exception):
    """Somebody asked to cancel the summary."""


@dataclass(slots=True)
class SummaryRun:
    """One run of one summary.

    Attributes:
        job: its channel is closed at the end.
        stop: set it to cancel the summary from within this process.
        calls: every call of the writer passes it.
    """

    job: SummaryJob
    lease: Lease
    graph: SummaryGraph
    is_resumed: bool
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    calls: CallGate = field(default_factory=CallGate)
    _meter: Meter | None = None
    _spending: Spending | None = None
    _citation: Citations = NOT_CITED
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
        self.job.observer.run_started(is_resumed=self.is_resumed)
        try:
            result = await self._traced()
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
            self.job.observer.run_ended(status, result)
            self.job.channel.close()

    def put_aside(self) -> None:
        """Ends the run as soon as the calls on their way are done: their answers are paid for."""
        self.calls.close(SummaryAsideError(self.job.summary_id))

    async def give_up(self) -> None:
        """Returns the lease if `work` never began: a task that is cancelled before its first step does nothing."""
        if not self._has_begun:
            await asyncio.shield(self._release(SummaryStatus.CANCELLED))

    async def _traced(self) -> SummaryResult:
        """Runs inside a span that links to those of earlier runs, and remembers it for later ones."""
        summary_id = self.job.summary_id
        with self.job.span() as span:
            if parent := _traceparent(span):
                _link_to(span, await self.job.store.run_traces.earlier(summary_id))
                await self.job.store.run_traces.add(summary_id, parent)
            result = await self._end(*await self._run())
            _note_result(span, result)
        return result

    async def _release(self, status: SummaryStatus) -> None:
        """Returns the lease after an error, which matters more than one that happens here."""
        try:
            await self.job.store.leases.release(self.lease, status, None)  # first: somebody may resume at once
            await self._note_cost()
        except StorageError as error:
            _log.warning("cannot store the end of summary_id=%s: %s", self.job.summary_id, error)

    async def _run(self) -> tuple[SummaryStatus, SummaryFailure | None]:
        """Runs to the end. Returns how the summary stands then, and why it is not done."""
        try:
            await self._until_first(self._graph_to_its_end(), self._heartbeat())
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
        if self._meter is not None:
            summary_id, usage = self.job.summary_id, self._meter.usage
            if self._spending and self._spending.usage.calls > usage.calls:  # with calls that were paid for in vain
                usage = self._spending.usage
            await self.job.store.run_costs.note(summary_id, self.lease.holder, usage, self._meter.elapsed_s)

    async def _end(self, status: SummaryStatus, failure: SummaryFailure | None) -> SummaryResult:
        await self._note_cost()
        summary = await self.job.store.find(self.job.summary_id) or self.job.summary
        assembler = Assembler(self.job.store, summary, self.job.config)
        result = await assembler.assemble(status, failure, meter=self._meter, citation=self._citation)
        is_kept = status is not SummaryStatus.CANCELLED
        kept, flaw_count = (RESULT.dump_json(result).decode(), result.flaw_count) if is_kept else (None, None)
        await self.job.store.leases.release(self.lease, status, kept, flaw_count=flaw_count, ends_job=True)
        if status is SummaryStatus.DONE:
            await self._delete_checkpoints()  # nobody goes on from here
        self.job.channel.offer(Finished(result))
        return result

    async def _until_first(self, *works: Coroutine[Any, Any, None]) -> None:
        """Waits for the first of several works to end, raises its error, and stops the others."""
        tasks = [asyncio.create_task(work) for work in works]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _heartbeat(self) -> None:
        """Keeps the lease, and ends when somebody cancels the summary, here or from another server."""
        while True:
            try:
                async with asyncio.timeout(self.job.config.heartbeat_s):
                    await self.stop.wait()
            except TimeoutError:
                if not await self.job.store.leases.renew(self.lease, self.job.config.lease_ttl_s):
                    await self._note_cost()
                    continue
            raise _CancelRequestedError

    async def _graph_to_its_end(self) -> None:
        job = self.job
        plan = await self._plan()
        await self._adopt(plan)
        done = await job.store.call_count(job.summary_id)
        await self._open_budget()
        self._meter = Meter(plan, calls_done=done, calls_total=plan.calls(), calls_reused=done)
        citing = Citing(self._cite)
        run = Run(job, plan, self._meter, citing, self.calls)
        async with run.side_work():
            await self._drive(run)
            self._citation = await citing.of(await Assembler(job.store, job.summary, job.config).finished_text())

    async def _open_budget(self) -> None:
        """Has the calls of this task taken out of the summary's budget, with what earlier runs took."""
        job, budget = self.job, self.job.summary.request.budget
        if budget != NO_BUDGET:
            before = (await job.store.run_costs.totals(job.summary_id)).usage
            self._spending = Spending(budget, job.writer.limits.prices, before)
            spend_from(self._spending)

    async def _cite(self, text: str) -> Citations:
        """Finds where the sentences of the finished text stand in the document."""
        job, gate = self.job, self.job.gate
        max_read = gate.max_cited_claims if gate else 0
        bounds = CitationBounds(job.config.max_citations, max_read, job.caller)
        return await cite(text, job.document.chunks, bounds, gate.reader if gate else None, job.off_loop)

    async def _drive(self, run: Run) -> None:
        """Runs the graph from its last checkpoint, or from the beginning."""
        plan, meter = run.plan, run.meter
        config: RunnableConfig = {
            "configurable": {"thread_id": self.job.summary_id},
            "recursion_limit": plan.supersteps,
            "run_name": "summarize",
        }
        with storage_errors():
            snapshot = await self.graph.aget_state(config)
            # Not `snapshot.next`: that is empty too when all tasks of a step are done and the step itself is not.
            begins = not snapshot.values and not snapshot.tasks
            if begins or snapshot.tasks:
                start = SummaryState(iteration=0, level=0, best_iteration=0) if begins else None
                meter.iteration = max(1, snapshot.values.get("iteration", 1))
                meter.calls_total = max(plan.calls(meter.iteration), meter.calls_done)
                self.job.channel.offer(Planned(plan, meter.progress()))
                await self.graph.ainvoke(start, config, context=run, durability="async")

    async def _plan(self) -> SummaryPlan:
        """Plans with the batches that the summary has already, else with those of earlier summaries."""
        job, before = self.job, self.job.summary.plan
        planner = Planner(job.document, job.writer, job.config, job.options)
        lengths = before.batch_lengths if before else None
        return await planner.plan_with_known(job.call_scope, lengths, store=job.store, off_loop=job.off_loop)

    async def _adopt(self, plan: SummaryPlan) -> None:
        """Remembers the plan. A resumed summary whose plan has changed begins again; equal calls are reused."""
        job, before = self.job, self.job.summary
        calls, each = plan.calls(), plan.calls(2) - plan.calls()
        record = PlanRecord(
            plan.key, calls, each, plan.input_tokens, len(plan.batches), batch_lengths=plan.batch_lengths
        )
        if before.plan is not None:
            begun_by, writer = before.request.writer, job.writer.identity
            if begun_by != writer:
                await job.warn(WarningCode.WRITER_CHANGED, f"begun by {begun_by}, resumed by {writer}")
            if before.plan.plan_key == record.plan_key:
                return
            await self._delete_checkpoints()
        await job.store.set_plan(job.summary_id, record)
        if empty := job.document.empty_chunk_count:
            await job.warn(WarningCode.EMPTY_CHUNKS, f"{empty} chunks hold no text and were left out")
        if plan.limits.shortfall:
            await job.warn(WarningCode.SMALL_CONTEXT, plan.limits.shortfall)

    async def _delete_checkpoints(self) -> None:
        checkpointer = self.graph.checkpointer
        if checkpointer is not None and not isinstance(checkpointer, bool):
            with storage_errors():
                await checkpointer.adelete_thread(self.job.summary_id)


def _note_result(span: Span, result: SummaryResult) -> None:
    """Adds what a run came to."""
    note(
        span,
        status=result.status.value,
        writer=result.writer,
        iterations=result.iterations,
        calls_done=result.calls_done,
        calls_planned=result.calls_planned,
        calls_reused=result.calls_reused,
        model_calls=result.usage.calls,
        prompt_tokens=result.usage.prompt_tokens,
        completion_tokens=result.usage.completion_tokens,
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        retained_share=result.retention.share if result.retention else None,
        removed_duplicates=result.duplicate_count,
        topics=len(result.topics),
        warnings=len(result.warnings),
    )
    if result.failure is not None:
        span.set_attribute("error.type", result.failure.kind)
        span.set_status(Status(StatusCode.ERROR, result.failure.message))


def _traceparent(span: Span) -> str | None:
    """Returns the W3C traceparent of a span; None when it is recorded nowhere."""
    carrier: dict[str, str] = {}
    if span.is_recording():
        _propagator.inject(carrier, trace.set_span_in_context(span))
    return carrier.get(_TRACEPARENT)


def _link_to(span: Span, earlier: Sequence[str]) -> None:
    """Links the span of a run to those of the summary's runs before, given as W3C traceparents."""
    note(span, earlier_runs=len(earlier))
    for parent in earlier:
        context = _propagator.extract({_TRACEPARENT: parent})
        span.add_link(trace.get_current_span(context).get_span_context())
