"""Small deterministic stand-ins for what summaries need."""

import asyncio
from collections.abc import Callable

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.writer import (
    CriticVerdict,
    Critique,
    CritiqueTask,
    ExtractTask,
    MergeStage,
    MergeTask,
    TopicList,
    TopicsTask,
    WriterLimits,
    Written,
)

Task = ExtractTask | MergeTask | CritiqueTask | TopicsTask

WIDE = WriterLimits(
    prompt_budget_tokens=8_000,
    context_limit_tokens=4_000,
    model_context_tokens=128_000,
    output_tokens=4_000,
    overhead_tokens=500,
    concurrency=8,
)
"""The default budgets, with a model that holds any reduce group."""

Script = Callable[[Task], None]


class ScriptedWriter:
    """Answers every task with a short text that names it. Remembers what it was asked and what was cancelled.

    Args:
        limits: of the writer.
        verdicts: one for each critique; the last one answers all further ones.
        before: called with every task before it is answered; may raise.
        identity: see Writer.
    """

    def __init__(
        self,
        limits: WriterLimits = WIDE,
        *,
        verdicts: tuple[CriticVerdict, ...] = (CriticVerdict.PASS,),
        before: Script | None = None,
        identity: str = "scripted",
    ) -> None:
        self.identity = identity
        self.limits = limits
        self.asked: list[Task] = []
        self.answered: list[Task] = []
        self.cancelled: list[Task] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.gate: asyncio.Event | None = None
        self.prefix = ""
        self._verdicts = list(verdicts)
        self.before = before

    def count_tokens(self, text: str) -> int:
        """Four characters are a token."""
        return (len(text) + 3) // 4

    async def extract(self, task: ExtractTask) -> Written:
        await self._work(task)
        text = f"{self.prefix}Batch {task.batch_index} keeps {task.chunks[0].text[:60]}"
        return Written(text, "stop", LlmUsage(1, 100, 10))

    async def merge(self, task: MergeTask) -> Written:
        await self._work(task)
        if task.stage is MergeStage.COMPRESS:
            return Written(task.extractions[0].text[: task.target_tokens * 4], "stop", LlmUsage(1, 100, 10))
        text = f"{self.prefix}Level {task.level} group {task.group_index} merges {task.extractions[0].text[:40]}"
        return Written(text, "stop", LlmUsage(1, 100, 10))

    async def critique(self, task: CritiqueTask) -> Critique:
        await self._work(task)
        critic_verdict = self._verdicts.pop(0) if len(self._verdicts) > 1 else self._verdicts[0]
        return Critique(
            critic_verdict, f"{critic_verdict.value} because of iteration {task.iteration}", LlmUsage(1, 50, 5)
        )

    async def topics(self, task: TopicsTask) -> TopicList:
        await self._work(task)
        return TopicList(("pumps", "valves", "filters", "safety", "maintenance"), LlmUsage(1, 50, 5))

    async def _work(self, task: Task) -> None:
        self.asked.append(task)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.before:
                self.before(task)
            await (self.gate.wait() if self.gate else asyncio.sleep(0))
            self.answered.append(task)
        except asyncio.CancelledError:
            self.cancelled.append(task)
            raise
        finally:
            self.in_flight -= 1
