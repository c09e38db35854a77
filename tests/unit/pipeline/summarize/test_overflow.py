"""The endpoint has the last word on what fits, and no text is skipped."""

import dataclasses
from pathlib import Path

import pytest

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import ContextOverflowError
from pipeline.summarize.document import SummarizeOptions
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import ExtractTask, MergeStage, MergeTask, Written
from tests.fakes_summarize import WIDE, ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, summary_of


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
    writer = Narrower(300)
    result = await summarize(tmp_path, writer, 1, text="Many words stand here. " * 40)
    assert result.status is SummaryStatus.DONE
    assert (
        " ".join(writer.extracted).split()
        == numbered_document(1, text="Many words stand here. " * 40).chunks[0].text.split()
    )


@pytest.mark.parametrize(
    ("writer", "kind"), [(Narrower(0), "ContextOverflowError"), (Narrower(300, shrink=1.0), "StalledReductionError")]
)
async def test_a_model_that_holds_nothing_or_shortens_nothing_is_a_clear_error(
    tmp_path: Path, writer: Narrower, kind: str
) -> None:
    result = await summarize(tmp_path, writer)
    assert result.failure
    assert (result.status, result.failure.kind) == (SummaryStatus.FAILED, kind)
