"""Whole summaries: the graph with the extractive writer."""

from collections import Counter
from pathlib import Path

from pipeline.reading.terms import TermKind
from pipeline.summarize.document import SourceChunk, make_document
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.result import SummaryResult, WarningCode
from pipeline.summarize.writer import CriticVerdict
from tests.fakes_pipeline import fake_models
from tests.unit.pipeline.summarize.documents import LIMITS, read_all, result_of, summarizer_in
from tests.unit.pipeline.summarize.extractive.manual import MANUAL, count_tokens, flat, sentences, statements

UNIT = """\
## {number}. Unit {number}

Unit {number} holds {litres} litres of oil in a tank of grey steel. The oil keeps all bearings and all gears quiet. \
People who work in the hall like unit {number} a lot. Never touch the gears of unit {number} while they turn.

1. Turn the switch of unit {number} to the left.
2. Wait until the lamp of unit {number} is green.

"""
DOCUMENT = MANUAL + "\n" + "".join(UNIT.format(number=number, litres=number * 3 + 1) for number in range(5, 125))


async def summarize(place: Path, **settings: float) -> SummaryResult:
    writer = ExtractiveWriter(ExtractiveConfig.model_validate(settings), fake_models())
    parts = [part + "\n\n" for part in DOCUMENT.split("\n\n")]
    chunks = [SourceChunk(index, index // 4 + 1, part) for index, part in enumerate(parts) if part.strip()]
    document = make_document("manual", "Pump manual", chunks, limits=LIMITS)
    async with summarizer_in(place) as summarizer:
        result = result_of(await read_all(summarizer.stream(document, writer=writer)))
    assert result.calls_done == result.calls_planned
    return result


async def test_a_summary_with_room_keeps_every_value_and_passes(tmp_path: Path) -> None:
    result = await summarize(tmp_path, min_map_tokens=0)
    assert result.critic_verdict is CriticVerdict.PASS
    assert result.retention is not None
    lost = {term for kind in result.retention.kinds if kind.kind is not TermKind.ENTITY for term in kind.missing}
    assert lost <= {"4"}  # of a heading
    assert 5 <= len(result.topics) <= 10


async def test_a_summary_never_repeats_a_sentence_and_invents_none(tmp_path: Path) -> None:
    result = await summarize(tmp_path, min_map_tokens=0)
    said = Counter(sentences(result.text))
    assert [line for line, count in said.items() if count > 1 and len(line.split()) > 4] == []
    assert [line for line in said if line not in flat(DOCUMENT)] == []
    assert result.text.count("The oil keeps all bearings and all gears quiet.") == 1
    assert result.duplicate_count > 50


async def test_a_short_summary_of_a_long_document_is_full_and_passes_in_one_iteration(tmp_path: Path) -> None:
    result = await summarize(tmp_path, min_map_tokens=0, output_tokens=600, prompt_budget_tokens=1_000)
    assert 540 <= count_tokens(result.text) <= 600
    assert result.iterations == 1
    assert WarningCode.CRITIC_NOT_CONTENT not in {warning.code for warning in result.warnings}
    numbers = [int(line.split(".")[0]) for line in statements(result.text) if ". Unit" in line]
    assert numbers == sorted(numbers)
    assert numbers[-1] > 90
