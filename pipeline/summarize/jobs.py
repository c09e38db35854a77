"""The worker of the job queue: runs submitted summaries, those of servers that ended too.

A row in the database does not die with its server, and any server with the same database may take it. The row is
deleted in the transaction that stores the end of the run: two transactions would lose jobs or run them twice.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, aclosing, nullcontext, suppress
from functools import partial
from typing import Self

from pipeline.summarize.errors import StorageError, SummaryAsideError, SummaryRunningError, UnknownSummaryError
from pipeline.summarize.storage.leases import QueuedJob
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.summarizer import Summarizer
from pipeline.summarize.writer import Writer

_log = logging.getLogger(__name__)


class JobRunner:
    """Takes jobs in the order of `JobTable.next`, so many at once as settings say. Enter it to start, leave it to stop.

    Leave it after the summarizer was told to put its runs aside: the calls on their way are then done and stored.
    Each run has a frame for its owner, which `on_behalf` makes.
    """

    def __init__(
        self,
        summarizer: Summarizer,
        writer: Writer,
        on_behalf: Callable[[str], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._on_behalf = on_behalf
        self._summarizer = summarizer
        self._writer = writer
        self._jobs = summarizer.store.jobs
        self._config = summarizer.config.jobs
        self._running: dict[str, asyncio.Task[None]] = {}
        self._work: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._work = asyncio.create_task(self._take_jobs(), name="summary-jobs")
        return self

    async def __aexit__(self, *error: object) -> None:
        tasks = [*filter(None, [self._work]), *self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def drain(self, grace_s: float, cut_short: asyncio.Event) -> None:
        """Waits for the runs that were put aside, so long at most, or until it is cut short."""
        cut = asyncio.create_task(cut_short.wait())
        ended = asyncio.gather(*self._running.values(), return_exceptions=True)
        await asyncio.wait((cut, ended), timeout=grace_s, return_when=asyncio.FIRST_COMPLETED)
        cut.cancel()

    async def _take_jobs(self) -> None:
        while not self._summarizer.stopping.is_set():
            self._jobs.added.clear()
            try:
                await self._fill()
            except StorageError as error:
                _log.warning("event=jobs_not_read error=%r", str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._config.poll_s):
                    await self._jobs.added.wait()

    async def _fill(self) -> None:
        if len(self._running) >= self._config.concurrency:
            return
        for job in await self._jobs.next():
            if len(self._running) >= self._config.concurrency or self._summarizer.stopping.is_set():
                return
            if job.summary_id not in self._running:
                task = asyncio.create_task(self._run(job), name=f"job-{job.summary_id}")
                self._running[job.summary_id] = task
                task.add_done_callback(partial(self._forget, job.summary_id))

    def _forget(self, summary_id: str, _: asyncio.Task[None]) -> None:
        del self._running[summary_id]
        self._jobs.added.set()  # there is room for another

    async def _run(self, job: QueuedJob) -> None:
        """Runs a job to its end, or leaves it in the queue."""
        summary_id, summarizer, attempt = job.summary_id, self._summarizer.owned_by(job.owner), 0
        try:
            attempt = await self._jobs.begin(summary_id)
            if attempt > self._config.max_attempts:
                await self._give_up(summary_id)
            elif attempt:
                with self._on_behalf(job.owner):
                    async with aclosing(summarizer.resume(summary_id, writer=self._writer)) as events:
                        async for _ in events:
                            pass
                await self._jobs.remove_done(summary_id)
        except SummaryRunningError:
            await self._jobs.leave(summary_id)  # another server was faster
        except UnknownSummaryError:
            await self._jobs.remove(summary_id)
        except SummaryAsideError:
            await self._jobs.put_back(summary_id)
        except Exception:  # noqa: BLE001 - whatever it was, other jobs go on, and this one is tried again
            _log.exception("event=job_broke_off summary_id=%s attempt=%d", summary_id, attempt)

    async def _give_up(self, summary_id: str) -> None:
        """Fails a summary whose runs break off again and again; it can be submitted again."""
        leases = self._summarizer.store.leases
        lease = await leases.acquire(summary_id, self._summarizer.config.lease_ttl_s)
        await leases.release(lease, SummaryStatus.FAILED, None, ends_job=True)
        _log.warning("event=job_given_up summary_id=%s", summary_id)
