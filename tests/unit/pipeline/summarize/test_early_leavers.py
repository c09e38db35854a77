"""Readers who leave early, and a server that stops: what is on its way is kept, and nothing else begins."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from pipeline.summarize.errors import SummaryAsideError
from pipeline.summarize.events import Accepted, GroupDone
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.summarizer import Summarizer
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.test_durability import FAILURES, EndpointDown

DOCUMENT, LONG = numbered_document(29), numbered_document(203)
ALL_IDS = "SELECT summary_id FROM summaries"


async def check_is_free(summarizer: Summarizer, summary_id: str, place: Path) -> None:
    """Nobody holds the summary: not for those who ask, not for another server."""
    view = await summarizer.get(summary_id)
    assert (view.status, view.is_running) == (SummaryStatus.CANCELLED, False)
    async with summarizer_in(place, lease_ttl_s=60) as other:
        resumed = result_of(await read_all(other.resume(summary_id, writer=ScriptedWriter())))
    assert resumed.status is SummaryStatus.DONE


async def test_a_reader_who_leaves_at_the_first_event_frees_the_summary(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path, lease_ttl_s=60) as summarizer:
        events = summarizer.stream(DOCUMENT, writer=writer)
        accepted = await anext(events)
        await events.aclose()  # nothing else has had a turn since: the run's task has not taken a step
        assert isinstance(accepted, Accepted)
        await check_is_free(summarizer, accepted.summary_id, tmp_path)
    assert writer.asked == []


async def test_a_reader_who_leaves_while_the_lease_is_taken_frees_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, gate = asyncio.Event(), asyncio.Event()

    def slow(transact: Callable[..., Any]) -> Callable[..., Any]:
        async def slowly(statements: Any) -> Any:  # noqa: ANN401
            done = await transact(statements)
            if "SET lease_owner = ?" in statements[0].sql:
                reached.set()
                await gate.wait()
            return done

        return slowly

    async with summarizer_in(tmp_path, lease_ttl_s=60) as summarizer:
        database = summarizer.store.leases._database  # noqa: SLF001
        monkeypatch.setattr(database, "transact", slow(database.transact))
        reading = asyncio.create_task(read_all(summarizer.stream(DOCUMENT, writer=ScriptedWriter())))
        await reached.wait()
        reading.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await reading
        monkeypatch.undo()
        rows = await database.fetch(ALL_IDS)
        await check_is_free(summarizer, str(rows[0][0]), tmp_path)


async def test_a_reader_who_leaves_a_resumed_summary_finds_all_that_is_done(tmp_path: Path) -> None:
    down = EndpointDown(FAILURES["middle of a wave"])
    writer = ScriptedWriter(before=down)
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(LONG, writer=writer)))
        down.is_mended = True
        async with aclosing(summarizer.resume(partial.summary_id, writer=writer)) as events:
            async for event in events:
                if isinstance(event, GroupDone):
                    break
        view = await summarizer.get(partial.summary_id)
    assert (view.status, view.result.status, view.result.failure) == (*2 * [SummaryStatus.CANCELLED], None)
    assert view.result.calls_done == len(writer.answered) > partial.calls_done


async def test_a_killed_resume_does_not_show_the_failure_before_it(tmp_path: Path) -> None:
    writer = ScriptedWriter(before=EndpointDown(FAILURES["middle of a wave"]))
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(LONG, writer=writer)))
        await summarizer.store.leases.acquire(partial.summary_id, ttl_s=0.0)  # and never given back
        view = await summarizer.get(partial.summary_id)
    assert (view.status, view.result.status, view.result.failure) == (*2 * [SummaryStatus.RUNNING], None)
    assert view.result.calls_done == partial.calls_done


async def test_calls_on_their_way_are_kept_and_no_other_begins(tmp_path: Path) -> None:
    is_full = asyncio.Event()

    def note(_: object) -> None:
        if writer.in_flight == writer.limits.concurrency:
            is_full.set()

    writer = ScriptedWriter(before=note)
    writer.gate = asyncio.Event()
    async with summarizer_in(tmp_path) as summarizer:
        events = summarizer.stream(LONG, writer=writer)
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
            await read_all(summarizer.stream(LONG, writer=writer))
    assert writer.asked == []
