"""Assessments with a judge made by hand, and what they told."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipeline.assess.assessor import Assessor
from pipeline.assess.evidence import Evidence
from pipeline.assess.request import AssessRequest
from pipeline.assess.result import Synthesis
from pipeline.assess.run import (
    AssessEvent,
    Assessment,
    AssessModels,
    AssessPlan,
    EvidenceGathered,
    Synthesized,
    TextJudge,
    ToolRun,
)
from pipeline.assess.synthesizer import Synthesizer
from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judgement import Judgement, JudgeTimings
from pipeline.judge.request import JudgeRequest
from pipeline.judge.result import Framework, FrameworkResult, MetricName, MetricResult, MetricStatus
from pipeline.llm.chat_model import ChatModel
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel
from tests.unit.pipeline.judge.tables import claims, table

TEXT = AssessRequest("How good is this summary?", source="The bridge opened in 1932.", summary="It opened in 1932.")
ABSTAINED = MetricStatus.ABSTAINED


def bridge_table() -> EvidenceTable:
    """A table with two claims: one about a bridge that is supported, one about a tunnel that is not."""
    first, second = claims(ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED)
    bridge = replace(first, passage=TextSpan("summary", 0, 24, "The old bridge is safe.", "The old bridge is safe."))
    tunnel = replace(second, passage=TextSpan("summary", 25, 45, "The tunnel collapsed.", "The tunnel collapsed."))
    return table(made_claims=(bridge, tunnel))


@dataclass
class ScriptedJudge:
    """Gives metrics the scores it was made with, in [0, 10], 9 otherwise; None has it abstain. Keeps the requests."""

    scores: Mapping[tuple[Framework, MetricName], float | None] = field(default_factory=dict)  # by framework and metric
    requests: list[JudgeRequest] = field(default_factory=list)  # that came

    async def __call__(self, request: JudgeRequest) -> Judgement:
        self.requests.append(request)
        results = tuple(
            FrameworkResult(framework, tuple(self._metric(framework, name) for name in MetricName))
            for framework in request.wanted
        )
        return Judgement(
            request_hash="0" * 64,
            evidence=bridge_table(),
            frameworks=results,
            config=JudgeConfig(),
            language_model=None,
            degraded=False,
            notes=(),
            is_cached=False,
            timings=JudgeTimings(2, 1, 1),
        )

    def _metric(self, framework: Framework, name: MetricName) -> MetricResult:
        score = self.scores.get((framework, name), 9.0)
        status = ABSTAINED if score is None else MetricStatus.SCORED
        reason = f"{framework} on {name}."
        return MetricResult(name, status, 5.0 if score is None else score, None, reason, (), {})


@dataclass(frozen=True)
class Told:
    """The events of an assessment, by kind."""

    events: list[AssessEvent]

    @property
    def plans(self) -> list[AssessPlan]:
        return [event for event in self.events if isinstance(event, AssessPlan)]

    @property
    def runs(self) -> list[ToolRun]:
        return [event for event in self.events if isinstance(event, ToolRun)]

    @property
    def answers(self) -> list[Synthesized]:
        return [event for event in self.events if isinstance(event, Synthesized)]

    @property
    def gathered(self) -> list[EvidenceGathered]:
        return [event for event in self.events if isinstance(event, EvidenceGathered)]

    @property
    def assessment(self) -> Assessment:
        last = self.events[-1]
        assert isinstance(last, Assessment)
        return last

    @property
    def synthesis(self) -> Synthesis:
        assert self.assessment.synthesis is not None
        return self.assessment.synthesis

    @property
    def evidence(self) -> Evidence:
        assert self.assessment.evidence is not None
        return self.assessment.evidence


async def assess(
    request: AssessRequest, *, judge: TextJudge | None = None, chat_model: ChatModel | None = None
) -> Told:
    """Runs an assessment to its end."""
    models = AssessModels(chat_model, chat_model, chat_model) if chat_model else None
    stream = Assessor(Synthesizer()).stream(request, judge=judge or ScriptedJudge(), models=models)
    return Told([event async for event in stream])
