"""What the nodes of one assessment share. It is LangGraph's runtime context: never in the state."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TypeVar

from pipeline.judge.assess.config import AssessConfig
from pipeline.judge.assess.events import ToolRun
from pipeline.judge.assess.request import CheckedAssessment
from pipeline.judge.assess.tools import AssessTool
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judgement import Judgement
from pipeline.judge.metric import MetricResult
from pipeline.judge.request import JudgeRequest
from pipeline.judge.synthesis.evidence import Finding
from pipeline.judge.synthesis.synthesizer import Synthesizer
from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.metering import MeteredChatModel

TextJudge = Callable[[JudgeRequest], Awaitable[Judgement]]
"""Judges a summary against its source."""

T = TypeVar("T")


@dataclass(slots=True)
class Findings:
    """What the iterations have found so far. No tool runs twice.

    Attributes:
        runs: of tools, by name.
        metrics: of texts, by the tool's name.
        table: the evidence about the summary; None before the first metric.
        seen: what the language model saw in the images, by part of the scope; a part that it said nothing of is None.
        notes: what a reader should know.
        judge_usage: what the judge's own questions to the language model cost.
    """

    runs: dict[str, ToolRun] = field(default_factory=dict)
    metrics: dict[str, MetricResult] = field(default_factory=dict)
    table: EvidenceTable | None = None
    seen: dict[str, tuple[Finding, ...] | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    judge_usage: LlmUsage = field(default_factory=LlmUsage)


@dataclass(slots=True)
class AssessRun:
    """One assessment.

    Attributes:
        checked: the request.
        tools: that may run.
        judge: of texts; None when there is none to assess.
        chat: plans, looks at images and answers, and is counted; None: the deterministic forms.
        synthesizer: answers.
        config: of planner and executor.
        executor: for work that would hold up the event loop; None: in its own thread.
        found: by the iterations so far.
    """

    checked: CheckedAssessment
    tools: tuple[AssessTool, ...]
    judge: TextJudge | None
    chat: MeteredChatModel | None
    synthesizer: Synthesizer
    config: AssessConfig
    executor: Executor | None
    found: Findings = field(default_factory=Findings)

    @property
    def usage(self) -> LlmUsage:
        """What the language model has cost so far, the judge's questions included."""
        return self.found.judge_usage + (self.chat.usage if self.chat else LlmUsage())

    async def off_loop(self, work: Callable[[], T]) -> T:
        """Runs CPU-heavy work on the executor's thread."""
        if self.executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)
