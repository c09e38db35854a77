"""A server that kills itself: `python -m tests.unit.pipeline.summarize.killed_server PLACE LOG CALL WAVE`.

It writes every answer into LOG, and at the given call it is gone, as by kill -9.
"""

import asyncio
import dataclasses
import os
import signal
import sys
from pathlib import Path

from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.writer import ExtractTask, MergeTask
from tests.fakes_summarize import WIDE, ScriptedWriter, Task
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, summarizer_in

CHUNKS = 203


def describe(task: Task) -> str:
    """Names a task in one line."""
    if isinstance(task, ExtractTask):
        return f"map {task.batch_index}"
    if isinstance(task, MergeTask):
        return f"reduce {task.level}.{task.group_index}"
    return type(task).__name__


class LoggingWriter(ScriptedWriter):
    """Appends each task to a file when it is answered."""

    def __init__(self, log: Path, *, doomed: str, wave: int) -> None:
        super().__init__(dataclasses.replace(WIDE, concurrency=wave), identity=key_of(log))
        self._log = log
        self._doomed = doomed

    async def _work(self, task: Task) -> None:
        if describe(task) == self._doomed:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._is_beside_the_doomed(task):
            await asyncio.Event().wait()  # on its way when the server dies
        await super()._work(task)
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"{describe(task)}\n")

    def _is_beside_the_doomed(self, task: Task) -> bool:
        """Tells whether a call is made at the same time as the doomed one."""
        round_of = _round(describe(task), self.limits.concurrency)
        return round_of is not None and round_of == _round(self._doomed, self.limits.concurrency)


def _round(call: str, wave: int) -> tuple[str, int] | None:
    """Returns the stage and the wave of a call; None for a call that is made alone."""
    stage, _, number = call.partition(" ")
    if not number:
        return None
    level, _, position = number.rpartition(".")
    return f"{stage} {level}", int(position) // wave


def key_of(log: Path) -> str:
    """Names one test's summary in a database that tests share."""
    return str(log)[-100:]


async def main(place: Path | str, log: Path, doomed: str, wave: int) -> None:
    """Summarizes until the doomed call, or to the end if there is none."""
    async with summarizer_in(place) as summarizer:
        writer = LoggingWriter(log, doomed=doomed, wave=wave)
        options = SummarizeOptions(wave=wave)
        stream = summarizer.stream(
            numbered_document(CHUNKS), writer=writer, options=options, idempotency_key=key_of(log)
        )
        await read_all(stream)


if __name__ == "__main__":
    is_url = sys.argv[1].startswith("postgresql:")
    asyncio.run(main(sys.argv[1] if is_url else Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
