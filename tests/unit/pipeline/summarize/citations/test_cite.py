"""Where do the sentences of a summary stand in its document?"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.off_loop import OffLoop
from pipeline.summarize.citations.cite import CitationBounds, CitedDocument, cite
from pipeline.summarize.citations.places import Citations, CitationSupport, SourcePlace
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.gate.gate import ClaimReader
from pipeline.summarize.graph import graph
from pipeline.summarize.writer import CritiqueTask, TopicsTask
from pipeline.support.claim_support import SupportConfig
from tests.fakes_pipeline import ScriptedEntailment
from tests.fakes_summarize import ScriptedWriter
from tests.unit.pipeline.summarize.documents import numbered_document, read_all, result_of, summarizer_in

ALL = CitationBounds(max_citations=100, max_read=100)
MANUAL = (
    (
        "# Pump\n\nThe pump P-12 runs at 40 bar. It must be primed with clean water before the first start.\n\n"
        "- Close valve V8 before you open the strainer;\n- Drain the housing.\n"
    ),
    (
        "Never do this: run the pump dry for more than ten seconds. The pump P-12\nruns at 40 bar.\n\n"
        "| Part | Torque |\n| --- | --- |\n| Cover bolt | 25 Nm |\n"
    ),
    "The seal of the motor is replaced after 4,000 hours of operation, or when it leaks more than",
    "ten drops in a minute. The frost protection heats the housing below 5 degrees.",
)
CHUNKS = [SourceChunk(index, index // 2 + 1, text) for index, text in enumerate(MANUAL)]


async def cited(text: str, bounds: CitationBounds = ALL, reader: ClaimReader | None = None) -> Citations:
    return await cite(text, CitedDocument(CHUNKS), bounds, reader, OffLoop())


def source_of(places: Sequence[SourcePlace]) -> list[str]:
    return [MANUAL[place.chunk_index][place.start : place.end] for place in places]


@pytest.mark.parametrize(
    ("sentence", "chunk", "source"),
    [
        ("It must be primed with clean water before the first start.", 0, "It must be primed with"),
        ("- **Drain the housing**", 0, "Drain the housing."),
        ("* close valve V8 before you open the strainer.", 0, "Close valve V8"),
        ("| Cover bolt | 25 Nm |", 1, "| Cover bolt | 25 Nm |"),
        ("The frost  protection heats the housing\nbelow 5 degrees.", 3, "The frost protection"),
        ("## Pump", 0, "Pump"),
    ],
)
async def test_a_sentence_that_stands_in_the_document_is_cited_there(sentence: str, chunk: int, source: str) -> None:
    (citation,) = (await cited(sentence)).cited
    assert citation.support is CitationSupport.VERBATIM
    assert sentence[citation.start : citation.end].strip("*- #") in sentence
    (place,) = citation.places
    assert (place.chunk_index, place.page_number) == (chunk, chunk // 2 + 1)
    assert source_of([place])[0].startswith(source)
    assert place.document_start == sum(map(len, MANUAL[:chunk])) + place.start


async def test_a_sentence_over_two_chunks_has_a_place_in_each() -> None:
    sentence = "The seal of the motor is replaced after 4,000 hours of operation, or when it leaks more than ten drops"
    (citation,) = (await cited(sentence + " in a minute.")).cited
    assert citation.support is CitationSupport.VERBATIM
    assert [place.chunk_index for place in citation.places] == [2, 3]
    assert source_of(citation.places)[1] == "ten drops in a minute."


@pytest.mark.parametrize(
    "sentence", ["Run the pump dry for more than ten seconds.", "The pump P-12.", "Close valve V8 before you open."]
)
async def test_a_part_of_a_sentence_is_not_the_sentence(sentence: str) -> None:
    (citation,) = (await cited(sentence)).cited
    assert citation.support is CitationSupport.UNREAD


def test_what_a_text_does_not_tell_has_no_marks_and_titles_of_what_it_tells() -> None:
    steps = "1. Close the inlet valve.\n2. Vent the upper vessel.\n\nWait for ten minutes."
    document = CitedDocument([SourceChunk(0, 0, f"# Vessel\n\nIt holds 80 litres.\n\n# Pump\n\n{steps}")])
    left = document.untold("It holds 80 litres. Close the inlet valve.")
    assert left.split() == ["#", "Pump", "2.", "Vent", "the", "upper", "vessel.", "Wait", "for", "ten", "minutes."]


async def test_of_several_places_the_one_that_follows_is_chosen() -> None:
    twice = "The pump P-12 runs at 40 bar."
    first, _, second = (
        await cited(f"{twice} Never do this: run the pump dry for more than ten seconds. {twice}")
    ).cited
    assert [first.places[0].chunk_index, second.places[0].chunk_index] == [0, 1]
    assert first.other_place_count == second.other_place_count == 1


async def test_a_written_sentence_leads_to_the_sentences_that_it_was_made_from() -> None:
    (citation,) = (await cited("Pump P-12 runs at 40 bar and the cover bolt takes 25 Nm.")).cited
    assert (citation.support, citation.probability) == (CitationSupport.UNREAD, None)
    assert any("40 bar" in source for source in source_of(citation.places))
    assert any("25 Nm" in source for source in source_of(citation.places))


@pytest.mark.parametrize(("says", "support"), [(0.95, CitationSupport.SUPPORTED), (0.0, CitationSupport.MARKED)])
async def test_a_model_says_how_well_a_written_sentence_is_supported(says: float, support: CitationSupport) -> None:
    entailment = ScriptedEntailment(default=says)
    text = "Drain the housing. Below 5 degrees, the frost protection is heating the housing."
    known, written = (await cited(text, reader=ClaimReader(entailment, 1, SupportConfig()))).cited
    assert (known.support, known.probability) == (CitationSupport.VERBATIM, None)
    assert written.support is support
    assert written.probability is not None
    asked = [pair for call in entailment.calls for pair in call]
    assert all("The frost protection heats the housing below 5 degrees." in premise for premise, _ in asked)
    assert {hypothesis for _, hypothesis in asked} == {"Below 5 degrees, the frost protection is heating the housing."}


@pytest.mark.parametrize(("least", "support"), [(0.3, CitationSupport.SUPPORTED), (0.99, CitationSupport.MARKED)])
async def test_the_thresholds_of_the_settings_decide_what_is_supported(least: float, support: CitationSupport) -> None:
    reader = ClaimReader(ScriptedEntailment(default=0.9), 1, SupportConfig(partly_supported=least))
    (citation,) = (await cited("Below 5 degrees, the frost protection is heating the housing.", reader=reader)).cited
    assert citation.support is support


async def test_of_too_many_sentences_those_with_values_are_read() -> None:
    entailment = ScriptedEntailment(default=0.9)
    text = "Clean water primes the pump. Cover bolts get 25 Nm of torque."
    found = await cited(text, CitationBounds(100, 1), ClaimReader(entailment, 1, SupportConfig()))
    assert [one.support for one in found.cited] == [CitationSupport.UNREAD, CitationSupport.SUPPORTED]


async def test_what_nothing_speaks_of_has_no_place() -> None:
    found = await cited("Bananas ripen faster beside apples.\n\n# Fruit")
    assert [one.places for one in found.cited] == [()]
    assert found.citable_count == 2


async def test_sentences_beyond_the_bound_are_counted_and_not_cited() -> None:
    found = await cited("Drain the housing.\n\n" * 3, CitationBounds(2, 0))
    assert (len(found.cited), found.citable_count) == (2, 3)
    assert [(one.support, one.count) for one in found.counts] == [(CitationSupport.VERBATIM, 2)]


async def test_a_summary_is_cited_beside_the_call_for_its_topics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    async def noted(*texts: object) -> Citations:
        order.append("citations")
        return await cite(*texts)  # type: ignore[arg-type]  # the same as it takes

    monkeypatch.setattr(graph, "cite", noted)
    writer = ScriptedWriter(before=lambda task: order.append(type(task).__name__))
    async with summarizer_in(tmp_path) as summarizer:
        result = result_of(await read_all(summarizer.stream(numbered_document(7), writer=writer)))
    assert result.citation.citable_count == len(result.citation.cited) == 1
    assert order[-3:] == [CritiqueTask.__name__, "citations", TopicsTask.__name__]
