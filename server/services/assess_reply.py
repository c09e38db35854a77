"""Answers to questions about quality, and the events of an assessment, as messages."""

from dataclasses import dataclass
from typing import assert_never

from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.run import (
    AssessEvent,
    Assessment,
    AssessPlan,
    EvidenceGathered,
    Synthesized,
    ToolRun,
)
from pipeline.assess.synthesis.evidence import GLOBAL, Evidence, Finding
from pipeline.assess.synthesis.request import Mode
from pipeline.assess.synthesis.result import Synthesis
from pipeline.judge.fusion import Fusion, Level, LevelSource
from server.rpc.fields import EnumCodec, to_usage
from server.services.reply import Exceptions, reply

PROBABILITY_SOURCES = EnumCodec(LevelSource, fusion_pb2.ProbabilitySource.DESCRIPTOR)


def level(synthesis: Synthesis) -> Level | None:
    """Gives the level of a score; None without one, and of an answer that is none."""
    return synthesis.fusion.level if synthesis.fusion and synthesis.mode is Mode.SCORING else None


def fusion(synthesis: Synthesis) -> fusion_pb2.ScoreFusion | None:
    """Gives how tool scores and level probabilities became one score."""
    if synthesis.fusion is None:
        return None
    message = to_fusion(synthesis.fusion)
    message.probability_source = PROBABILITY_SOURCES.numbers[synthesis.level_source]
    return message


def distortion_analysis(evidence: Evidence) -> tuple[pb.ScopeAnalysis, ...]:
    """Gives the findings by part of the scope."""
    return tuple(
        pb.ScopeAnalysis(scope=part, findings=map(_to_finding, findings or ()))
        for part, findings in evidence.distortion_analysis.items()
    )


def quality_scope(plan: AssessPlan) -> pb.QualityScope:
    """Gives "Global", or the objects."""
    if plan.scope == (GLOBAL,):
        return pb.QualityScope(name=GLOBAL)
    return pb.QualityScope(objects=pb.ScopeObjects(names=plan.scope))


_EXCEPTIONS: Exceptions = {
    **{
        f"Synthesis.{name}": f"output.{name}"
        for name in ("final_answer", "quality_reasoning", "need_replan", "replan_reason", "error", "degraded")
    },
    "Synthesis.level": level,
    "Synthesis.fusion": fusion,
    "Synthesis.language_model": None,  # whose usage it is, the servicer knows
    "Assessment.language_model": None,
    "ScoreFusion.probability_source": None,  # of the synthesis
    "QualityEvidence.distortion_analysis": distortion_analysis,
    "QualityToolScore.mapping": None,  # applied already
    "AssessmentPlan.scope": quality_scope,
}
to_quality_evidence = reply(Evidence, pb.QualityEvidence, _EXCEPTIONS)
to_fusion = reply(Fusion, fusion_pb2.ScoreFusion, _EXCEPTIONS)
_to_finding = reply(Finding, pb.DistortionFinding)
_to_synthesis = reply(Synthesis, pb.Synthesis, _EXCEPTIONS)
_to_plan = reply(AssessPlan, pb.AssessmentPlan, _EXCEPTIONS)
_to_tool_run = reply(ToolRun, pb.ToolRun, _EXCEPTIONS)
_to_gathered = reply(EvidenceGathered, pb.EvidenceGathered, _EXCEPTIONS)
_to_made = reply(Synthesized, pb.SynthesisMade, _EXCEPTIONS)
_to_assessment = reply(Assessment, pb.Assessment, _EXCEPTIONS)


def to_synthesis(synthesis: Synthesis, *, language_model: str) -> pb.Synthesis:
    """Gives an answer with everything it came from.

    `language_model` is the identity of the one that may have been asked; a degraded answer has another author.
    """
    message = _to_synthesis(synthesis)
    _add_usage(message, synthesis, language_model)
    return message


@dataclass(frozen=True, slots=True)
class AssessNames:
    """The identities of the language models that an assessment may ask; empty without one."""

    all_roles: str = ""
    synthesizer: str = ""


def to_assess_event(event: AssessEvent, names: AssessNames) -> pb.AssessResponse:
    """Gives one event."""
    match event:
        case AssessPlan():
            return pb.AssessResponse(plan=_to_plan(event))
        case ToolRun():
            return pb.AssessResponse(tool=_to_tool_run(event))
        case EvidenceGathered():
            return pb.AssessResponse(evidence=_to_gathered(event))
        case Synthesized():
            made = _to_made(event)
            _add_usage(made.synthesis, event.synthesis, names.synthesizer)
            return pb.AssessResponse(synthesis=made)
        case Assessment():
            assessment = _to_assessment(event)
            _add_usage(assessment, event, names.all_roles)
            if event.synthesis is not None:
                _add_usage(assessment.synthesis, event.synthesis, names.synthesizer)
            return pb.AssessResponse(assessment=assessment)
        case _:
            assert_never(event)


def _add_usage(message: pb.Synthesis | pb.Assessment, answered: Synthesis | Assessment, identity: str) -> None:
    if usage := to_usage(answered.usage, identity):
        message.language_model.CopyFrom(usage)
