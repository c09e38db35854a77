"""What is finished stays finished: failures, readers that leave, killed servers, second servers."""

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import pytest

from pipeline.llm.errors import EndpointUnavailableError
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.errors import SummaryRunningError
from pipeline.summarize.events import Accepted, BatchDone, Event, Finished, GroupDone, Planned
from pipeline.summarize.result import WarningCode
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.summarizer import Summarizer
from pipeline.summarize.writer import CriticVerdict, CritiqueTask, ExtractTask, MergeTask, TopicsTask, Writer
from tests.fakes_summarize import WIDE, ScriptedWriter, Task
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in, summary_of

DOCUMENT = numbered_document(203)
CALLS = 29 + (7 + 2 + 1) + 2  # 29 batches become 8 texts, one of them without a call, then 2, then 1


class EndpointDown:
    """Fails one call, every time until it is mended."""

    def __init__(self, is_the_one: Callable[[Task], bool]) -> None:
        self.is_mended = False
        self._is_the_one = is_the_one

    def __call__(self, task: Task) -> None:
        if not self.is_mended and self._is_the_one(task):
            raise EndpointUnavailableError("the endpoint is down: start it", retry_after_s=7.0)


FAILURES = {
    "first batch": lambda task: isinstance(task, ExtractTask) and task.batch_index == 0,
    "middle of a wave": lambda task: isinstance(task, ExtractTask) and task.batch_index == 12,
    "last batch": lambda task: isinstance(task, ExtractTask) and task.batch_index == 28,
    "first level": lambda task: isinstance(task, MergeTask) and task.group_index == 3,
    "final merge": lambda task: isinstance(task, MergeTask) and task.level == 3,
    "reflect": lambda task: isinstance(task, CritiqueTask),
    "topics": lambda task: isinstance(task, TopicsTask),
}


@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES.keys())
@pytest.mark.parametrize("wave", [1, 8, "all"])
async def test_a_failed_summary_is_resumed_without_repeating_a_finished_call(
    tmp_path: Path, failing: Callable[[Task], bool], wave: object
) -> None:
    down = EndpointDown(failing)
    writer = ScriptedWriter(before=down)
    options = SummarizeOptions.model_validate({"wave": wave})
    partial = await summary_of(tmp_path, DOCUMENT, writer, options=options)
    assert partial.status is SummaryStatus.FAILED
    assert partial.failure is not None
    assert (partial.failure.kind, partial.failure.retry_after_s) == ("EndpointUnavailableError", 7.0)
    assert "start it" in partial.failure.message
    assert partial.calls_done == len(writer.answered)
    down.is_mended = True
    async with summarizer_in(tmp_path) as summarizer:  # after a restart
        events = await read_all(summarizer.resume(partial.summary_id, writer=writer))
    whole = result_of(events)
    assert whole.status is SummaryStatus.DONE
    assert whole.calls_done == CALLS
    planned = next(event for event in events if isinstance(event, Planned))
    assert (planned.progress.calls_done, planned.progress.calls_total) == (partial.calls_done, CALLS)
    assert planned.progress.calls_reused == whole.calls_reused == partial.calls_done
    assert len(writer.answered) == len(set(writer.answered)) == CALLS


@pytest.mark.parametrize("failing", ["reflect", "topics"])
async def test_what_is_kept_whole_is_joined_without_a_call(tmp_path: Path, failing: str) -> None:
    down = EndpointDown(FAILURES[failing])
    writer = ScriptedWriter(before=down)
    writer.prefix = "# Seals\n\n"
    partial = await summary_of(tmp_path, numbered_document(63, text="A wet seal is dried. " * 20), writer)
    down.is_mended = True
    async with summarizer_in(tmp_path) as summarizer:
        whole = result_of(await read_all(summarizer.resume(partial.summary_id, writer=writer)))
    said = [part.split("keeps")[0].strip() for part in whole.text.split("# Seals\n\n")]
    assert said == ["", *(f"Batch {index}" for index in range(9))]
    assert (partial.text, whole.text.count("A wet seal is dried.")) == (whole.text, 1)
    assert whole.calls_done == whole.calls_planned == len(writer.answered) == 9 + 2
    assert [(one.stage, one.level) for one in whole.stages] == [("map", 0), ("join", 1)]
    assert whole.duplicate_count == 8


async def test_a_partial_result_holds_what_was_extracted_in_order(tmp_path: Path) -> None:
    writer = ScriptedWriter(before=EndpointDown(FAILURES["middle of a wave"]))
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer)))
        view = await summarizer.get(partial.summary_id)
    batches = [int(line.split()[1]) for line in partial.text.splitlines() if line.startswith("Batch ")]
    answered = [task.batch_index for task in writer.answered if isinstance(task, ExtractTask)]
    assert batches == sorted(answered)
    assert set(range(12)) <= set(batches) <= set(range(16)) - {12}
    assert (view.status, view.result.text) == (SummaryStatus.FAILED, partial.text)
    assert partial.topics == ()


