"""Whole summaries with a scripted writer: calls, order, waves, iterations."""

import dataclasses
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from pipeline.summarize.config import Wave
from pipeline.summarize.document import SourceChunk, SummarizeOptions, SummaryType, make_document
from pipeline.summarize.errors import IdempotencyConflictError, UnknownSummaryError
from pipeline.summarize.events import (
    Accepted,
    BatchDone,
    Finished,
    GroupDone,
    LayersFound,
    Planned,
    Reflected,
    TopicsFound,
)
from pipeline.summarize.result import SummaryWarning, WarningCode
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import CriticVerdict, CritiqueTask, ExtractTask, MergeStage, MergeTask, TopicsTask
from tests.fakes_summarize import WIDE, ScriptedWriter
from tests.unit.pipeline.summarize.documents import (
    LIMITS,
    events_of,
    numbered_document,
    read_all,
    result_of,
    summarizer_in,
    summary_of,
)

FAIL, PASS, UNPARSEABLE = CriticVerdict.FAIL, CriticVerdict.PASS, CriticVerdict.UNPARSEABLE


async def test_a_second_iteration_brings_1403_chunks_to_537_calls_and_a_text_of_four(tmp_path: Path) -> None:
    writer = ScriptedWriter(verdicts=(FAIL, PASS))
    events = await events_of(tmp_path, numbered_document(1403, text="A wet seal is dried."), writer)
    result = result_of(events)
    assert len(writer.asked) == result.calls_done == result.calls_planned == 537
    totals = [event.progress.calls_total for event in events if isinstance(event, BatchDone)]
    assert totals == [269] * 201 + [537] * 201
    parts = [part.split(" merges")[0] for part in result.text.split("\n\n")]
    assert parts == ["Level 3 group 0", "Level 3 group 1", "Level 3 group 2", "Level 2 group 12"]


async def test_a_summary_of_thousands_of_steps_is_not_stopped_by_langgraphs_limit(tmp_path: Path) -> None:
    writer = ScriptedWriter(verdicts=(FAIL,))
    options = SummarizeOptions(wave=1, batch_size=1, max_iterations=2)
    events = await events_of(tmp_path, numbered_document(450), writer, options=options)
    assert result_of(events).calls_done == len(writer.asked) == 2 * (450 + (113 + 28 + 7 + 2 + 1) + 1) + 1


async def test_events_come_in_the_order_of_the_work(tmp_path: Path) -> None:
    events = await events_of(tmp_path, numbered_document(60), ScriptedWriter())
    kinds = [kind for kind, _ in groupby(type(event) for event in events)]
    assert kinds == [Accepted, Planned, BatchDone, GroupDone, LayersFound, Reflected, TopicsFound, Finished]
    done = [event.progress.calls_done for event in events if isinstance(event, BatchDone | GroupDone | TopicsFound)]
    assert done[-1] == events[1].progress.calls_total  # type: ignore[union-attr]
    assert done == sorted(done)


async def test_texts_are_merged_in_the_order_of_the_document(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    await events_of(tmp_path, numbered_document(203), writer)
    merges = sorted(
        (task for task in writer.asked if isinstance(task, MergeTask)), key=lambda task: (task.level, task.group_index)
    )
    for level in {task.level for task in merges}:
        spans = [one.chunk_indexes for task in merges if task.level == level for one in task.extractions]
        assert [first for first, _ in spans] == sorted(first for first, _ in spans)
        assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))
    *_, last = merges
    assert last.stage is MergeStage.FINAL
    assert (last.extractions[0].chunk_indexes[0], last.extractions[-1].chunk_indexes[1]) == (0, 202)
    assert (last.extractions[0].pages[0], last.extractions[-1].pages[1]) == (1, 51)


@pytest.mark.parametrize("wave", [1, 2, 5, 8, "all"])
async def test_a_batch_sees_the_three_before_its_wave_or_without_waves_the_source_before_it(
    tmp_path: Path, wave: Wave
) -> None:
    writer, document = ScriptedWriter(), numbered_document(91)
    await events_of(tmp_path, document, writer, options=SummarizeOptions(wave=wave))
    for task in writer.asked:
        if isinstance(task, ExtractTask) and isinstance(wave, int):
            wave_start = task.batch_index - task.batch_index % wave
            seen = [int(text.split()[1]) for text in task.context]
            assert (seen, task.context_is_source) == (list(range(max(0, wave_start - 3), wave_start)), False)
        elif isinstance(task, ExtractTask):
            before = [document.chunks[7 * task.batch_index - 1].text.strip()] if task.batch_index else []
            assert (list(task.context), task.context_is_source) == (before, True)


async def test_a_wave_runs_at_once_and_no_more_than_the_writer_wants(tmp_path: Path) -> None:
    writer = ScriptedWriter(dataclasses.replace(WIDE, concurrency=5))
    await events_of(tmp_path, numbered_document(203), writer, options=SummarizeOptions(wave="all"))
    assert writer.most_in_flight == 5


