"""Leases and jobs: which server runs which summary, at most one at a time, and which wait without a reader?"""

import asyncio
import logging
from dataclasses import dataclass
from uuid import uuid4

from pipeline.summarize.errors import LeaseLostError, StorageError, SummaryRunningError, UnknownSummaryError
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.storage.schema import Database, Statement

_log = logging.getLogger(__name__)

# The result of an earlier run goes: it would be shown, and be too old, if this run leaves none.
_TAKE = """
    UPDATE summaries SET lease_owner = ?, lease_expires_at = NOW_S + ?, status = ?, result = NULL, flaw_count = NULL,
    cancel_requested = 0, updated_at = NOW_S
    WHERE summary_id = ? AND COALESCE(lease_owner, '') = ? AND lease_expires_at = ?"""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run a summary until it ends or is not renewed in time."""

    summary_id: str
    holder: str  # this run; no two runs have the same name, not even in one process


class LeaseTable:
    """The lease columns of the table `summaries`. Times are the database's.

    Its clock may leap, and then leases of living runs seem to be over. So a lease is taken from a living server only
    after it was over and was not renewed while another server looked.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acquire(self, summary_id: str, ttl_s: float) -> Lease:
        """Takes a summary that nobody runs, or whose server has ended; of one that is stuck after a third of `ttl_s`.

        Raises SummaryRunningError: a living server runs it; UnknownSummaryError: there is none.
        """
        lease = Lease(summary_id, f"{self._database.owner}:{uuid4().hex}")
        self._database.held_leases.add(lease.holder)
        taking = asyncio.ensure_future(self._acquire(lease, ttl_s))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(lease, taking))  # a second cancel must not leave the lease
            raise
        except BaseException:
            self._database.held_leases.discard(lease.holder)
            raise

    async def renew(self, lease: Lease, ttl_s: float) -> bool:
        """Keeps a lease. Returns True if somebody asked to cancel the summary.

        Raises LeaseLostError: another server has it.
        """
        rows = await self._database.fetch(
            "UPDATE summaries SET lease_expires_at = NOW_S + ?, updated_at = NOW_S "
            "WHERE summary_id = ? AND lease_owner = ? RETURNING cancel_requested",
            *(ttl_s, lease.summary_id, lease.holder),
        )
        if not rows:
            raise LeaseLostError(lease.summary_id)
        return bool(rows[0][0])

    async def release(
        self,
        lease: Lease,
        status: SummaryStatus,
        result: str | None,
        *,
        flaw_count: int | None = None,
        ends_job: bool = False,
    ) -> None:
        """Ends a run and stores how; with it the job that it was, unless another server should go on with that.

        Does nothing if the lease is lost.

        Args:
            flaw_count: of the result; None if nothing checked it.
        """
        self._database.held_leases.discard(lease.holder)
        mine = (lease.summary_id, lease.holder)
        end_job = Statement(
            "DELETE FROM jobs WHERE summary_id = "
            "(SELECT summary_id FROM summaries WHERE summary_id = ? AND lease_owner = ?)",
            mine,
        )
        release = Statement(
            "UPDATE summaries SET lease_owner = NULL, lease_expires_at = 0, status = ?, result = ?, flaw_count = ?, "
            "updated_at = NOW_S WHERE summary_id = ? AND lease_owner = ?",
            (status, result, flaw_count, *mine),
        )
        await self._database.transact([end_job, release] if ends_job else [release])

    async def request_cancel(self, summary_id: str) -> None:
        """Asks whoever runs a summary to stop; a summary that nobody runs is cancelled at once."""
        await self._database.transact(
            [
                Statement("UPDATE summaries SET cancel_requested = 1 WHERE summary_id = ?", (summary_id,)),
                Statement(
                    "UPDATE summaries SET status = ?, updated_at = NOW_S "
                    "WHERE summary_id = ? AND lease_expires_at < NOW_S AND status <> ?",
                    (SummaryStatus.CANCELLED, summary_id, SummaryStatus.DONE),
                ),
            ]
        )

    async def _acquire(self, lease: Lease, ttl_s: float) -> Lease:
        summary_id = lease.summary_id
        rows = await self._database.fetch(
            "SELECT lease_owner, lease_expires_at, lease_expires_at - NOW_S FROM summaries WHERE summary_id = ?",
            summary_id,
        )
        if not rows:
            raise UnknownSummaryError(summary_id)
        holder, expires_at, seconds_left = rows[0]
        is_free = holder is None or await self._has_ended(holder)
        if not is_free and seconds_left < 0 and holder not in self._database.held_leases:
            await asyncio.sleep(ttl_s / 3)  # a lease lasts for three renewals at least, see SummarizeConfig
            is_free = True  # unless it was renewed
        row = (lease.holder, ttl_s, SummaryStatus.RUNNING, summary_id, holder or "", expires_at)
        if not is_free or await self._database.transact([Statement(_TAKE, row)]) != [1]:
            raise SummaryRunningError(summary_id, max(0.0, seconds_left))
        return lease

    async def _has_ended(self, holder: str) -> bool:
        """Tells whether the run that holds a lease is known to be over."""
        owner = holder.partition(":")[0]
        if owner == self._database.owner:
            return holder not in self._database.held_leases
        return await self._database.is_gone(owner)

    async def _give_back(self, lease: Lease, taking: asyncio.Future[Lease]) -> None:
        """Releases a lease that nobody waits for any more: the database takes it all the same, see Database."""
        try:
            await taking
            await self.release(lease, SummaryStatus.CANCELLED, None)
        except StorageError as error:
            _log.warning("cannot give back the lease of summary_id=%s: %s", lease.summary_id, error)
        except (SummaryRunningError, UnknownSummaryError):
            pass  # it was not taken
        finally:
            self._database.held_leases.discard(lease.holder)


