"""The events of an assessment, and what its nodes share: LangGraph's runtime context, which is never in the state."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from pipeline.assess.evidence import Evidence, Finding, ToolScore
from pipeline.assess.images import COMPARING, Box, ImageTool
from pipeline.assess.request import AssessRequest, CheckedQuestion, Mode
from pipeline.assess.result import ReplanNeed, Synthesis
from pipeline.assess.synthesizer import Synthesizer
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judgement import Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework, MetricName, MetricResult
from pipeline.llm.chat_model import ChatModel, LlmUsage
from pipeline.llm.metering import MeteredChatModel

OVERALL = ""
"""The distortion of a tool that measures quality as a whole."""

FIRST_OPINION = Framework.ULTRA


@dataclass(frozen=True, slots=True)
class AssessTool:
    """One tool: a metric of a framework, or a measure of images; exactly one of `metric` and `image_tool` is there."""

    name: str  # for plans and events, for example "ultra.hallucination" or "blur"
    distortion: str  # what it measures; `OVERALL` for quality as a whole
    framework: Framework | None = None
    metric: MetricName | None = None
    image_tool: ImageTool | None = None

    @property
    def is_second_opinion(self) -> bool:
        """Whether it measures what another tool measures, and is run only when that one is in doubt."""
        return self.framework is not None and self.framework is not FIRST_OPINION


def available_tools(checked: CheckedQuestion[AssessRequest]) -> tuple[AssessTool, ...]:
    """Returns the tools for what there is to assess: first opinions first."""
    frameworks = (
        sorted(Framework, key=lambda framework: framework is not FIRST_OPINION) if checked.request.has_text else []
    )
    texts = [
        AssessTool(f"{framework.value}.{metric.value}", metric.value, framework, metric)
        for framework in frameworks
        for metric in MetricName
    ]
    measures = [tool for tool in ImageTool if checked.reference is not None or tool not in COMPARING]
    images = [
        AssessTool(tool.value, OVERALL if tool in COMPARING else tool.value, image_tool=tool)
        for tool in (measures if checked.images else ())
    ]
    return (*texts, *images)


@dataclass(frozen=True, slots=True)
class AssessPlan:
    """The planner has decided what an iteration will do."""

    iteration: int  # from 0
    mode: Mode
    scope: tuple[str, ...]
    distortions: tuple[str, ...]
    tools: tuple[str, ...]  # names, in the order in which they run; with those of earlier iterations
    is_wide: bool  # whether a part of the scope is also looked for by single words of its name
    reason: str
    author: str  # "deterministic", or the identity of the chat model
    notes: tuple[str, ...] = ()
    needs: tuple[ReplanNeed, ...] = ()  # what it is to close; empty for the first plan

    def does_the_same(self, other: "AssessPlan") -> bool:
        """Tells whether another plan would find the same."""
        return (self.scope, set(self.tools), self.is_wide) == (other.scope, set(other.tools), other.is_wide)


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool has run."""

    iteration: int  # from 0
    tool: str
    score: ToolScore | None = None  # in [1, 5]; None when it failed
    raw: float | None = None  # on its own scale: scores of texts are in [0, 10]; None when it failed
    error: str | None = None  # why it failed: a snake_case word, then what it means; None when it did not


@dataclass(frozen=True, slots=True)
class EvidenceGathered:
    """The executor has finished; the evidence holds everything found so far."""

    iteration: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Synthesized:
    """The summarizer has answered; `begins_again` tells whether another plan follows."""

    iteration: int
    synthesis: Synthesis
    begins_again: bool


@dataclass(frozen=True, slots=True)
class Assessment:
    """The outcome; the last event."""

    plan: AssessPlan  # the last one
    synthesis: Synthesis | None  # the last answer; None when the request stops before it
    iteration_count: int  # replannings that were made
    replan_history: tuple[str, ...]  # why, one entry for each
    evidence: Evidence | None  # of the last iteration; None when the request stops before it
    usage: LlmUsage  # of the language model's plans, looks at images and answers, and of the judge's questions to it
    notes: tuple[str, ...]  # of request, plans and looks; those of the answer are in `synthesis`
    elapsed_s: float


AssessEvent = AssessPlan | ToolRun | EvidenceGathered | Synthesized | Assessment


TextJudge = Callable[[JudgeRequest], Awaitable[Judgement]]
"""Judges a summary against its source."""


M_co = TypeVar("M_co", bound=ChatModel, covariant=True)


class AssessModels(NamedTuple, Generic[M_co]):
    """Who plans, who looks at images, and who answers: often one and the same."""

    planner: M_co
    executor: M_co
    synthesizer: M_co


@dataclass(slots=True)
class AssessRun:
    """One assessment, and what its iterations have found so far. No tool runs twice."""

    checked: CheckedQuestion[AssessRequest]
    tools: tuple[AssessTool, ...]  # that may run
    judge: TextJudge | None  # of texts; None when there is none to assess
    # plan, look at images and answer, and are counted; None: the deterministic forms
    models: AssessModels[MeteredChatModel] | None
    synthesizer: Synthesizer
    # of tools, by name and by the part of the scope that was measured
    runs: dict[tuple[str, str], ToolRun] = field(default_factory=dict)
    metrics: dict[str, MetricResult] = field(default_factory=dict)  # of texts, by the tool's name
    table: EvidenceTable | None = None  # the evidence about the summary; None before the first metric
    # what the language model saw in the images last, by part of the scope
    seen: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    boxes: dict[str, Box] = field(default_factory=dict)  # where it saw parts in the first image
    is_blind: bool = False  # whether the model's endpoint has refused images
    notes: list[str] = field(default_factory=list)
    replan_history: list[str] = field(default_factory=list)  # why there was another plan, one entry for each
    judge_usage: LlmUsage = field(default_factory=LlmUsage)  # what the judge's own questions to the language model cost

    @property
    def usage(self) -> LlmUsage:
        """What the language models have cost so far, the judge's questions included."""
        return sum((model.usage for model in self.models or ()), self.judge_usage)

    @property
    def has_eyes(self) -> bool:
        """Whether there are images, and a language model that takes them."""
        return self.models is not None and bool(self.checked.images) and not self.is_blind
