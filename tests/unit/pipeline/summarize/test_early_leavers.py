"""Readers who leave before the run of their summary has done anything: its lease is free at once."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.summarize.events import Accepted
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.storage.schema import Statement
from pipeline.summarize.summarizer import Summarizer
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in

DOCUMENT = numbered_document(29)
ALL_IDS = Statement("SELECT summary_id FROM summaries")


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


async def test_the_one_who_left_at_the_first_event_may_come_back(tmp_path: Path) -> None:
    async with summarizer_in(tmp_path, lease_ttl_s=60) as summarizer:
        for _ in range(3):  # refused as running, if one of them left the lease behind
            events = summarizer.stream(DOCUMENT, writer=ScriptedWriter(), idempotency_key="k")
            assert isinstance(await anext(events), Accepted)
            await events.aclose()
        again = summarizer.stream(DOCUMENT, writer=ScriptedWriter(), idempotency_key="k")
        assert result_of(await read_all(again)).status is SummaryStatus.DONE


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
        database = summarizer._store.leases._database  # noqa: SLF001
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