_ADD = """
    INSERT INTO jobs (summary_id, owner, priority, submitted_at)
    SELECT summary_id, owner, ?, NOW_S FROM summaries
    WHERE summary_id = ? AND (SELECT COUNT(*) FROM jobs)
        + (SELECT COUNT(*) FROM jobs WHERE owner <> '' AND jobs.owner = summaries.owner) < ?
    ON CONFLICT (summary_id) DO UPDATE SET priority = excluded.priority"""
_QUEUED = "UPDATE summaries SET status = ?, updated_at = NOW_S WHERE summary_id = ? AND lease_expires_at < NOW_S"
# Owners take turns: an owner's job that is the second of his, those that run included, comes after the first of others.
_NEXT = """
    SELECT summary_id, owner, lease_owner, is_free FROM (
        SELECT jobs.summary_id, jobs.owner, lease_owner, lease_expires_at < NOW_S AS is_free, priority, submitted_at,
            ROW_NUMBER() OVER (
                PARTITION BY jobs.owner ORDER BY lease_expires_at < NOW_S, priority, submitted_at
            ) AS turn
        FROM jobs JOIN summaries ON summaries.summary_id = jobs.summary_id
    ) AS turns WHERE {which} ORDER BY turn, priority, submitted_at LIMIT 64"""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A summary that a server should run."""

    summary_id: str
    owner: str


class JobTable:
    """The table `jobs`. A row stays until the summary has ended, whoever runs it, so that it outlives servers.

    Attributes:
        added: set when this process has added a job.
    """

    def __init__(self, database: Database) -> None:
        self.added = asyncio.Event()
        self._database = database

    async def add(self, summary_id: str, *, priority: int, most: int) -> bool:
        """Queues a summary. Returns False if so many are queued or running that there is no place.

        An owner may have as many as are free, so that there is always room for another; those without owner are one.
        """
        if not await self._change(_ADD, priority, summary_id, most) and not await self.holds(summary_id):
            return False
        await self._change(_QUEUED, SummaryStatus.QUEUED, summary_id)
        self.added.set()
        return True

    async def holds(self, summary_id: str) -> bool:
        """Tells whether a summary is queued, or runs without a reader."""
        return bool(await self._database.fetch("SELECT 1 FROM jobs WHERE summary_id = ?", summary_id))

    async def next(self) -> list[QueuedJob]:
        """Returns jobs that nobody runs, or whose server has ended: the first to take comes first.

        Owners take turns; the turns of one, and of equal turns the first, go by priority, then by age.
        """
        jobs: list[QueuedJob] = []
        gone: dict[str, bool] = {}
        for which in ("is_free", "NOT is_free"):
            for summary_id, owner, holder, is_free in await self._database.fetch(_NEXT.format(which=which)):
                server = str(holder).partition(":")[0]
                if not is_free and server not in gone:
                    gone[server] = server != self._database.owner and await self._database.is_gone(server)
                if is_free or gone[server]:
                    jobs.append(QueuedJob(summary_id, owner))
        return jobs

    async def begin(self, summary_id: str) -> int:
        """Counts an attempt. Returns how many there were, this one included; 0 if the job is no longer queued."""
        rows = await self._database.fetch(
            "UPDATE jobs SET attempts = attempts + 1 WHERE summary_id = ? RETURNING attempts", summary_id
        )
        return int(rows[0][0]) if rows else 0

    async def leave(self, summary_id: str) -> None:
        """Takes back an attempt at a job that another server runs."""
        await self._change("UPDATE jobs SET attempts = attempts - 1 WHERE summary_id = ? AND attempts > 0", summary_id)

    async def put_back(self, summary_id: str) -> None:
        """Leaves a job to another server, or to this one after its restart."""
        await self._change("UPDATE jobs SET attempts = 0 WHERE summary_id = ?", summary_id)
        await self._change(_QUEUED, SummaryStatus.QUEUED, summary_id)

    async def remove(self, summary_id: str) -> None:
        """Forgets a job: it has ended."""
        await self._change("DELETE FROM jobs WHERE summary_id = ?", summary_id)

    async def remove_done(self, summary_id: str) -> None:
        """Forgets a job whose summary was done before it was taken."""
        done = "(SELECT summary_id FROM summaries WHERE summary_id = ? AND status = ?)"
        await self._change(f"DELETE FROM jobs WHERE summary_id = {done}", summary_id, SummaryStatus.DONE)  # noqa: S608

    async def _change(self, sql: str, *values: str | int) -> int:
        """Returns the number of rows that changed."""
        return (await self._database.transact([Statement(sql, values)]))[0]
