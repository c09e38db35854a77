from pathlib import Path

from pipeline.summarize.config import SummarizeLimits
from pipeline.summarize.document import SourceChunk, make_document
from pipeline.summarize.events import LayersFound, Reflected
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.graph.finish import split_sections
from tests.fakes_pipeline import fake_models
from tests.unit.pipeline.summarize.documents import read_all, result_of, summarizer_in

TEXT = "\n\n".join(
    f"## {number} Unit {number}\n\n"
    + " ".join(f"Part {number}-{part} of the unit moves {part + 3} litres of water each day." for part in range(14))
    for number in range(1, 4)
)


def test_sections_begin_at_the_highest_headings_that_are_two_or_more() -> None:
    text = "# Manual\n\nTitle.\n\n## One\n\nA.\n\n### Deep\n\nB.\n\n```\n## no heading\n```\n\n## Two\n\nC."
    assert split_sections(text) == [("One", "A.\n\n### Deep\n\nB.\n\n```\n## no heading\n```"), ("Two", "C.")]
    assert split_sections("# Only one\n\nText.") == []


async def test_a_summary_has_an_overview_and_sections_before_the_critic_speaks(tmp_path: Path) -> None:
    chunks = [SourceChunk(number, 1, text) for number, text in enumerate(TEXT.split("\n\n"))]
    document = make_document("units", "units", chunks, limits=SummarizeLimits())
    writer = ExtractiveWriter(ExtractiveConfig(), fake_models())
    async with summarizer_in(tmp_path) as summarizer:
        events = await read_all(summarizer.stream(document, writer=writer))
        result = result_of(events)
        stored = (await summarizer.get(result.summary_id)).result
    kinds = [type(event) for event in events if isinstance(event, LayersFound | Reflected)]
    assert kinds[:2] == [LayersFound, Reflected]
    assert [section.title for section in result.layers.sections] == ["1 Unit 1", "2 Unit 2", "3 Unit 3"]
    assert "#" not in result.layers.overview
    assert "\n" not in result.layers.overview
    assert 30 <= len(result.layers.overview.split()) <= 99
    assert all(0 < len(section.text.split()) <= 120 for section in result.layers.sections)
    assert stored.layers == result.layers
