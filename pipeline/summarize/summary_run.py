"""Runs the graph of one summary under its lease, from the plan to the result."""

import asyncio
import hashlib
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig

from pipeline.errors import PipelineError
from pipeline.llm.errors import EndpointUnavailableError
from pipeline.summarize.assemble import RESULT, Assembler, Ending
from pipeline.summarize.citations.cite import CitationBounds, Citing, cite
from pipeline.summarize.citations.places import NOT_CITED, Citations
from pipeline.summarize.errors import LeaseLostError, StorageError, SummaryAsideError
from pipeline.summarize.event_channel import EventChannel
from pipeline.summarize.events import Finished, Planned
from pipeline.summarize.graph.run import CallGate, Run, SummaryGraph, SummaryJob, SummaryState
from pipeline.summarize.incremental.take_over import plan_incrementally
from pipeline.summarize.meter import BatchTerms, Meter
from pipeline.summarize.plan import Planner, SummaryPlan
from pipeline.summarize.result import SummaryFailure, SummaryResult, SummaryWarning, WarningCode
from pipeline.summarize.steering.budget import NO_BUDGET, Spending, spend_from
from pipeline.summarize.storage.checkpoints import storage_errors
from pipeline.summarize.storage.leases import Lease
from pipeline.summarize.storage.records import PlanRecord, StoredSummary, SummaryStatus
from pipeline.summarize.tracing import link_to, note_result, run_span, traceparent

_log = logging.getLogger(__name__)


class _CancelRequestedError(Exception):
    """Somebody asked to cancel the summary."""


