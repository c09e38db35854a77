"""The extractive writer with the installed models."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from inference.call import Call, Priority
from inference.config import InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.reading.values import TermKind, find_terms
from pipeline.summarize.document import SourceChunk, SummaryType
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.retention import Mentions, measure
from pipeline.summarize.writer import Extraction, ExtractTask, MergeStage, MergeTask
from server.rpc.models import CallScope, EngineModels
from tests.unit.pipeline.summarize.extractive.manual import MANUAL, flat, sentences

pytestmark = pytest.mark.models

MODELS = Path(__file__).resolve().parents[5] / "models"
SENTENCE = "The pump must be switched off before the housing is opened."
SAME = "Before the housing is opened, the pump must be switched off."
OPPOSITE = "The pump must not be switched off before the housing is opened."


@pytest.fixture
async def writer() -> AsyncIterator[ExtractiveWriter]:
    config = InferenceConfig(models_dir=MODELS, runtime=RuntimeConfig(warmup_s=0.2))
    async with Engine(config) as engine:
        terms = CallScope(Call(None, Priority.BULK), max_queue_wait_s=30)
        yield ExtractiveWriter(ExtractiveConfig(min_map_tokens=0), EngineModels(engine).bound(terms))


def merge_task(*texts: str) -> MergeTask:
    extractions = tuple(Extraction(text, (index, index), (0, 0)) for index, text in enumerate(texts))
    return MergeTask(SummaryType.TECHNICAL, "manual", MergeStage.FINAL, 1, 0, 1, extractions, 1_000)


async def test_a_paraphrase_is_said_once_and_a_contradiction_is_kept(writer: ExtractiveWriter) -> None:
    written = await writer.merge(merge_task(SENTENCE, SAME, OPPOSITE))
    assert sentences(written.text) == [SENTENCE, OPPOSITE]
    assert [removed.text for removed in written.duplicates] == [SAME]


async def test_map_is_shorter_verbatim_and_keeps_the_values(writer: ExtractiveWriter) -> None:
    task = ExtractTask(SummaryType.TECHNICAL, "manual", 0, 1, (SourceChunk(0, 1, MANUAL),))
    first, second = await asyncio.gather(writer.extract(task), writer.extract(task))
    assert first == second
    assert writer.count_tokens(first.text) < 0.8 * writer.count_tokens(MANUAL)
    assert all(sentence in flat(MANUAL) for sentence in sentences(first.text))
    kept = measure(find_terms(MANUAL), [Mentions.of(first.text)])
    lost = {term for entry in kept.kinds if entry.kind is not TermKind.ENTITY for term in entry.missing}
    assert lost <= {"4"}  # of a heading
