"""A server that stops: calls on their way are finished and kept, none begins."""

import asyncio
from pathlib import Path

import pytest

from pipeline.summarize.errors import SummaryAsideError
from pipeline.summarize.events import Accepted
from pipeline.summarize.storage.records import SummaryStatus
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in

DOCUMENT = numbered_document(203)


async def test_calls_on_their_way_are_kept_and_no_other_begins(tmp_path: Path) -> None:
    is_full = asyncio.Event()

    def note(_: object) -> None:
        if writer.in_flight == writer.limits.concurrency:
            is_full.set()

    writer = ScriptedWriter(before=note)
    writer.gate = asyncio.Event()
    async with summarizer_in(tmp_path) as summarizer:
        events = summarizer.stream(DOCUMENT, writer=writer)
        accepted = await anext(events)
        assert isinstance(accepted, Accepted)
        reading = asyncio.create_task(read_all(events))
        await is_full.wait()
        summarizer.put_aside()
        writer.gate.set()
        with pytest.raises(SummaryAsideError):
            await reading
        assert len(writer.asked) == len(writer.answered) == writer.limits.concurrency
        assert (await summarizer.get(accepted.summary_id)).status is SummaryStatus.CANCELLED
    async with summarizer_in(tmp_path) as summarizer:
        result = result_of(await read_all(summarizer.resume(accepted.summary_id, writer=writer)))
    assert result.status is SummaryStatus.DONE
    assert len(writer.asked) == result.calls_done == result.calls_planned


async def test_a_summary_that_begins_while_the_server_stops_makes_no_call(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        summarizer.put_aside()
        with pytest.raises(SummaryAsideError):
            await read_all(summarizer.stream(DOCUMENT, writer=writer))
    assert writer.asked == []