async def test_a_critique_is_carried_into_every_prompt_of_the_next_iteration(tmp_path: Path) -> None:
    writer = ScriptedWriter(verdicts=(FAIL, PASS))
    result = await summary_of(tmp_path, numbered_document(60), writer)
    critiques = [task.critique for task in writer.asked if isinstance(task, ExtractTask | MergeTask)]
    half = len(critiques) // 2
    assert critiques == [None] * half + ["fail because of iteration 1"] * half
    assert (result.iteration, result.iterations, result.critic_verdict) == (2, 2, PASS)
    assert not result.warnings


async def test_at_the_limit_the_better_iteration_is_kept_with_a_warning(tmp_path: Path) -> None:
    def forget_terms_later(task: object) -> None:
        is_second = isinstance(task, ExtractTask | MergeTask) and task.critique is not None
        writer.prefix = "" if is_second else "P-1 P-2 P-3 P-4 "

    writer = ScriptedWriter(verdicts=(FAIL, FAIL), before=forget_terms_later)
    events = await events_of(tmp_path, numbered_document(60), writer)
    result = result_of(events)
    assert (result.iteration, result.iterations, result.critic_verdict) == (1, 2, FAIL)
    assert result.text.startswith("P-1 P-2")
    assert [warning.code for warning in result.warnings] == [WarningCode.CRITIC_NOT_CONTENT]
    assert WarningCode.CRITIC_NOT_CONTENT in [event.code for event in events if isinstance(event, SummaryWarning)]
    topics_task = next(task for task in writer.asked if isinstance(task, TopicsTask))
    assert topics_task.summary == result.text


async def test_an_answer_that_is_no_verdict_counts_as_fail_once(tmp_path: Path) -> None:
    writer = ScriptedWriter(verdicts=(UNPARSEABLE, UNPARSEABLE, PASS))
    options = SummarizeOptions(max_iterations=3)
    result = await summary_of(tmp_path, numbered_document(20), writer, options=options)
    assert (result.iterations, result.critic_verdict) == (2, UNPARSEABLE)
    codes = {warning.code for warning in result.warnings}
    assert codes == {WarningCode.CRITIC_NOT_CONTENT, WarningCode.CRITIC_NOT_UNDERSTOOD}


async def test_the_summary_type_reaches_every_prompt(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    options = SummarizeOptions(summary_type=SummaryType.OPERATOR)
    await events_of(tmp_path, numbered_document(20), writer, options=options)
    typed = [task for task in writer.asked if isinstance(task, ExtractTask | MergeTask | CritiqueTask)]
    assert {task.summary_type for task in typed} == {SummaryType.OPERATOR}


async def test_the_same_request_again_costs_nothing_and_equal_calls_of_another_neither(tmp_path: Path) -> None:
    writer, document = ScriptedWriter(), numbered_document(100)
    async with summarizer_in(tmp_path) as summarizer:
        first = result_of(await read_all(summarizer.stream(document, writer=writer)))
        asked = len(writer.asked)
        events = await read_all(summarizer.stream(document, writer=writer))
        options = SummarizeOptions(max_iterations=1)
        other = result_of(await read_all(summarizer.stream(document, writer=writer, options=options)))
    again = result_of(events)
    assert len(writer.asked) == asked
    assert [type(event) for event in events] == [Accepted, Finished]
    assert (again.text, again.topics, again.usage.calls) == (first.text, first.topics, 0)
    assert again.calls_reused == first.calls_done == other.calls_reused == other.calls_done == asked


async def test_an_idempotency_key_names_one_summary(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        first, again = [
            result_of(
                await read_all(summarizer.stream(numbered_document(20), writer=writer, idempotency_key="order-1"))
            )
            for _ in range(2)
        ]
        assert again.summary_id == first.summary_id
        with pytest.raises(IdempotencyConflictError) as conflict:
            await read_all(summarizer.stream(numbered_document(21), writer=writer, idempotency_key="order-1"))
    assert conflict.value.summary_id == first.summary_id


async def test_a_finished_summary_can_be_got_and_resumed(tmp_path: Path) -> None:
    writer = ScriptedWriter()
    async with summarizer_in(tmp_path) as summarizer:
        done = result_of(await read_all(summarizer.stream(numbered_document(20), writer=writer)))
        asked = len(writer.asked)
        view = await summarizer.get(done.summary_id)
        resumed = result_of(await read_all(summarizer.resume(done.summary_id, writer=writer)))
    got = dataclasses.replace(view.result, intermediate_summaries=())
    assert (view.status, view.is_running, got) == (SummaryStatus.DONE, False, done)
    assert resumed.text == done.text
    assert len(writer.asked) == asked


async def test_an_unknown_id_is_refused(tmp_path: Path) -> None:
    async with summarizer_in(tmp_path) as summarizer:
        for call in (summarizer.get("nobody"), summarizer.cancel("nobody")):
            with pytest.raises(UnknownSummaryError, match="nobody"):
                await call
        with pytest.raises(UnknownSummaryError):
            await read_all(summarizer.resume("nobody", writer=ScriptedWriter()))


async def test_empty_chunks_are_left_out_with_a_warning(tmp_path: Path) -> None:
    chunks = [SourceChunk(0, 1, "Text."), SourceChunk(1, 1, " \n"), SourceChunk(2, 1, "")]
    document = make_document("d", "", chunks, limits=LIMITS)
    result = await summary_of(tmp_path, document, ScriptedWriter())
    assert [warning.code for warning in result.warnings] == [WarningCode.EMPTY_CHUNKS]