async def test_a_partial_result_after_a_level_holds_that_level(tmp_path: Path) -> None:
    writer = ScriptedWriter(before=EndpointDown(FAILURES["final merge"]))
    partial = await summary_of(tmp_path, DOCUMENT, writer)
    written = [line.split()[:4] for line in partial.text.split("\n\n")]
    assert written == [["Level", "2", "group", at] for at in "01"]


async def test_too_long_a_partial_text_is_cut_with_a_warning(tmp_path: Path) -> None:
    writer = ScriptedWriter(before=EndpointDown(FAILURES["last batch"]))
    partial = await summary_of(tmp_path, DOCUMENT, writer, partial_chars=200)
    assert WarningCode.TEXT_CUT in [warning.code for warning in partial.warnings]
    assert len(partial.text) < 300


async def test_a_failed_second_iteration_gives_the_first(tmp_path: Path) -> None:
    def second(task: Task) -> bool:
        return isinstance(task, MergeTask) and task.critique is not None

    down = EndpointDown(second)
    writer = ScriptedWriter(verdicts=(CriticVerdict.FAIL,), before=down)
    partial = await summary_of(tmp_path, DOCUMENT, writer)
    assert (partial.status, partial.iteration, partial.iterations) == (SummaryStatus.FAILED, 1, 2)
    assert partial.text.startswith("Level 3 group 0")
    assert WarningCode.ITERATION_FAILED in [warning.code for warning in partial.warnings]
    down.is_mended = True
    async with summarizer_in(tmp_path) as summarizer:
        events = await read_all(summarizer.resume(partial.summary_id, writer=writer))
    whole = result_of(events)
    assert (whole.status, whole.iterations, whole.calls_done) == (SummaryStatus.DONE, 2, 2 * CALLS - 1)
    assert len(writer.answered) == len(set(writer.answered)) == 2 * CALLS - 1
    (planned,) = (event for event in events if isinstance(event, Planned))
    assert (planned.progress.iteration, planned.progress.calls_total) == (2, 2 * CALLS - 1)


@pytest.mark.parametrize("calls", [0, 1, 5, 13, 28, 29, 30, 36, 38, 39])
async def test_a_reader_who_leaves_stops_all_calls_and_keeps_the_work(tmp_path: Path, calls: int) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        summary_id = await leave_after(summarizer, writer, calls)
        assert writer.in_flight == 0
        asked = len(writer.asked)
        view = await summarizer.get(summary_id)
        assert (view.status, view.is_running) == (SummaryStatus.CANCELLED, False)
        assert view.result.calls_done == len(writer.answered)
        assert len(writer.asked) == asked  # nothing goes on behind the reader's back
        whole = result_of(await read_all(summarizer.resume(summary_id, writer=writer)))
    assert whole.status is SummaryStatus.DONE
    assert len(writer.answered) == len(set(writer.answered)) == CALLS


async def leave_after(summarizer: Summarizer, writer: ScriptedWriter, calls: int) -> str:
    """Begins a summary, and leaves after so many calls while others are on their way. Returns its id."""
    gate = writer.gate = asyncio.Event()
    summary_id = ""

    def hold_after(task: Task) -> None:
        if len(writer.answered) >= calls:
            gate.clear()

    writer.before = hold_after
    gate.set()
    async with aclosing(summarizer.stream(DOCUMENT, writer=writer)) as events:
        async for event in events:
            if isinstance(event, Accepted):
                summary_id = event.summary_id
            if isinstance(event, Planned) and not calls:
                break
            if isinstance(event, BatchDone | GroupDone) and event.progress.calls_done >= calls:
                break
    writer.gate = writer.before = None
    return summary_id


async def test_a_reader_that_is_cancelled_stops_all_calls(tmp_path: Path) -> None:
    writer = ScriptedWriter(dataclasses.replace(WIDE, concurrency=8))
    writer.gate = asyncio.Event()  # never answers
    started = asyncio.Event()
    writer.before = lambda _: started.set()
    async with summarizer_in(tmp_path) as summarizer:
        reader = asyncio.create_task(read_all(summarizer.stream(DOCUMENT, writer=writer)))
        await started.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert writer.in_flight == 0
        assert len(writer.cancelled) == len(writer.asked) > 0


