"""What a summary tells beside its text: all runs together, where it stands, and the texts on the way to it."""

from pathlib import Path

from pipeline.summarize.citations.places import CitationSupport
from pipeline.summarize.events import BatchDone, GroupDone, Shown
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import ExtractTask, MergeTask
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.test_durability import EndpointDown

DOCUMENT = numbered_document(29)  # 5 batches, 2 merges


async def test_the_cost_of_all_runs_outlives_a_failure_and_the_cache(tmp_path: Path) -> None:
    down = EndpointDown(lambda task: isinstance(task, MergeTask))
    writer = ScriptedWriter(before=down)
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer)))
        down.is_mended = True
        whole = result_of(await read_all(summarizer.resume(partial.summary_id, writer=writer)))
        again = result_of(await read_all(summarizer.stream(DOCUMENT, writer=writer)))
    assert (partial.run_count, partial.total_usage) == (1, partial.usage)
    assert (whole.status, whole.run_count) == (SummaryStatus.DONE, 2)
    assert whole.total_usage == partial.usage + whole.usage
    assert whole.total_usage.calls == whole.calls_done == 9
    assert whole.total_elapsed_s > max(partial.elapsed_s, 0)
    assert (again.usage.calls, again.elapsed_s) == (0, 0)
    assert (again.total_usage, again.total_elapsed_s) == (whole.total_usage, whole.total_elapsed_s)


async def test_a_summary_says_at_which_batch_it_is(tmp_path: Path) -> None:
    down = EndpointDown(lambda task: isinstance(task, ExtractTask) and task.batch_index == 3)
    async with summarizer_in(tmp_path, wave=1) as summarizer:
        partial = result_of(await read_all(summarizer.stream(DOCUMENT, writer=ScriptedWriter(before=down))))
        view = await summarizer.get(partial.summary_id)
        done = result_of(await read_all(summarizer.resume(partial.summary_id, writer=ScriptedWriter())))
    assert (partial.current_batch, view.result.current_batch, partial.batch_count) == (3, 3, 5)
    assert (done.current_batch, done.batch_count) == (5, 5)


async def test_the_texts_on_the_way_are_in_the_events_and_in_the_view(tmp_path: Path) -> None:
    async with summarizer_in(tmp_path) as summarizer:
        events = await read_all(summarizer.stream(DOCUMENT, writer=ScriptedWriter(), shown=Shown(include_text=True)))
        view = await summarizer.get(result_of(events).summary_id)
    batches = {event.batch_index: event.text for event in events if isinstance(event, BatchDone)}
    groups = {(event.level, event.group_index): event.text for event in events if isinstance(event, GroupDone)}
    shown = {(one.level, one.index): one.text for one in view.result.intermediate_summaries}
    assert shown == {**{(0, index): text for index, text in batches.items()}, **groups}
    assert len(shown) == 7
    assert result_of(events).intermediate_summaries == ()


async def test_a_finished_summary_is_cited_and_a_partial_one_is_not(tmp_path: Path) -> None:
    down = EndpointDown(lambda _: True)
    async with summarizer_in(tmp_path) as summarizer:
        done = result_of(await read_all(summarizer.stream(numbered_document(1), writer=ScriptedWriter())))
        partial = result_of(await read_all(summarizer.stream(DOCUMENT, writer=ScriptedWriter(before=down))))
    (citation,) = done.citation.cited
    assert done.text[citation.start : citation.end] == "Batch 0 keeps Pump P-0 runs at 0 bar."
    assert citation.support is CitationSupport.UNREAD
    assert [(place.chunk_index, place.page_number) for place in citation.places] == [(0, 1)]
    assert partial.citation.cited == ()
