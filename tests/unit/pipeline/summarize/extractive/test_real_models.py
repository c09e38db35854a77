"""The extractive writer with the installed models."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from inference.call import Call, Priority
from inference.config import InferenceConfig, RuntimeConfig
from inference.engine import Engine
from pipeline.summarize.document import SummaryType
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.writer import ExtractiveWriter
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, Wishes
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask
from server.rpc.models import CallScope, EngineModels
from tests.unit.pipeline.summarize.extractive.manual import sentences

pytestmark = pytest.mark.models

MODELS = Path(__file__).resolve().parents[5] / "models"
SENTENCE = "The pump must be switched off before the housing is opened."
SAME = "Before the housing is opened, the pump must be switched off."
OPPOSITE = "The pump must not be switched off before the housing is opened."


@pytest.fixture
async def writer() -> AsyncIterator[ExtractiveWriter]:
    config = InferenceConfig(runtime=RuntimeConfig(warmup_s=0.2))
    async with Engine(MODELS, config) as engine:
        terms = CallScope(Call(None, Priority.BULK), max_queue_wait_s=30)
        yield ExtractiveWriter(ExtractiveConfig(min_map_tokens=0), EngineModels(engine).bound(terms))


def merge_task(*texts: str) -> MergeTask:
    extractions = tuple(Extraction(text, (index, index), (0, 0)) for index, text in enumerate(texts))
    return MergeTask(SummaryType.TECHNICAL, "manual", MergeStage.FINAL, 1, 0, 1, extractions, 1_000)


async def test_a_paraphrase_is_said_once_and_a_contradiction_is_kept(writer: ExtractiveWriter) -> None:
    written = await writer.merge(merge_task(SENTENCE, SAME, OPPOSITE))
    assert sentences(written.text) == [SENTENCE, OPPOSITE]
    assert [removed.text for removed in written.duplicates] == [SAME]


@pytest.mark.parametrize(
    ("focus", "is_missed"),
    [("opening the housing", False), ("When may I open it?", False), ("apple pie recipes", True)],
)
async def test_a_focus_that_nothing_answers_is_told(writer: ExtractiveWriter, focus: str, *, is_missed: bool) -> None:
    task = merge_task(SENTENCE, "The bearings are greased each month.", "Spare parts are stored in the cabinet.")
    shape, wishes = Shape(LengthGoal(12, LengthUnit.WORDS)), Wishes(focus=focus)
    written = await writer.merge(replace(task, stage=MergeStage.SHAPE, shape=shape, wishes=wishes))
    assert written.misses_focus is is_missed
