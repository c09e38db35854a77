"""The front door of summaries."""

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from enum import IntEnum
from functools import partial

from pipeline.errors import InvalidInputError
from pipeline.llm.chat_model import NO_USAGE
from pipeline.off_loop import OffLoop
from pipeline.summarize.config import StorageConfig, SummarizeConfig
from pipeline.summarize.document import Document, SummarizeOptions
from pipeline.summarize.errors import (
    IdempotencyConflictError,
    JobQueueFullError,
    SummaryAsideError,
    UnknownSummaryError,
)
from pipeline.summarize.events import Accepted, Event, EventChannel, Finished, Shown, SummaryObserver, TextDone
from pipeline.summarize.graph.run import TEXT, Run
from pipeline.summarize.plan import Planner, SummaryPlan, answer_scope, call_scope
from pipeline.summarize.result import SummaryView
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.storage.records import StoredSummary, SummaryPage, SummaryRequest, SummaryStatus
from pipeline.summarize.storage.schema import Database
from pipeline.summarize.storage.sqlite import SqliteDatabase
from pipeline.summarize.storage.store import SummaryStore, scoped
from pipeline.summarize.summary_run import Assembler, SummaryRun, stored_result
from pipeline.summarize.writer import Writer

_DEFAULT_OPTIONS = SummarizeOptions()
_NO_TEXTS = Shown()


class JobPriority(IntEnum):
    """Which jobs are taken first."""

    INTERACTIVE = 0
    BULK = 1


@asynccontextmanager
async def open_summarizer(
    config: SummarizeConfig,
    storage: StorageConfig,
    *,
    observer: SummaryObserver | None = None,
) -> AsyncIterator["Summarizer"]:
    """Opens the databases, makes the tables if need be, and deletes summaries that expired.

    Raises StorageError: the databases cannot be used.
    """
    async with AsyncExitStack() as stack:
        database: Database
        if storage.postgres_url:
            from pipeline.summarize.storage.postgres import PostgresDatabase  # noqa: PLC0415 - extra

            url = storage.postgres_url.get_secret_value()
            database = await stack.enter_async_context(PostgresDatabase(url, pool_size=storage.postgres_pool_size))
        else:
            database = await stack.enter_async_context(SqliteDatabase(storage.directory / "summaries.sqlite"))
        store = SummaryStore(database)
        await store.expire(timedelta(days=config.keep_days).total_seconds())
        executor = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="summarize"))
        yield Summarizer(config, store, executor, observer=observer or SummaryObserver())


