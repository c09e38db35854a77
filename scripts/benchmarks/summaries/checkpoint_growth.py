"""How many bytes of checkpoints a summary leaves, counted before its end, when they are deleted."""

import asyncio
import sqlite3
from contextlib import aclosing, closing
from pathlib import Path

from pipeline.summarize.document import Document
from pipeline.summarize.writer import (
    Critique,
    CritiqueTask,
    ExtractTask,
    MergeTask,
    TopicList,
    TopicsTask,
    Writer,
    WriterLimits,
    Written,
)
from scripts.benchmarks.summaries.bench import SummaryBench

CHECKPOINTS = "checkpoints.sqlite"
BYTES = """
    SELECT (SELECT COALESCE(SUM(LENGTH(checkpoint) + LENGTH(metadata)), 0) FROM checkpoints)
         + (SELECT COALESCE(SUM(LENGTH(value)), 0) FROM writes)"""


class StopsBeforeTopics:
    """A writer that never answers the last call of a summary.

    Attributes:
        reached: set when that call is made: everything before it is done.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.reached = asyncio.Event()

    @property
    def identity(self) -> str:
        """Of the writer behind."""
        return self._writer.identity

    @property
    def limits(self) -> WriterLimits:
        """Of the writer behind."""
        return self._writer.limits

    def count_tokens(self, text: str) -> int:
        """See Writer."""
        return self._writer.count_tokens(text)

    async def extract(self, task: ExtractTask) -> Written:
        """See Writer."""
        return await self._writer.extract(task)

    async def merge(self, task: MergeTask) -> Written:
        """See Writer."""
        return await self._writer.merge(task)

    async def critique(self, task: CritiqueTask) -> Critique:
        """See Writer."""
        return await self._writer.critique(task)

    async def topics(self, task: TopicsTask) -> TopicList:
        """Waits to be cancelled."""
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError(task)


async def checkpoint_bytes(bench: SummaryBench, document: Document) -> int:
    """Summarizes a document up to its last call and returns the bytes of its checkpoints; the bench must be new."""
    writer = StopsBeforeTopics(bench.writer)

    async def read() -> None:
        async with aclosing(bench.summarizer.stream(document, writer=writer)) as events:
            async for _ in events:
                pass

    reading = asyncio.create_task(read())
    reached = asyncio.create_task(writer.reached.wait())
    await asyncio.wait({reading, reached}, return_when=asyncio.FIRST_COMPLETED)
    reading.cancel()
    reached.cancel()
    outcomes = await asyncio.gather(reading, reached, return_exceptions=True)
    if not writer.reached.is_set():
        raise RuntimeError(f"a summary ended before its topics: {outcomes[0]!r}")
    return stored_bytes(bench.folder / CHECKPOINTS)


def stored_bytes(path: Path) -> int:
    """Adds up what a file of checkpoints holds, without SQLite's own pages."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (count,) = connection.execute(BYTES).fetchone()
    return int(count)
