"""What the tests of the whole judgement share: a request, and models that are fakes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pipeline.judge.judge import Judge
from pipeline.judge.judgement import JudgeEvent, Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework
from pipeline.protocols import Float32, Models
from tests.fakes_pipeline import BagOfWordsEmbedder, OverlapEntailment, fake_models
from tests.unit.pipeline.summarize.fake_chat import FakeChat

TWIN, JUDGE, ULTRA = Framework
SOURCE = (
    "The agency raised its licence fees by 12 percent on Tuesday. Ann Lee, who leads the farmers' union, objected. "
    "She said that small farms could not pay. The agency's director, Bob Ray, answered that costs had doubled since "
    "2019. A public hearing will be held in Springfield on 4 May. The new fees take effect in July. "
    "Two council members asked for a delay of one year. The council votes next week."
)
SUMMARY = (
    "The agency raised its licence fees by 12 percent. Ann Lee objected. A public hearing will be held in Springfield."
)
REQUEST = JudgeRequest(SOURCE, SUMMARY, tuple(Framework))


class GatedEntailment(OverlapEntailment):
    """Answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.cancelled = False

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> Float32:
        self.asked.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return await super().entail(pairs)


class Fakes:
    """The models of one test."""

    def __init__(self, entailment: OverlapEntailment | None = None) -> None:
        self.entailment = entailment or OverlapEntailment()
        self.embedder = BagOfWordsEmbedder()

    def models(self, chat: FakeChat | None = None) -> Models:
        return fake_models(self.entailment, self.embedder, chat=chat)

    async def judge(
        self, request: JudgeRequest = REQUEST, judge: Judge | None = None, chat_model: FakeChat | None = None
    ) -> Judgement:
        return await (judge or Judge()).judge(request, self.models(chat_model))

    async def events(self, request: JudgeRequest = REQUEST, judge: Judge | None = None) -> list[JudgeEvent]:
        return [event async for event in (judge or Judge()).stream(request, self.models())]


def without_times(judgement: Judgement) -> Judgement:
    """Leaves out what differs from run to run: times, and whether the answer was kept."""
    table = replace(judgement.table, timings=replace(judgement.table.timings, **dict.fromkeys(TIMES, 0.0)))
    timings = replace(judgement.timings, total_ms=0, evidence_ms=0, scoring_ms=0)
    return replace(judgement, evidence=table, timings=timings, is_cached=False)


TIMES = ("total_ms", "reading_ms", "embedding_ms", "proposals_ms", "nli_ms", "assembly_ms")
