"""Answers to questions about quality as messages.

The events of an assessment as messages.
"""

from typing import assert_never

from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.run import (
    AssessEvent,
    Assessment,
    AssessmentPlanned,
    AssessPlan,
    EvidenceGathered,
    Synthesized,
    ToolRun,
)
from pipeline.assess.synthesis.evidence import GLOBAL, Evidence, ToolScore
from pipeline.assess.synthesis.request import Mode
from pipeline.assess.synthesis.result import ReplanNeed, ReplanReason, Synthesis
from pipeline.judge.fusion import Fusion, Level
from pipeline.judge.ultra.levels import LevelSource
from server.rpc.fields import to_usage
from server.rpc.status import to_duration
from server.services.judge_request import FUSION_FORMS, MODES, SEVERITIES

LEVELS = {
    Level.BAD: fusion_pb2.QUALITY_LEVEL_BAD,
    Level.POOR: fusion_pb2.QUALITY_LEVEL_POOR,
    Level.FAIR: fusion_pb2.QUALITY_LEVEL_FAIR,
    Level.GOOD: fusion_pb2.QUALITY_LEVEL_GOOD,
    Level.EXCELLENT: fusion_pb2.QUALITY_LEVEL_EXCELLENT,
}
PROBABILITY_SOURCES = {
    LevelSource.LOGITS: fusion_pb2.PROBABILITY_SOURCE_LOGITS,
    LevelSource.SAMPLES: fusion_pb2.PROBABILITY_SOURCE_SAMPLES,
    LevelSource.CLASSIFICATION: fusion_pb2.PROBABILITY_SOURCE_CLASSIFICATION,
    LevelSource.UNIFORM: fusion_pb2.PROBABILITY_SOURCE_UNIFORM,
}
REPLAN_REASONS = {
    ReplanReason.SCOPE_NOT_COVERED: pb.REPLAN_REASON_SCOPE_NOT_COVERED,
    ReplanReason.NO_TOOL_SCORES: pb.REPLAN_REASON_NO_TOOL_SCORES,
    ReplanReason.CONTRADICTION: pb.REPLAN_REASON_CONTRADICTION,
    ReplanReason.UNCERTAIN: pb.REPLAN_REASON_UNCERTAIN,
}


def to_synthesis(synthesis: Synthesis, *, language_model: str) -> pb.Synthesis:
    """Gives an answer with everything it came from.

    Args:
        synthesis: the answer.
        language_model: identity of the one that may have been asked; a degraded answer has another author.
    """
    output, fusion = synthesis.output, synthesis.fusion
    message = pb.Synthesis(
        final_answer=output.final_answer,
        quality_reasoning=output.quality_reasoning,
        need_replan=output.need_replan,
        replan_reason=output.replan_reason or "",
        used_evidence=to_quality_evidence(synthesis.used_evidence),
        error=output.error or "",
        degraded=output.degraded,
        author=synthesis.author,
        notes=synthesis.notes,
        language_model=to_usage(synthesis.usage, language_model),
        mode=MODES[synthesis.mode],
        replan_needs=map(to_replan_need, synthesis.replan_needs),
        attempt_count=synthesis.attempt_count,
    )
    if fusion is not None:
        message.fusion.CopyFrom(to_fusion(fusion, synthesis.level_source))
        if synthesis.mode is Mode.SCORING:
            message.level = LEVELS[fusion.level]
    return message


def to_fusion(fusion: Fusion, source: LevelSource) -> fusion_pb2.ScoreFusion:
    """Gives how tool scores and level probabilities became one score."""
    return fusion_pb2.ScoreFusion(
        tool_mean=fusion.tool_mean,
        alpha=fusion.alpha,
        probabilities=fusion.probabilities,
        probability_source=PROBABILITY_SOURCES[source],
        form=FUSION_FORMS[fusion.form],
        score=fusion.score,
        level=LEVELS[fusion.level],
        agreement=fusion.agreement,
    )


def to_quality_evidence(evidence: Evidence) -> pb.QualityEvidence:
    """Gives findings and tool scores."""
    message = pb.QualityEvidence(tool_scores=map(to_quality_score, evidence.tool_scores))
    for part, findings in evidence.distortion_analysis.items():
        analysis = message.distortion_analysis.add(scope=part)
        for finding in findings or ():
            analysis.findings.add(
                kind=finding.kind, severity=SEVERITIES[finding.severity], explanation=finding.explanation
            )
    return message


def to_quality_score(score: ToolScore) -> pb.QualityToolScore:
    """Gives one score in [1, 5]; its mapping has been applied."""
    return pb.QualityToolScore(scope=score.scope, aspect=score.aspect, tool=score.tool, score=score.score)


def to_replan_need(need: ReplanNeed) -> pb.ReplanNeed:
    """Gives one gap in the evidence."""
    return pb.ReplanNeed(reason=REPLAN_REASONS[need.reason], message=need.message, scope=need.scope)


def to_assess_event(event: AssessEvent, *, language_model: str) -> pb.AssessResponse:
    """Gives one event.

    Args:
        event: what happened.
        language_model: identity of the one that may have been asked; empty without one.
    """
    match event:
        case AssessmentPlanned(plan):
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
