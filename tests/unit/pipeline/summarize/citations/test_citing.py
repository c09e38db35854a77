"""Citations are found while the last calls are on their way, once for each text."""

import asyncio
from pathlib import Path

import pytest

from pipeline.summarize import summary_run
from pipeline.summarize.citations.cite import cite
from pipeline.summarize.citations.citing import Citing
from pipeline.summarize.citations.places import Citations
from pipeline.summarize.writer import CritiqueTask, TopicsTask
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in


async def test_a_text_that_was_begun_is_not_read_again() -> None:
    asked: list[str] = []

    async def find(text: str) -> Citations:
        asked.append(text)
        return Citations(citable_count=len(text))

    citing = Citing(find)
    citing.begin("one")
    assert (await citing.of("one")).citable_count == 3
    assert (await citing.of("other")).citable_count == 5
    assert asked == ["one", "other"]


async def test_a_text_that_became_another_and_one_that_nobody_needs_are_given_up() -> None:
    left: list[str] = []

    async def find(text: str) -> Citations:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(9):  # some take a while to end
                await asyncio.sleep(0)
            left.append(text)
        return Citations()

    citing = Citing(find)
    await citing.stop()
    for text in ("one", "other"):
        citing.begin(text)
        await asyncio.sleep(0)
    citing.begin("last")
    await citing.stop()
    assert left == ["one", "other"]


async def test_what_finding_them_raises_is_raised_where_they_are_needed() -> None:
    async def find(text: str) -> Citations:
        raise ValueError(text)

    citing = Citing(find)
    citing.begin("one")
    with pytest.raises(ValueError, match="one"):
        await citing.of("one")
    await citing.stop()


async def test_a_summary_is_cited_beside_the_call_for_its_topics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    async def noted(*texts: object) -> Citations:
        order.append("citations")
        return await cite(*texts)  # type: ignore[arg-type]  # the same as it takes

    monkeypatch.setattr(summary_run, "cite", noted)
    writer = ScriptedWriter(before=lambda task: order.append(type(task).__name__))
    async with summarizer_in(tmp_path) as summarizer:
        result = result_of(await read_all(summarizer.stream(numbered_document(7), writer=writer)))
    assert result.citation.citable_count == len(result.citation.cited) == 1
    assert order[-3:] == [CritiqueTask.__name__, "citations", TopicsTask.__name__]
