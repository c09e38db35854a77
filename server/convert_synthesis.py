"""Answers to questions about quality as messages."""

from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.synthesis.evidence import Evidence, ToolScore
from pipeline.assess.synthesis.request import Mode
from pipeline.assess.synthesis.result import ReplanNeed, ReplanReason, Synthesis
from pipeline.judge.fusion import Fusion, Level
from pipeline.judge.ultra.levels import LevelSource
from server.convert_usage import to_usage
from server.parse_judge import FUSION_FORMS
from server.parse_synthesis import MODES, SEVERITIES

LEVELS = {
    Level.BAD: fusion_pb2.QUALITY_LEVEL_BAD,
    Level.POOR: fusion_pb2.QUALITY_LEVEL_POOR,
    Level.FAIR: fusion_pb2.QUALITY_LEVEL_FAIR,
    Level.GOOD: fusion_pb2.QUALITY_LEVEL_GOOD,
    Level.EXCELLENT: fusion_pb2.QUALITY_LEVEL_EXCELLENT,
}
PROBABILITY_SOURCES = {
    LevelSource.LOG_PROBABILITIES: fusion_pb2.PROBABILITY_SOURCE_LOGITS,
    LevelSource.SAMPLES: fusion_pb2.PROBABILITY_SOURCE_SAMPLES,
    LevelSource.CLASSIFICATION: fusion_pb2.PROBABILITY_SOURCE_CLASSIFICATION,
    LevelSource.NONE: fusion_pb2.PROBABILITY_SOURCE_UNIFORM,
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
        attempt_count=synthesis.attempts,
    )
    if fusion is not None:
        message.fusion.CopyFrom(to_fusion(fusion, synthesis.level_source))
        if synthesis.mode is Mode.SCORING:
            message.level = LEVELS[fusion.level]
    return message


def to_fusion(fusion: Fusion, source: LevelSource) -> fusion_pb2.ScoreFusion:
    """Gives how tool scores and level probabilities became one score."""
    return fusion_pb2.ScoreFusion(
        tool_mean=fusion.q_bar,
        alpha=fusion.alpha,
        probabilities=fusion.p,
        probability_source=PROBABILITY_SOURCES[source],
        form=FUSION_FORMS[fusion.form],
        score=fusion.q,
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
    return pb.ReplanNeed(reason=REPLAN_REASONS[need.reason], message=need.message, scope=need.parts)
