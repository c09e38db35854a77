"""Summaries without a reader: they are submitted, run by any server, watched, listed and deleted."""

import asyncio
from collections.abc import AsyncGenerator
from enum import IntEnum

from pipeline.summarize.document import Document, SummarizeOptions
from pipeline.summarize.errors import JobQueueFullError, SummaryAsideError
from pipeline.summarize.events import Accepted, Event, Finished
from pipeline.summarize.storage.records import StoredSummary, SummaryPage, SummaryStatus
from pipeline.summarize.summarizer import Summarizer
from pipeline.summarize.writer import Writer


class JobPriority(IntEnum):
    """Which jobs are taken first."""

    INTERACTIVE = 0
    BULK = 1


class SummaryJobs:
    """What callers do with summaries that run without them; all of it for the summarizer's owner."""

    def __init__(self, summarizer: Summarizer) -> None:
        self._summarizer = summarizer
        self._store = summarizer.store
        self._config = summarizer.config

    async def submit(
        self,
        document: Document,
        *,
        writer: Writer,
        options: SummarizeOptions,
        idempotency_key: str | None = None,
        priority: JobPriority = JobPriority.BULK,
    ) -> StoredSummary:
        """Queues a summary, unless an equal one is done. Sent again with the same key, it queues it again.

        Raises:
            IdempotencyConflictError: the key belongs to another request.
            JobQueueFullError: too many wait already.
        """
        summary = await self._summarizer.accept(
            document, writer=writer, options=options, idempotency_key=idempotency_key
        )
        return await self._queue(summary, priority)

    async def submit_again(self, summary_id: str, *, priority: JobPriority = JobPriority.BULK) -> StoredSummary:
        """Queues a summary that failed or was cancelled: it goes on where it was.

        Raises:
            UnknownSummaryError: there is none.
            JobQueueFullError: too many wait already.
        """
        return await self._queue(await self._summarizer.find(summary_id), priority)

    async def watch(self, summary_id: str, *, include_draft: bool = False) -> AsyncGenerator[Event, None]:
        """Tells how far a summary is, wherever it runs; leaving does not stop it. Finished comes last.

        Of a run in this process: what happened so far, then every event. Of one elsewhere only its end is seen, with
        the next heartbeat.

        Raises:
            UnknownSummaryError: there is none.
            SummaryAsideError: this server stops.
        """
        await self._summarizer.find(summary_id)
        yield Accepted(summary_id, is_resumed=True)
        while True:
            channel = self._summarizer.watch(summary_id, include_draft=include_draft)
            while channel is not None and (event := await channel.take()) is not None:
                yield event
                if isinstance(event, Finished):
                    return
            if self._summarizer.stopping.is_set():
                raise SummaryAsideError(summary_id)
            summary = await self._summarizer.find(summary_id)
            if not summary.is_leased and not await self._store.jobs.holds(summary_id):
                yield Finished((await self._summarizer.get(summary_id)).result)
                return
            await self._pause()

    async def page(self, page_size: int, page_token: str) -> SummaryPage:
        """Returns summaries, the newest first. Raises InvalidInputError for a token that no page gave."""
        return await self._store.page(self._summarizer.owner, page_size, page_token)

    async def delete(self, summary_id: str) -> None:
        """Deletes a summary that does not run, and what only it needed of texts, answers and documents.

        Raises:
            UnknownSummaryError: there is none.
            SummaryRunningError: it is running: cancel it first.
        """
        await self._summarizer.find(summary_id)
        lease = await self._store.leases.acquire(summary_id, self._config.lease_ttl_s)
        try:
            await self._store.delete(summary_id)
            await self._summarizer.forget_checkpoints(summary_id)
        finally:
            await self._store.leases.release(lease, SummaryStatus.CANCELLED, None)

    async def _queue(self, summary: StoredSummary, priority: JobPriority) -> StoredSummary:
        if summary.status is not SummaryStatus.DONE:
            most = self._config.jobs.max_queued
            if not await self._store.jobs.add(summary.summary_id, priority=priority, most=most):
                raise JobQueueFullError(most)
        return await self._summarizer.find(summary.summary_id)

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._config.heartbeat_s):
                await self._summarizer.stopping.wait()
        except TimeoutError:
            pass
