"""Texts that do not fit: groups shrink, texts are compressed, none is skipped, and nothing goes on for ever."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import ContextOverflowError
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.events import Planned
from pipeline.summarize.packing import Packer
from pipeline.summarize.result import SummaryResult, WarningCode
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import ExtractTask, MergeStage, MergeTask, WriterLimits, Written
from tests.fakes_summarize import WIDE, ScriptedWriter
from tests.unit.pipeline.summarize.documents import events_of, full_plan, numbered_document, result_of, summary_of

NARROW = dataclasses.replace(
    WIDE,
    prompt_budget_tokens=400,
    context_limit_tokens=100,
    model_context_tokens=900,
    output_tokens=200,
    overhead_tokens=50,
)  # a merge reads 900 - 200 - 50 - 50 (critique) = 600 tokens: three answers of full length
BUDGET = 600


class Verbose(ScriptedWriter):
    """Writes texts of given lengths in tokens.

    Args:
        lengths: of extractions, by batch.
        shrink: by what a compression shortens its text.
    """

    def __init__(self, lengths: list[int], *, limits: WriterLimits = NARROW, shrink: float = 0.5) -> None:
        super().__init__(limits)
        self._lengths = lengths
        self._shrink = shrink

    async def extract(self, task: ExtractTask) -> Written:
        await super().extract(task)
        return _text(f"Batch {task.batch_index}", self._lengths[task.batch_index])

    async def merge(self, task: MergeTask) -> Written:
        await super().merge(task)
        name = f"{task.stage.value} {task.level} {task.group_index} {task.extractions[0].chunk_indexes[0]}"
        if task.stage is MergeStage.COMPRESS:
            return _text(name, int(self.count_tokens(task.extractions[0].text) * self._shrink))
        return _text(name, min(task.target_tokens, 150))


def _text(name: str, tokens: int) -> Written:
    words = f"{name} word"
    while len(words) < 4 * tokens:
        words += f" w{len(words)}"
    return Written(words[: max(4 * tokens, 1)], "stop", LlmUsage(1, 1, 1))


async def reduce(tmp_path: Path, writer: Verbose, batches: int) -> list[MergeTask]:
    result = await summary_of(tmp_path, numbered_document(batches), writer, options=SummarizeOptions(batch_size=1))
    assert result.status is SummaryStatus.DONE
    return [task for task in writer.asked if isinstance(task, MergeTask)]


async def test_groups_shrink_to_what_fits_but_not_below_two_and_totals_follow(tmp_path: Path) -> None:
    writer = Verbose([200] * 9)
    events = await events_of(tmp_path, numbered_document(9), writer, options=SummarizeOptions(batch_size=1))
    result, planned = result_of(events), next(event for event in events if isinstance(event, Planned))
    assert not planned.plan.is_exact
    assert result.status is SummaryStatus.DONE
    assert result.calls_done == result.calls_planned == len(writer.asked)
    merges = [task for task in writer.asked if isinstance(task, MergeTask)]
    assert [len(task.extractions) for task in merges if task.level == 1] == [3, 3, 3]
    for task in merges:
        assert sum(writer.count_tokens(one.text) for one in task.extractions) <= BUDGET


async def test_texts_that_do_not_fit_in_twos_are_compressed_first(tmp_path: Path) -> None:
    writer = Verbose([500, 500, 100, 100])
    merges = await reduce(tmp_path, writer, 4)
    compressed = [task for task in merges if task.stage is MergeStage.COMPRESS]
    assert [task.extractions[0].chunk_indexes for task in compressed] == [(0, 0), (1, 1)]
    assert all(task.target_tokens <= 200 for task in compressed)
    for task in merges:
        assert sum(writer.count_tokens(one.text) for one in task.extractions) <= BUDGET


async def test_a_text_longer_than_a_prompt_is_compressed_in_parts(tmp_path: Path) -> None:
    writer = Verbose([2_000, 100], shrink=0.2)
    merges = await reduce(tmp_path, writer, 2)
    parts = [task.extractions[0].text for task in merges if task.stage is MergeStage.COMPRESS and task.level == 1]
    assert "".join(parts).startswith(_text("Batch 0", 2_000).text)


@pytest.mark.parametrize("shrink", [1.0, 1.5, 0.999])
async def test_what_a_model_does_not_shorten_is_chosen_from_the_text_with_a_warning(
    tmp_path: Path, shrink: float
) -> None:
    document, options = numbered_document(4), SummarizeOptions(batch_size=1)
    result = await summary_of(tmp_path, document, Verbose([500] * 4, shrink=shrink), options=options)
    assert result.status is SummaryStatus.DONE
    assert any("repaired" in one.message or "were chosen" in one.message for one in result.warnings)


async def test_an_answer_that_stays_cut_is_reported(tmp_path: Path) -> None:
    class Cut(ScriptedWriter):
        async def extract(self, task: ExtractTask) -> Written:
            return dataclasses.replace(await super().extract(task), finish_reason="length")

    result = await summary_of(tmp_path, numbered_document(3), Cut())
    assert [warning.code for warning in result.warnings] == [WarningCode.ANSWER_CUT]


@given(st.lists(st.integers(0, 900), min_size=1, max_size=40), st.integers(2, 6), st.integers(2, 900))
def test_groups_hold_every_text_once_and_always_come_to_an_end(sizes: list[int], group_size: int, budget: int) -> None:
    groups = list(Packer(sizes, group_size, budget, least=2).cuts())
    assert [index for group in groups for index in group] == list(range(len(sizes)))
    assert all(2 <= len(group) <= group_size for group in groups[:-1])
    assert all(sum(sizes[index] for index in group) <= budget for group in groups if len(group) > 2)
    assert len(groups) < len(sizes) or len(sizes) == 1


@settings(max_examples=25)
@given(
    st.integers(1, 60), st.integers(1, 9), st.integers(2, 6), st.sampled_from([1, 3, 8, "all"]), st.integers(40, 4_000)
)
def test_calls_made_are_the_calls_planned_whenever_the_plan_is_exact(  # noqa: PLR0913, PLR0917 - one for each choice
    tmp_path_factory: pytest.TempPathFactory,
    chunk_count: int,
    batch_size: int,
    group_size: int,
    wave: object,
    budget: int,
) -> None:
    limits = dataclasses.replace(WIDE, prompt_budget_tokens=budget, context_limit_tokens=budget // 2)
    writer = ScriptedWriter(limits)
    document = numbered_document(chunk_count)
    choices = {"batch_size": batch_size, "reduce_group_size": group_size, "wave": wave}
    options = SummarizeOptions.model_validate(choices)
    plan = full_plan(document, writer, **choices)

    async def summarize() -> None:
        await events_of(tmp_path_factory.mktemp("plan"), document, writer, options=options)

    asyncio.run(summarize())
    assert plan.is_exact
    assert len(writer.asked) == plan.calls()
    for task in writer.asked:
        if isinstance(task, ExtractTask):
            tokens = sum(map(writer.count_tokens, [chunk.text for chunk in task.chunks] + list(task.context)))
            assert tokens <= budget or len(task.chunks) == 1


class Narrower(ScriptedWriter):
    """A model whose context is smaller than its settings say.

    Args:
        most_chars: of all texts of a prompt together.
        shrink: by what a compression shortens its text.
    """

    def __init__(self, most_chars: int, shrink: float = 0.5) -> None:
        super().__init__(dataclasses.replace(WIDE, concurrency=2))
        self._most_chars = most_chars
        self._shrink = shrink
        self.extracted: list[str] = []

    async def extract(self, task: ExtractTask) -> Written:
        texts = [chunk.text for chunk in task.chunks]
        self._check([*texts, *task.context])
        await super().extract(task)
        self.extracted += texts
        return Written(" ".join(texts), "stop", LlmUsage(1, 1, 1))

    async def merge(self, task: MergeTask) -> Written:
        texts = [extraction.text for extraction in task.extractions]
        self._check(texts)
        await super().merge(task)
        text = " ".join(texts)
        if task.stage is MergeStage.COMPRESS:
            text = text[: int(len(text) * self._shrink)] or "."
        return Written(text, "stop", LlmUsage(1, 1, 1))

    def _check(self, texts: list[str]) -> None:
        if sum(map(len, texts)) > self._most_chars:
            raise ContextOverflowError("too long")


async def summarize(tmp_path: Path, writer: ScriptedWriter, chunk_count: int = 30, text: str = "") -> SummaryResult:
    document = numbered_document(chunk_count, text=text)
    return await summary_of(tmp_path, document, writer, options=SummarizeOptions(wave=2))


@pytest.mark.parametrize("most_chars", [400, 200, 90])
async def test_every_chunk_is_extracted_however_little_fits(tmp_path: Path, most_chars: int) -> None:
    writer = Narrower(most_chars)
    result = await summarize(tmp_path, writer, text="These are some more words of it.")
    assert result.status is SummaryStatus.DONE
    assert result.usage.calls == len(writer.answered)
    everything = " ".join(writer.extracted).split()
    expected = " ".join(chunk.text for chunk in numbered_document(30, text="These are some more words of it.").chunks)
    assert sorted(everything) == sorted(expected.split())


async def test_a_chunk_that_does_not_fit_is_cut(tmp_path: Path) -> None:
    writer, text = Narrower(300), "Many words stand here. " * 40
    result = await summarize(tmp_path, writer, 1, text=text)
    assert result.status is SummaryStatus.DONE
    assert " ".join(writer.extracted).split() == numbered_document(1, text=text).chunks[0].text.split()


async def test_a_model_that_holds_nothing_is_a_clear_error(tmp_path: Path) -> None:
    result = await summarize(tmp_path, Narrower(0))
    assert result.failure
    assert (result.status, result.failure.kind) == (SummaryStatus.FAILED, "ContextOverflowError")


async def test_a_merge_that_cannot_be_shortened_is_chosen_from_its_texts_with_a_warning(tmp_path: Path) -> None:
    result = await summarize(tmp_path, Narrower(300, shrink=1.0))
    assert result.status is SummaryStatus.DONE
    assert [one.place for one in result.warnings if "an answer without information" in one.message]
