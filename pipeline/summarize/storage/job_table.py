"""Stores which summaries run without a reader, in the order in which servers take them."""

import asyncio
from dataclasses import dataclass

from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.storage.schema import Database, Statement

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
        add = Statement(_ADD, (priority, summary_id, most))
        counts = await self._database.transact([add])
        if not counts[0] and not await self.holds(summary_id):
            return False
        await self._database.transact([Statement(_QUEUED, (SummaryStatus.QUEUED, summary_id))])
        self.added.set()
        return True

    async def holds(self, summary_id: str) -> bool:
        """Tells whether a summary is queued, or runs without a reader."""
        rows = await self._database.fetch(Statement("SELECT 1 FROM jobs WHERE summary_id = ?", (summary_id,)))
        return bool(rows)

    async def next(self) -> list[QueuedJob]:
        """Returns jobs that nobody runs, or whose server has ended: the first to take comes first.

        Owners take turns; the turns of one, and of equal turns the first, go by priority, then by age.
        """
        jobs: list[QueuedJob] = []
        gone: dict[str, bool] = {}
        for which in ("is_free", "NOT is_free"):
            rows = await self._database.fetch(Statement(_NEXT.format(which=which)))
            for summary_id, owner, holder, is_free in rows:
                server = str(holder).partition(":")[0]
                if not is_free and server not in gone:
                    gone[server] = server != self._database.owner and await self._database.is_gone(server)
                if is_free or gone[server]:
                    jobs.append(QueuedJob(summary_id, owner))
        return jobs

    async def begin(self, summary_id: str) -> int:
        """Counts an attempt. Returns how many there were, this one included; 0 if the job is no longer queued."""
        rows = await self._database.fetch(
            Statement("UPDATE jobs SET attempts = attempts + 1 WHERE summary_id = ? RETURNING attempts", (summary_id,))
        )
        return int(rows[0][0]) if rows else 0

    async def leave(self, summary_id: str) -> None:
        """Takes back an attempt at a job that another server runs."""
        left = Statement("UPDATE jobs SET attempts = attempts - 1 WHERE summary_id = ? AND attempts > 0", (summary_id,))
        await self._database.transact([left])

    async def put_back(self, summary_id: str) -> None:
        """Leaves a job to another server, or to this one after its restart."""
        await self._database.transact(
            [
                Statement("UPDATE jobs SET attempts = 0 WHERE summary_id = ?", (summary_id,)),
                Statement(_QUEUED, (SummaryStatus.QUEUED, summary_id)),
            ]
        )

    async def remove(self, summary_id: str) -> None:
        """Forgets a job: it has ended."""
        await self._database.transact([Statement("DELETE FROM jobs WHERE summary_id = ?", (summary_id,))])

    async def remove_done(self, summary_id: str) -> None:
        """Forgets a job whose summary was done before it was taken."""
        done = "SELECT summary_id FROM summaries WHERE summary_id = ? AND status = ?"
        statement = Statement(f"DELETE FROM jobs WHERE summary_id = ({done})", (summary_id, SummaryStatus.DONE))  # noqa: S608
        await self._database.transact([statement])
