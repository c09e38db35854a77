"""Remembers in which traces a summary ran, so that the trace of a resumed one can point back."""

from pipeline.summarize.storage.database import Database, Statement

_MOST_LINKS = 16


class RunTraceTable:
    """The table `run_traces`. It has rows only for runs that were traced."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, summary_id: str, traceparent: str) -> None:
        """Stores the W3C traceparent of a run."""
        insert = Statement(
            "INSERT INTO run_traces VALUES (?, ?, NOW_S) ON CONFLICT DO NOTHING", (summary_id, traceparent)
        )
        await self._database.transact([insert])

    async def earlier(self, summary_id: str) -> list[str]:
        """Returns the traceparents of the last runs, the latest first."""
        select = Statement(
            "SELECT traceparent FROM run_traces WHERE summary_id = ? ORDER BY began_at DESC LIMIT ?",
            (summary_id, _MOST_LINKS),
        )
        return [str(traceparent) for (traceparent,) in await self._database.fetch(select)]