@dataclass(slots=True)
class SummaryRun:
    """One run of one summary.

    Attributes:
        summary: as stored when the run began.
        channel: where events go; closed at the end.
        stop: set it to cancel the summary from within this process.
        calls: every call of the writer passes it.
    """

    job: SummaryJob
    summary: StoredSummary
    lease: Lease
    channel: EventChannel
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
            self.channel.close()

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
        with run_span(summary_id) as span:
            if parent := traceparent(span):
                link_to(span, await self.job.store.run_traces.earlier(summary_id))
                await self.job.store.run_traces.add(summary_id, parent)
            result = await self._end(await self._run())
            note_result(span, result)
        return result

    async def _release(self, status: SummaryStatus) -> None:
        """Returns the lease after an error, which matters more than one that happens here."""
        try:
            await self.job.store.leases.release(self.lease, status, None)  # first: somebody may resume at once
            await self._note_cost()
        except StorageError as error:
            _log.warning("cannot store the end of summary_id=%s: %s", self.job.summary_id, error)

    async def _run(self) -> Ending:
        try:
            await self._until_first(self._graph_to_its_end(), self._heartbeat())
        except _CancelRequestedError:
            failure = SummaryFailure("SummaryCancelled", "the summary was cancelled: resume it by its id")
            return Ending(SummaryStatus.CANCELLED, failure, self._meter)
        except (StorageError, LeaseLostError, SummaryAsideError):
            raise
        except PipelineError as error:
            retry_after_s = error.retry_after_s if isinstance(error, EndpointUnavailableError) else None
            failure = SummaryFailure(type(error).__name__, str(error), retry_after_s)
            return Ending(SummaryStatus.FAILED, failure, self._meter)
        return Ending(SummaryStatus.DONE, None, self._meter, self._citation)

    async def _note_cost(self) -> None:
        """Stores what this run has cost so far, so that the totals outlive it."""
        if self._meter is not None:
            summary_id, usage = self.job.summary_id, self._meter.usage
            if self._spending and self._spending.usage.calls > usage.calls:  # with calls that were paid for in vain
                usage = self._spending.usage
            await self.job.store.run_costs.note(summary_id, self.lease.holder, usage, self._meter.elapsed_s)

    async def _end(self, ending: Ending) -> SummaryResult:
        await self._note_cost()
        summary = await self.job.store.find(self.job.summary_id) or self.summary
        result = await Assembler(self.job.store, summary, self.job.config).assemble(ending)
        is_kept = ending.status is not SummaryStatus.CANCELLED
        kept, flaw_count = (RESULT.dump_json(result).decode(), result.flaw_count) if is_kept else (None, None)
        await self.job.store.leases.release(self.lease, ending.status, kept, flaw_count=flaw_count, ends_job=True)
        if ending.status is SummaryStatus.DONE:
            with storage_errors():
                await self._delete_checkpoints()  # nobody goes on from here
        self.channel.offer(Finished(result))
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
        plan = await self._plan()
        config: RunnableConfig = {
            "configurable": {"thread_id": self.job.summary_id},
            "recursion_limit": plan.supersteps,
            "run_name": "summarize",
        }
        await self._adopt(plan)
        done = await self.job.store.call_count(self.job.summary_id)
        await self._open_budget()
        meter = self._meter = Meter(plan, calls_done=done, calls_total=plan.calls(), calls_reused=done)
        terms = BatchTerms(plan.batches)
        citing = Citing(self._cite)
        run = Run(self.job, plan, meter, terms, self.channel, citing, self.calls)
        reading = asyncio.create_task(terms.read_ahead(self.job.off_loop))
        try:
            await self._drive(run, config)
            self._citation = await citing.of(
                await Assembler(self.job.store, self.summary, self.job.config).finished_text()
            )
        finally:
            terms.stop()
            reading.cancel()
            await asyncio.gather(reading, citing.stop(), return_exceptions=True)

    async def _open_budget(self) -> None:
        """Has the calls of this task taken out of the summary's budget, with what earlier runs took."""
        job, budget = self.job, self.summary.request.budget
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

    async def _drive(self, run: Run, config: RunnableConfig) -> None:
        """Runs the graph from its last checkpoint, or from the beginning."""
        plan, meter = run.plan, run.meter
        with storage_errors():
            snapshot = await self.graph.aget_state(config)
            # Not `snapshot.next`: that is empty too when all tasks of a step are done and the step itself is not.
            begins = not snapshot.values and not snapshot.tasks
            if begins or snapshot.tasks:
                start = SummaryState(iteration=0, level=0, best_iteration=0) if begins else None
                meter.iteration = max(1, snapshot.values.get("iteration", 1))
                meter.calls_total = max(plan.calls(meter.iteration), meter.calls_done)
                self.channel.offer(Planned(plan, meter.progress()))
                async for event in self.graph.astream(
                    start, config, context=run, stream_mode="custom", durability="async"
                ):
                    self.channel.offer(event)  # type: ignore[arg-type]  # nodes send events only

    async def _plan(self) -> SummaryPlan:
        """Plans with the batches that the summary has already, else with those of earlier summaries."""
        job, before = self.job, self.summary.plan
        planner = Planner(job.document, job.writer, job.config, job.options)
        lengths = before.batch_lengths if before else None
        return await plan_incrementally(planner, job.call_scope, lengths, store=job.store, off_loop=job.off_loop)

    async def _adopt(self, plan: SummaryPlan) -> None:
        """Remembers the plan. A resumed summary whose plan has changed begins again; equal calls are reused."""
        calls, each = plan.calls(), plan.calls(2) - plan.calls()
        record = PlanRecord(
            _plan_key(plan), calls, each, plan.input_tokens, len(plan.batches), batch_lengths=plan.batch_lengths
        )
        before, writer = self.summary.request.writer, self.job.writer.identity
        if self.summary.plan is not None and before != writer:
            await self._warn(WarningCode.WRITER_CHANGED, f"begun by {before}, resumed by {writer}")
        if self.summary.plan is not None and self.summary.plan.plan_key == record.plan_key:
            return
        if self.summary.plan is not None:
            with storage_errors():
                await self._delete_checkpoints()
        await self.job.store.set_plan(self.job.summary_id, record)
        if self.job.document.empty_chunk_count:
            message = f"{self.job.document.empty_chunk_count} chunks hold no text and were left out"
            await self._warn(WarningCode.EMPTY_CHUNKS, message)
        if plan.limits.shortfall:
            await self._warn(WarningCode.SMALL_CONTEXT, plan.limits.shortfall)

    async def _delete_checkpoints(self) -> None:
        checkpointer = self.graph.checkpointer
        if checkpointer is not None and not isinstance(checkpointer, bool):
            await checkpointer.adelete_thread(self.job.summary_id)

    async def _warn(self, code: WarningCode, message: str) -> None:
        await self.job.store.warn(self.job.summary_id, code, message)
        self.channel.offer(SummaryWarning(code, message))


def _plan_key(plan: SummaryPlan) -> str:
    digest = hashlib.sha256()
    for batch in plan.batches:
        digest.update(b"%d %d %d %d\n" % (*batch.chunk_indexes, len(batch.chunks), len(batch.chunks[0].text)))
    numbers = (plan.wave, plan.uses_source_context, plan.group_size, plan.max_iterations, plan.reduce_budget_tokens)
    digest.update(repr((*numbers, plan.shape)).encode())
    return digest.hexdigest()