async def test_cancel_ends_the_stream_with_what_is_done(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        last: Event | None = None
        summary_id = ""
        async for event in summarizer.stream(DOCUMENT, writer=writer):
            last = event
            if isinstance(event, Accepted):
                summary_id = event.summary_id
            if isinstance(event, BatchDone) and writer.gate is None:
                writer.gate = asyncio.Event()  # all later calls hang
                await summarizer.cancel(summary_id)
        assert isinstance(last, Finished)
        assert last.result.status is SummaryStatus.CANCELLED
        assert last.result.text.startswith("Batch 0 keeps")
        assert writer.in_flight == 0
        writer.gate = None
        whole = result_of(await read_all(summarizer.resume(summary_id, writer=writer)))
    assert whole.calls_done == CALLS == len(set(writer.answered))


async def test_a_summary_is_cancelled_from_another_server(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    writer.gate = asyncio.Event()
    async with (
        summarizer_in(tmp_path, heartbeat_s=0.01, lease_ttl_s=60) as runs,
        summarizer_in(tmp_path) as other,
    ):
        last: Event | None = None
        summary_id = ""
        async for event in runs.stream(DOCUMENT, writer=writer):
            last = event
            if isinstance(event, Planned):
                await other.cancel(summary_id)
            if isinstance(event, Accepted):
                summary_id = event.summary_id
    assert isinstance(last, Finished)
    assert last.result.status is SummaryStatus.CANCELLED
    assert writer.in_flight == 0


async def test_two_servers_never_run_the_same_summary(tmp_path: Path) -> None:
    writer, second = ScriptedWriter(), ScriptedWriter()
    async with summarizer_in(tmp_path) as first_server, summarizer_in(tmp_path) as second_server:
        summary_id = ""
        async for event in first_server.stream(DOCUMENT, writer=writer, idempotency_key="k"):
            if isinstance(event, Accepted):
                summary_id = event.summary_id
                for attempt in (
                    second_server.resume(summary_id, writer=second),
                    first_server.resume(summary_id, writer=second),
                    second_server.stream(DOCUMENT, writer=second, idempotency_key="k"),
                ):
                    with pytest.raises(SummaryRunningError) as refusal:
                        await read_all(attempt)
                    assert 0 < refusal.value.retry_after_s <= 15
                assert (await second_server.get(summary_id)).is_running
        resumed = result_of(await read_all(second_server.resume(summary_id, writer=second)))
    assert not second.asked
    assert resumed.calls_reused == CALLS


async def test_another_writer_may_go_on_with_a_warning(tmp_path: Path) -> None:
    writer = ScriptedWriter(before=EndpointDown(FAILURES["final merge"]))
    other = ScriptedWriter(identity="another")
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer)))
        whole = result_of(await read_all(summarizer.resume(partial.summary_id, writer=other)))
    assert whole.status is SummaryStatus.DONE
    assert len(other.asked) == CALLS - len(writer.answered)
    assert WarningCode.WRITER_CHANGED in [warning.code for warning in whole.warnings]


async def test_a_writer_with_other_limits_begins_again(tmp_path: Path) -> None:
    writer = ScriptedWriter(before=EndpointDown(FAILURES["final merge"]))
    narrow = ScriptedWriter(dataclasses.replace(WIDE, prompt_budget_tokens=60, context_limit_tokens=30))
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer)))
        plan = await summarizer.plan(DOCUMENT, writer=narrow)
        whole = result_of(await read_all(summarizer.resume(partial.summary_id, writer=narrow)))
    assert plan.map_calls > 29
    assert whole.status is SummaryStatus.DONE
    assert whole.calls_done == plan.calls() == len(narrow.answered)


async def test_a_summary_resumed_while_its_last_run_still_ends_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, may_end = ScriptedWriter(), asyncio.Event()
    async with summarizer_in(tmp_path) as summarizer:
        leases = summarizer.store.leases
        release = leases.release

        async def release_and_linger(*arguments: Any) -> None:  # noqa: ANN401
            monkeypatch.undo()
            await release(*arguments)
            await may_end.wait()

        monkeypatch.setattr(leases, "release", release_and_linger)
        events = summarizer.stream(numbered_document(29), writer=writer)
        accepted = await anext(events)
        assert isinstance(accepted, Accepted)
        leaving = asyncio.create_task(events.aclose())
        resumed = await _resume_when_free(summarizer, accepted.summary_id, writer)
        may_end.set()
        await leaving
        result = result_of(await read_all(resumed))
    assert result.status is SummaryStatus.DONE


async def _resume_when_free(summarizer: Summarizer, summary_id: str, writer: Writer) -> AsyncGenerator[Event, None]:
    while True:
        events = summarizer.resume(summary_id, writer=writer)
        with suppress(SummaryRunningError):
            await anext(events)
            return events