class Summarizer:
    """Summarizes documents. One object serves all requests of a process.

    A running summary belongs to whoever reads its stream. When the reader leaves, all calls stop at once, and what is
    done is kept for `resume`. A submitted one has no reader: any server runs it, and leaving `watch` stops nothing.

    Attributes:
        owner: whose summaries it makes and finds; those of others do not exist for it, and nothing of them is used.
        budget: what it gives to summaries; None leaves them theirs.
        store: what it has stored.
        stopping: set once its runs are put aside.
    """

    def __init__(
        self,
        config: SummarizeConfig,
        store: SummaryStore,
        executor: ThreadPoolExecutor,
        *,
        observer: SummaryObserver,
    ) -> None:
        self.owner = ""
        self.budget: SummaryBudget | None = None
        self.config = config
        self.store = store
        self.stopping = asyncio.Event()
        self._off_loop = OffLoop(executor)
        self._observer = observer
        self._runs: dict[str, SummaryRun] = {}

    def owned_by(self, owner: str, budget: SummaryBudget | None = None) -> "Summarizer":
        """Returns this summarizer for another owner; what he begins or finds then has that budget, if there is one."""
        bound = copy.copy(self)
        bound.owner, bound.budget = owner, budget
        return bound

    async def plan(
        self, document: Document, *, writer: Writer, options: SummarizeOptions = _DEFAULT_OPTIONS
    ) -> SummaryPlan:
        """Returns what `stream` would do, without doing any of it."""
        planner = Planner(document, writer, self.config, options)
        scope = call_scope(answer_scope(self.owner, writer.identity), self.config, options)
        return await planner.plan_with_known(scope, store=self.store, off_loop=self._off_loop)

    def stream(
        self,
        document: Document,
        *,
        writer: Writer,
        options: SummarizeOptions = _DEFAULT_OPTIONS,
        idempotency_key: str | None = None,
        shown: Shown = _NO_TEXTS,
    ) -> AsyncGenerator[Event, None]:
        """Summarizes a document. Accepted comes first, Finished last; leave early to stop.

        An equal request that is done, or was sent with the same key, is answered with its result at once.

        Args:
            idempotency_key: sent again, it names the same summary, and resumes it if it is not done.

        Raises:
            IdempotencyConflictError: the key belongs to another request.
            SummaryRunningError: the summary of this key is running.
            SummaryAsideError, StorageError: the server stops; the database cannot be used.
        """
        accept = partial(self.accept, document, writer=writer, options=options, idempotency_key=idempotency_key)
        return self._follow(accept, document, writer, shown)

    async def accept(
        self, document: Document, *, writer: Writer, options: SummarizeOptions, idempotency_key: str | None
    ) -> StoredSummary:
        """Stores a request and does nothing yet. One that is done already comes with its result. See `stream`."""
        limit = self.config.limits.max_key_chars
        if idempotency_key and len(idempotency_key) > limit:
            raise InvalidInputError("idempotency_key", f"at most {limit} characters", str(len(idempotency_key)))
        if options.needs_check:  # refused before anything is stored
            await self.plan(document, writer=writer, options=options)
        request = SummaryRequest(
            document_id=document.document_id,
            document_name=document.name,
            total_pages=document.total_pages,
            empty_chunk_count=document.empty_chunk_count,
            options=options,
            writer=writer.identity,
            owner=self.owner,
        )
        request_key = request.key(document.sha256, self.config.result_settings())
        own_sha256 = scoped(document.sha256, self.owner)  # or the time to store it would tell what others have stored
        summary = await self.store.create(
            request, request_key=request_key, document_sha256=own_sha256, idempotency_key=idempotency_key or None
        )
        if summary.document_sha256 not in {own_sha256, document.sha256} or not request.asks_as(summary.request):
            raise IdempotencyConflictError(summary.summary_id)
        summary = await self.store.with_budget(summary, self.budget)
        # Behind the summary that needs it: a document that no summary needs goes when the next server starts.
        await self.store.save_document(summary.document_sha256, document.chunks, self.owner)
        if summary.status is not SummaryStatus.DONE and summary.plan is None:
            summary = await self._adopt_equal(summary)
        return summary

    def resume(self, summary_id: str, *, writer: Writer, shown: Shown = _NO_TEXTS) -> AsyncGenerator[Event, None]:
        """Goes on with a summary that failed, was cancelled or whose server was killed; no finished call is repeated.

        A summary that is done is answered with its result.

        Raises UnknownSummaryError: there is none; SummaryRunningError, SummaryAsideError, StorageError: see `stream`.
        """
        return self._follow(partial(self.find, summary_id), None, writer, shown)

    async def submit(
        self,
        document: Document,
        *,
        writer: Writer,
        options: SummarizeOptions,
        idempotency_key: str | None = None,
        priority: JobPriority = JobPriority.BULK,
    ) -> StoredSummary:
        """Queues a summary, which runs without a reader. Sent again with the same key, it queues it again.

        Raises IdempotencyConflictError: the key belongs to another request; JobQueueFullError: too many wait already.
        """
        summary = await self.accept(document, writer=writer, options=options, idempotency_key=idempotency_key)
        return await self._queue(summary, priority)

    async def submit_again(self, summary_id: str, *, priority: JobPriority = JobPriority.BULK) -> StoredSummary:
        """Queues a summary that failed or was cancelled: it goes on where it was.

        Raises UnknownSummaryError: there is none; JobQueueFullError: too many wait already.
        """
        return await self._queue(await self.find(summary_id), priority)

    async def _queue(self, summary: StoredSummary, priority: JobPriority) -> StoredSummary:
        if summary.status is not SummaryStatus.DONE:
            most = self.config.jobs.max_queued
            if not await self.store.jobs.add(summary.summary_id, priority=priority, most=most):
                raise JobQueueFullError(most)
        return await self.find(summary.summary_id)

    async def watch(self, summary_id: str, *, include_draft: bool = False) -> AsyncGenerator[Event, None]:
        """Tells how far a summary is, wherever it runs; leaving does not stop it. Finished comes last.

        Of a run in this process: what happened so far, then every event. Of one elsewhere only its end is seen, with
        the next heartbeat.

        Raises UnknownSummaryError: there is none; SummaryAsideError: this server stops.
        """
        await self.find(summary_id)
        yield Accepted(summary_id, is_resumed=True)
        while True:
            run = self._runs.get(summary_id)
            most = self.config.progress_events
            channel = run.context.channel.copy(most, include_draft=include_draft) if run else None
            while channel is not None and (event := await channel.take()) is not None:
                yield event
                if isinstance(event, Finished):
                    return
            if self.stopping.is_set():
                raise SummaryAsideError(summary_id)
            summary = await self.find(summary_id)
            if not summary.is_leased and not await self.store.jobs.holds(summary_id):
                yield Finished((await self.get(summary_id)).result)
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(self.config.heartbeat_s):
                    await self.stopping.wait()

    async def page(self, page_size: int, page_token: str) -> SummaryPage:
        """Returns summaries, the newest first. Raises InvalidInputError for a token that no page gave."""
        return await self.store.page(self.owner, page_size, page_token)

    async def delete(self, summary_id: str) -> None:
        """Deletes a summary that does not run, and what only it needed of texts, answers and documents.

        Raises UnknownSummaryError: there is none; SummaryRunningError: it is running: cancel it first.
        """
        await self.find(summary_id)
        lease = await self.store.leases.acquire(summary_id, self.config.lease_ttl_s)
        try:
            await self.store.delete(summary_id)
        finally:
            await self.store.leases.release(lease, SummaryStatus.CANCELLED, None)

    async def get(self, summary_id: str) -> SummaryView:
        """Returns where a summary stands, and what it has so far. Raises UnknownSummaryError: there is none."""
        summary = await self.find(summary_id)
        result, assembler = stored_result(summary), Assembler(self.store, summary, self.config)
        if result is None:  # of no run that ended by itself: a lease that is taken forgets the last one's
            result = await assembler.assemble(summary.status)
        result = replace(result, intermediate_summaries=await assembler.intermediate_summaries(result.iteration))
        return SummaryView(summary_id, summary.status, summary.is_leased, result)

    async def cancel(self, summary_id: str) -> None:
        """Stops a summary wherever it runs; another server sees it with its next heartbeat. It can be resumed.

        Raises UnknownSummaryError: there is none.
        """
        await self.find(summary_id)
        await self.store.jobs.remove(summary_id)
        await self.store.leases.request_cancel(summary_id)
        if run := self._runs.get(summary_id):
            run.stop.set()

    def put_aside(self) -> None:
        """Ends all runs, and those that begin later, once the calls on their way are done. They can be resumed."""
        self.stopping.set()
        for run in self._runs.values():
            run.put_aside()

    async def _follow(
        self, get: Callable[[], Awaitable[StoredSummary]], document: Document | None, writer: Writer, shown: Shown
    ) -> AsyncGenerator[Event, None]:
        summary = await get()
        is_resumed, done = document is None or summary.plan is not None, stored_result(summary)
        if done is not None and summary.status is SummaryStatus.DONE:
            self._observer.answered_from_store()
            yield Accepted(summary.summary_id, is_resumed=True)
            # It cost nothing this time.
            yield Finished(replace(done, calls_reused=done.calls_done, usage=NO_USAGE, elapsed_s=0.0))
            return
        document = document or await self.store.document_of(summary)
        lease = await self.store.leases.acquire(summary.summary_id, self.config.lease_ttl_s)
        limit = None if shown.include_text else self.config.progress_events
        channel = EventChannel(limit, include_draft=shown.include_draft)
        context = Run(summary, document, writer, self.store, self.config, self._observer, self._off_loop, channel)
        run = SummaryRun(context, lease, is_resumed)
        self._runs[summary.summary_id] = run
        if self.stopping.is_set():
            run.put_aside()
        task = asyncio.create_task(run.work(), name=f"summary-{summary.summary_id}")
        try:
            yield Accepted(summary.summary_id, is_resumed)
            while (event := await channel.take()) is not None:
                yield await self._with_text(event) if shown.include_text else event
            await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if self._runs.get(summary.summary_id) is run:  # else somebody resumed it once this run's lease was free
                del self._runs[summary.summary_id]
            await run.give_up()

    async def _with_text(self, event: Event) -> Event:
        if not isinstance(event, TextDone):
            return event
        body = await self.store.result(event.result_key)
        return replace(event, text=TEXT.validate_json(body).written.text if body else None)

    async def _adopt_equal(self, summary: StoredSummary) -> StoredSummary:
        """Copies to a new summary the result of an equal one that is done, if there is one."""
        equal = await self.store.find_done(summary.request_key)
        result = stored_result(equal) if equal else None
        if equal is None or result is None:
            return summary
        lease = await self.store.leases.acquire(summary.summary_id, self.config.lease_ttl_s)
        await self.store.leases.release(lease, SummaryStatus.DONE, equal.result, flaw_count=result.flaw_count)
        return await self.find(summary.summary_id)

    async def find(self, summary_id: str) -> StoredSummary:
        """Returns a summary of the owner, with the budget that it has from now on. Raises UnknownSummaryError."""
        summary = await self.store.find(summary_id)
        if summary is None or summary.request.owner != self.owner:
            raise UnknownSummaryError(summary_id)
        return await self.store.with_budget(summary, self.budget)
