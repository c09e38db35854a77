"""What changes when a document does: its own calls and the merges above."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions, make_document
from pipeline.summarize.events import Planned
from pipeline.summarize.packing import Packer, begin_keys
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import ExtractTask, MergeTask, Written
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import LIMITS, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.test_durability import FAILURES, EndpointDown

TEXTS = [f"Pump P-{index} runs at {index} bar." for index in range(1_403)]


def document_of(texts: Sequence[str], *, name: str = "manual", chunks_per_page: int = 4) -> Document:
    chunks = [SourceChunk(index, index // chunks_per_page + 1, text) for index, text in enumerate(texts)]
    return make_document(name, name, chunks, limits=LIMITS)


class ContentWriter(ScriptedWriter):
    """Answers by the texts alone, wherever they stand."""

    async def extract(self, task: ExtractTask) -> Written:
        written = await super().extract(task)
        return replace(written, text=_named("Part", [chunk.text for chunk in task.chunks]))

    async def merge(self, task: MergeTask) -> Written:
        written = await super().merge(task)
        return replace(written, text=_named("Merged", [one.text for one in task.extractions]))


def _named(what: str, texts: Sequence[str]) -> str:
    return f"{what} {sha256('|'.join(texts).encode()).hexdigest()}"


async def calls_after(place: Path | str, before: Document, after: Document) -> int:
    """Summarizes a document, then another; returns the calls of the second."""
    writer = ContentWriter()
    async with summarizer_in(place) as summarizer:
        await read_all(summarizer.stream(before, writer=writer))
        asked = len(writer.asked)
        result = result_of(await read_all(summarizer.stream(after, writer=writer)))
    assert result.status is SummaryStatus.DONE
    calls = len(writer.asked) - asked
    if calls:
        assert result.calls_done == result.calls_planned == calls + result.calls_reused
    assert result.document_name == after.name
    return calls


NEW = "A new paragraph: the motor draws 5 A."
EDITS = {
    **{
        f"inserted at {place}": ([*TEXTS[:place], NEW, *TEXTS[place:]], 10)
        for place in (0, 1, 700, 703, 706, 1_399, 1_402)
    },
    "appended": ([*TEXTS, NEW], 6),
    "taken out": (TEXTS[:700] + TEXTS[701:], 10),
}


@pytest.mark.parametrize(("after", "most_calls"), EDITS.values(), ids=EDITS)
async def test_an_edited_paragraph_takes_few_calls_wherever_it_is(
    tmp_path: Path, after: list[str], most_calls: int
) -> None:
    assert await calls_after(tmp_path, document_of(TEXTS), document_of(after)) <= most_calls


async def test_an_insertion_takes_ten_calls_at_most_in_postgres(postgres_url: str) -> None:
    texts = [f"Postgres: {text}" for text in TEXTS]
    after = [*texts[:700], "A new paragraph: the motor draws 6 A.", *texts[700:]]
    assert await calls_after(postgres_url, document_of(texts), document_of(after)) <= 10


@pytest.mark.parametrize("change", [{"name": "renamed"}, {"chunks_per_page": 3}])
async def test_a_renamed_document_and_one_of_other_pages_take_no_call(tmp_path: Path, change: dict[str, Any]) -> None:
    assert await calls_after(tmp_path, document_of(TEXTS[:60]), document_of(TEXTS[:60], **change)) == 0


async def test_a_chapter_that_is_rewritten_takes_its_own_calls_and_the_merges_above(tmp_path: Path) -> None:
    chapter = [f"Rewritten: {text}" for text in TEXTS[490:560]]  # 10 batches of 201
    after = [*TEXTS[:490], *chapter, *TEXTS[560:]]
    merges = 4 + 2 + 1 + 1  # at most, of the levels
    assert await calls_after(tmp_path, document_of(TEXTS), document_of(after)) <= 10 + 1 + merges + 2


async def test_many_edits_do_not_leave_small_batches_behind(tmp_path: Path) -> None:
    writer = ContentWriter()
    texts = TEXTS[:70]
    async with summarizer_in(tmp_path) as summarizer:
        for edit in range(12):
            await read_all(summarizer.stream(document_of(texts), writer=writer))
            texts = [*texts[:30], f"Edit {edit} changes the setting to {edit} bar.", *texts[30:]]
        plan = await summarizer.plan(document_of(texts), writer=writer)
    assert plan.map_calls <= 2 * 82 / 7


async def test_a_plan_that_takes_batches_over_says_that_it_is_no_exact_count(tmp_path: Path) -> None:
    writer = ContentWriter()
    async with summarizer_in(tmp_path) as summarizer:
        before = await summarizer.plan(document_of(TEXTS[:70]), writer=writer)
        await read_all(summarizer.stream(document_of(TEXTS[:70]), writer=writer))
        after = await summarizer.plan(document_of(["New: 5 A.", *TEXTS[:70]]), writer=writer)
    assert (before.is_exact, after.is_exact) == (True, False)


async def test_a_summary_keeps_its_batches_whatever_is_summarized_meanwhile(tmp_path: Path) -> None:
    down = EndpointDown(FAILURES["last batch"])
    writer = ContentWriter(before=down)
    document = document_of(TEXTS[:210])
    async with summarizer_in(tmp_path) as summarizer:
        partial = result_of(await read_all(summarizer.stream(document, writer=writer)))
        down.is_mended = True
        await read_all(summarizer.stream(document_of(["New: 5 A.", *TEXTS[3:210]]), writer=writer))
        asked = len(writer.asked)
        events = await read_all(summarizer.resume(partial.summary_id, writer=writer))
    planned = next(event for event in events if isinstance(event, Planned))
    assert planned.progress.calls_done == partial.calls_done
    assert len(writer.asked) - asked == result_of(events).calls_done - result_of(events).calls_reused


async def test_other_batch_sizes_are_not_mixed_with_those_of_before(tmp_path: Path) -> None:
    writer = ContentWriter()
    document = document_of(TEXTS[:70])
    async with summarizer_in(tmp_path) as summarizer:
        await read_all(summarizer.stream(document, writer=writer, options=SummarizeOptions(batch_size=3)))
        plan = await summarizer.plan(document, writer=writer)
    assert (plan.map_calls, plan.is_exact) == (10, True)


@given(st.lists(st.sampled_from("abcd"), max_size=60), st.lists(st.sampled_from("abcd"), min_size=1, max_size=60))
def test_a_row_is_cut_without_gaps_whatever_is_known(texts: list[str], earlier: list[str]) -> None:
    keys = begin_keys("", [text.encode() for text in texts])
    known = set(begin_keys("", [text.encode() for text in earlier])[::4])
    cuts = Packer([1] * len(texts), 4, 9, least=2).cuts_at(keys, known)
    assert [place for cut in cuts for place in cut] == list(range(len(texts)))
    assert all(cut for cut in cuts)
