"""The events of an assessment as messages."""

from typing import assert_never

from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.run import AssessEvent, Assessment, AssessPlan, EvidenceGathered, Planned, Synthesized, ToolRun
from pipeline.assess.synthesis.evidence import GLOBAL
from server.convert_synthesis import to_quality_evidence, to_quality_score, to_synthesis
from server.convert_usage import to_usage
from server.parse_synthesis import MODES
from server.status import to_duration


def to_assess_event(event: AssessEvent, *, language_model: str) -> pb.AssessResponse:
    """Gives one event.

    Args:
        event: what happened.
        language_model: identity of the one that may have been asked; empty without one.
    """
    match event:
        case Planned(plan):
            return pb.AssessResponse(plan=to_assessment_plan(plan))
        case ToolRun():
            return pb.AssessResponse(tool=to_tool_run(event))
        case EvidenceGathered(iteration, evidence):
            gathered = pb.EvidenceGathered(iteration=iteration, evidence=to_quality_evidence(evidence))
            return pb.AssessResponse(evidence=gathered)
        case Synthesized(iteration, synthesis, begins_again):
            answer = to_synthesis(synthesis, language_model=language_model)
            made = pb.SynthesisMade(iteration=iteration, synthesis=answer, begins_again=begins_again)
            return pb.AssessResponse(synthesis=made)
        case Assessment():
            return pb.AssessResponse(assessment=to_assessment(event, language_model=language_model))
        case _:
            assert_never(event)


def to_assessment_plan(plan: AssessPlan) -> pb.AssessmentPlan:
    """Gives what the planner decided."""
    return pb.AssessmentPlan(
        iteration=plan.iteration,
        mode=MODES[plan.mode],
        scope=to_quality_scope(plan.scope),
        distortions=plan.distortions,
        tools=plan.tools,
        reason=plan.reason,
        author=plan.author,
        is_wide=plan.is_wide,
        notes=plan.notes,
    )


def to_quality_scope(scope: tuple[str, ...]) -> pb.QualityScope:
    """Gives "Global", or the objects."""
    if scope == (GLOBAL,):
        return pb.QualityScope(name=GLOBAL)
    return pb.QualityScope(objects=pb.ScopeObjects(names=scope))


def to_tool_run(run: ToolRun) -> pb.ToolRun:
    """Gives what a tool measured, or why it could not."""
    return pb.ToolRun(
        iteration=run.iteration,
        score=to_quality_score(run.score) if run.score else None,
        tool=run.tool,
        raw=run.raw,
        error=run.error or "",
    )


def to_assessment(assessment: Assessment, *, language_model: str) -> pb.Assessment:
    """Gives the outcome."""
    return pb.Assessment(
        synthesis=to_synthesis(assessment.synthesis, language_model=language_model),
        iteration_count=assessment.iteration_count,
        replan_history=assessment.replan_history,
        evidence=to_quality_evidence(assessment.evidence),
        language_model=to_usage(assessment.usage, language_model),
        elapsed=to_duration(assessment.elapsed_s),
        notes=assessment.notes,
    )
