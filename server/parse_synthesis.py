"""Questions about quality as domain types. What a caller gets wrong becomes an InvalidInputError with its path."""

from collections.abc import Sequence

from precis.v1 import synthesis_pb2 as pb

from pipeline.assess.synthesis.evidence import GLOBAL, Evidence, Finding, Severity, ToolScore
from pipeline.assess.synthesis.request import LevelAnswer, Mode, SynthesisRequest, parse_scope
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm
from server.enum_numbers import meaning_of
from server.parse_judge import FUSION_FORMS, parse_mapping

MODES = {Mode.EXPLANATION: pb.SYNTHESIS_MODE_EXPLANATION, Mode.SCORING: pb.SYNTHESIS_MODE_SCORING}
SEVERITIES = {
    Severity.NONE: pb.DISTORTION_SEVERITY_NONE,
    Severity.SLIGHT: pb.DISTORTION_SEVERITY_SLIGHT,
    Severity.MODERATE: pb.DISTORTION_SEVERITY_MODERATE,
    Severity.SEVERE: pb.DISTORTION_SEVERITY_SEVERE,
    Severity.UNCERTAIN: pb.DISTORTION_SEVERITY_UNCERTAIN,
}
DEFAULT_ETA = 1.0


def parse_synthesis(request: pb.SynthesizeRequest) -> SynthesisRequest:
    """Reads a request.

    Raises:
        InvalidInputError: an unknown enum number, a scope that is none, or a part analysed twice. Texts, sizes and
            scores are left to the synthesizer.
    """
    return SynthesisRequest(
        question=request.question,
        mode=meaning_of(MODES, request.mode, "mode"),
        evidence=parse_evidence(request.evidence),
        scope=parse_quality_scope(request.scope) if request.HasField("scope") else (GLOBAL,),
        choices=tuple(request.choices),
        level_answer=parse_level_answer(request.level_answer) if request.HasField("level_answer") else None,
        images=tuple(request.images),
        context=request.context,
        eta=parse_eta(request.options),
        form=parse_form(request.options),
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
        analysis[part.scope] = tuple(
            _parse_finding(finding, f"{path}.findings[{place}]") for place, finding in enumerate(part.findings)
        )
    return Evidence(analysis, parse_quality_scores(evidence.tool_scores, "evidence.tool_scores"))


def parse_quality_scores(scores: Sequence[pb.QualityToolScore], field: str) -> tuple[ToolScore, ...]:
    """Reads tool scores. Raises InvalidInputError for a mapping that is none."""
    return tuple(_parse_score(score, f"{field}[{index}]") for index, score in enumerate(scores))


def parse_level_answer(answer: pb.LevelAnswer) -> LevelAnswer:
    """Reads what the caller's model said of the level."""
    match answer.WhichOneof("kind"):
        case "logits":
            return LevelAnswer(log_probabilities={field.name: value for field, value in answer.logits.ListFields()})
        case "level":
            return LevelAnswer(level=answer.level)
    return LevelAnswer()


def parse_eta(options: pb.SynthesisOptions) -> float:
    """Reads the width of the weights."""
    return options.eta if options.HasField("eta") else DEFAULT_ETA


def parse_form(options: pb.SynthesisOptions) -> FusionForm:
    """Reads how to fuse. Raises InvalidInputError for an unknown number."""
    if not options.fusion_form:
        return FusionForm.NORMALIZED
    return meaning_of(FUSION_FORMS, options.fusion_form, "options.fusion_form")


def may_ask_language_model(options: pb.SynthesisOptions) -> bool:
    """Tells whether the caller lets the language model be asked."""
    return options.use_language_model if options.HasField("use_language_model") else True


def _parse_finding(finding: pb.DistortionFinding, field: str) -> Finding:
    severity = meaning_of(SEVERITIES, finding.severity, f"{field}.severity")
    return Finding(finding.kind, severity, finding.explanation)


def _parse_score(score: pb.QualityToolScore, field: str) -> ToolScore:
    mapping = parse_mapping(score.mapping, f"{field}.mapping") if score.HasField("mapping") else None
    return ToolScore(score.tool, score.score, score.scope or GLOBAL, score.aspect, mapping)
