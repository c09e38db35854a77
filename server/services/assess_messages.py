"""Questions about quality as domain types; their answers, and the events of an assessment, as messages.

What a caller gets wrong becomes an InvalidInputError with the field's path.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from precis.v1 import fusion_pb2
from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.assess.request import AssessRequest, AssessStage, LevelAnswer, Mode, SynthesisRequest, parse_scope
from pipeline.assess.result import Synthesis
from pipeline.assess.run import AssessEvent, Assessment, AssessPlan, EvidenceGathered, Synthesized, ToolRun
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import Fusion, Level, LevelSource
from pipeline.rule_identity import rules_of
from server.rpc.fields import EnumCodec, parse_fusion, set_fields, to_usage, with_mappings
from server.services.reply import Exceptions, reply

SEVERITIES = EnumCodec(DistortionSeverity, pb.DistortionSeverity.DESCRIPTOR)
MODES = EnumCodec(Mode, pb.SynthesisMode.DESCRIPTOR)
STAGES = EnumCodec(AssessStage, pb.AssessStage.DESCRIPTOR)


def parse_synthesis(request: pb.SynthesizeRequest) -> SynthesisRequest:
    """Reads a request.

    Raises:
        InvalidInputError: an unknown enum number, a scope that is none, or a part analysed twice. Texts, sizes and
            scores are left to the synthesizer.
    """
    return SynthesisRequest(
        question=request.question,
        mode=MODES.parse(request.mode, "mode"),
        evidence=parse_evidence(request.evidence),
        scope=parse_quality_scope(request.scope) if request.HasField("scope") else (GLOBAL,),
        choices=tuple(request.choices),
        level_answer=parse_level_answer(request.level_answer) if request.HasField("level_answer") else None,
        images=tuple(request.images),
        context=request.context,
        **parse_fusion(request.options, "eta"),
    )


def parse_quality_scope(scope: pb.QualityScope) -> tuple[str, ...]:
    """Reads a scope. Raises InvalidInputError unless it is "Global" or a list of names."""
    return parse_scope(list(scope.objects.names) if scope.WhichOneof("kind") == "objects" else scope.name)


def parse_evidence(evidence: pb.QualityEvidence) -> Evidence:
    """Reads what an executor found. Raises InvalidInputError."""
    analysis: dict[str, tuple[Finding, ...] | None] = {}
    for index, part in enumerate(evidence.distortion_analysis):
        path = f"evidence.distortion_analysis[{index}]"
        if part.scope in analysis:
            raise InvalidInputError(f"{path}.scope", "each part once", "one again")
        severities = (
            SEVERITIES.parse(one.severity, f"{path}.findings[{place}].severity")
            for place, one in enumerate(part.findings)
        )
        pairs = zip(part.findings, severities, strict=True)
        analysis[part.scope] = tuple(Finding(one.kind, severity, one.explanation) for one, severity in pairs)
    return Evidence(analysis, parse_quality_scores(evidence.tool_scores, "evidence.tool_scores"))


def parse_quality_scores(scores: Sequence[pb.QualityToolScore], field: str) -> tuple[ToolScore, ...]:
    """Reads tool scores. Raises InvalidInputError for a mapping that is none."""
    return tuple(
        ToolScore(score.tool, score.score, score.scope or GLOBAL, score.aspect, mapping)
        for score, _, mapping in with_mappings(scores, field)
    )


def parse_level_answer(answer: pb.LevelAnswer) -> LevelAnswer:
    """Reads what the caller's model said of the level. Raises InvalidInputError when it said nothing."""
    kind = answer.WhichOneof("kind")
    if kind is None:
        raise InvalidInputError("level_answer", "log-probabilities or a level", "neither")
    return set_fields(answer.logits) if kind == "logits" else answer.level


def parse_assess(request: pb.AssessRequest) -> AssessRequest:
    """Reads a request.

    Raises:
        InvalidInputError: an unknown enum number, a scope that is none, or a mapping that is none. Texts, images,
            sizes and scores are left to the assessor.
    """
    return AssessRequest(
        question=request.question,
        mode=MODES.parse(request.mode, "mode") if request.mode else None,
        scope=parse_quality_scope(request.scope) if request.HasField("scope") else None,
        choices=tuple(request.choices),
        source=request.source,
        summary=request.summary,
        images=tuple(request.images),
        reference=request.reference or None,
        tool_scores=parse_quality_scores(request.tool_scores, "tool_scores"),
        stage=STAGES.parse(request.stage, "stage") if request.stage else AssessStage.ANSWER,
        **parse_fusion(request.options, "eta", "max_replan_iterations"),
    )


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
    "Synthesis.level": level,
    "Synthesis.fusion": fusion,
    "Synthesis.rules": lambda _: rules_of(),
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
_EVENTS: Mapping[type[AssessEvent], tuple[str, Callable[[Any], Any]]] = {
    AssessPlan: ("plan", reply(AssessPlan, pb.AssessmentPlan, _EXCEPTIONS)),
    ToolRun: ("tool", reply(ToolRun, pb.ToolRun, _EXCEPTIONS)),
    EvidenceGathered: ("evidence", reply(EvidenceGathered, pb.EvidenceGathered, _EXCEPTIONS)),
    Synthesized: ("synthesis", reply(Synthesized, pb.SynthesisMade, _EXCEPTIONS)),
    Assessment: ("assessment", reply(Assessment, pb.Assessment, _EXCEPTIONS)),
}


def to_synthesis(synthesis: Synthesis, *, language_model: str) -> pb.Synthesis:
    """Gives an answer with everything it came from.

    `language_model` is the identity of the one that may have been asked; a degraded answer has another author.
    """
    message = _to_synthesis(synthesis)
    _add_usage(message, synthesis, language_model)
    return message


def to_assess_event(event: AssessEvent, *, all_roles: str = "", synthesizer: str = "") -> pb.AssessResponse:
    """Gives one event.

    `all_roles` and `synthesizer` are the identities of the language models that may be asked; empty without one.
    """
    field, convert = _EVENTS[type(event)]
    message = convert(event)
    if isinstance(event, Assessment):
        _add_usage(message, event, all_roles)
    if isinstance(event, Synthesized | Assessment) and event.synthesis is not None:
        _add_usage(message.synthesis, event.synthesis, synthesizer)
    return pb.AssessResponse(**{field: message})


def _add_usage(message: pb.Synthesis | pb.Assessment, answered: Synthesis | Assessment, identity: str) -> None:
    if usage := to_usage(answered.usage, identity):
        message.language_model.CopyFrom(usage)
