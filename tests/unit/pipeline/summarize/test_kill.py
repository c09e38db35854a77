"""kill -9 in the middle of map, reduce, reflect and topics, in a real process."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

import pytest

from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.errors import SummaryRunningError
from pipeline.summarize.storage.records import SummaryStatus
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.killed_server import CHUNKS, LoggingWriter, key_of

ROOT = Path(__file__).resolve().parents[4]
CALLS = 41


@pytest.mark.parametrize("wave", [1, 4])
@pytest.mark.parametrize("doomed", ["map 0", "map 14", "reduce 1.3", "reduce 3.0", "CritiqueTask", "TopicsTask"])
async def test_a_killed_summary_goes_on_at_once_where_it_was(tmp_path: Path, doomed: str, wave: int) -> None:
    await kill_and_go_on(tmp_path, tmp_path, doomed, wave)


@pytest.mark.parametrize("doomed", ["map 14", "reduce 1.3"])
async def test_a_killed_summary_in_postgres_goes_on_from_another_server(
    tmp_path: Path, postgres_url: str, doomed: str
) -> None:
    await kill_and_go_on(tmp_path, postgres_url, doomed, 4)


async def kill_and_go_on(folder: Path, place: Path | str, doomed: str, wave: int) -> None:
    """Kills a server at a call, then summarizes to the end in this process."""
    log = folder / "answers.log"
    log.touch()
    arguments = ["-m", "tests.unit.pipeline.summarize.killed_server", str(place), str(log), doomed, str(wave)]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
    assert await process.wait() == -signal.SIGKILL
    finished = log.read_text(encoding="utf-8").splitlines()
    writer = LoggingWriter(log, doomed="", wave=wave)
    async with summarizer_in(place, lease_ttl_s=3_600) as summarizer:  # the dead server's lease is not waited for
        result = None
        while result is None:
            stream = summarizer.stream(
                numbered_document(CHUNKS),
                writer=writer,
                options=SummarizeOptions(wave=wave),
                idempotency_key=key_of(log),
            )
            with contextlib.suppress(SummaryRunningError):  # until the database has noticed that its client is dead
                result = result_of(await read_all(stream))
    answers = log.read_text(encoding="utf-8").splitlines()
    assert result.status is SummaryStatus.DONE
    assert answers[: len(finished)] == finished
    assert len(answers) == len(set(answers)) == CALLS
