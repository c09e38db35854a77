"""Judge requests as domain types. What a caller gets wrong becomes an InvalidInputError with the field's path.

Questions about quality as domain types. What a caller gets wrong becomes an InvalidInputError with its path.

Requests for an assessment as domain types. What a caller gets wrong becomes an InvalidInputError with its path.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from precis.v1 import fusion_pb2, synthesis_pb2
from precis.v1 import judge_pb2 as pb

from pipeline.assess.request import AssessRequest
from pipeline.assess.synthesis.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.assess.synthesis.request import LevelAnswer, Mode, SynthesisRequest, parse_scope
from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.fusion import FusionForm, LogisticMapping
from pipeline.judge.locks.caps import RelevanceMode
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.judge.result import Framework, MetricName
from server.rpc.fields import EnumCodec, ResultView, parse_view

FRAMEWORKS = EnumCodec(Framework, pb.JudgeFramework.DESCRIPTOR)
METRICS = EnumCodec(MetricName, pb.JudgeMetricName.DESCRIPTOR)
RELEVANCE_MODES = EnumCodec(RelevanceMode, pb.RelevanceMode.DESCRIPTOR)
FUSION_FORMS = EnumCodec(FusionForm, fusion_pb2.FusionForm.DESCRIPTOR)
MODES = EnumCodec(Mode, synthesis_pb2.SynthesisMode.DESCRIPTOR)
SEVERITIES = EnumCodec(DistortionSeverity, synthesis_pb2.DistortionSeverity.DESCRIPTOR)
DEFAULT_ETA = 1.0
DEFAULT_MAX_REPLAN_ITERATIONS = 2


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """One checked request.

    Attributes:
        request: what to judge.
        config: how.
        uses_language_model: False when the caller does not want one asked.
        view: how much of the judgement to answer.
    """

    request: JudgeRequest
    config: JudgeConfig
    uses_language_model: bool
    view: ResultView

    @property
    def char_count(self) -> int:
        """Characters of both texts: how much CPU work there is."""
        return len(self.request.source) + len(self.request.summary)


def parse_judge(request: pb.JudgeRequest | pb.JudgeStreamRequest, defaults: JudgeConfig) -> JudgeInput:
    """Checks a request and fills in the server's defaults.

    Raises:
        InvalidInputError: the first field that breaks its rule. Texts and scores are left to the judge.
    """
    options = request.options
    wanted = JudgeRequest(
        source=request.source,
        summary=request.summary,
        frameworks=parse_frameworks(request.frameworks),
        tool_scores=parse_tool_scores(request.tool_scores),
    )
    uses_language_model = options.use_language_model if options.HasField("use_language_model") else True
    config, view = defaults.with_overrides(parse_overrides(options)), parse_view(request.view)
    return JudgeInput(wanted, config, uses_language_model, view)


def parse_frameworks(numbers: Sequence[int]) -> tuple[Framework, ...]:
    """Checks the frameworks wanted. Raises InvalidInputError for unknown ones and repeats."""
    frameworks: list[Framework] = []
    for index, number in enumerate(numbers):
        framework = FRAMEWORKS.parse(number, f"frameworks[{index}]")
        if framework in frameworks:
            raise InvalidInputError(f"frameworks[{index}]", "each framework once", f"{framework} again")
        frameworks.append(framework)
    return tuple(frameworks)


def parse_overrides(options: pb.JudgeOptions) -> dict[str, Any]:
    """Lists the options that the caller set, by section of JudgeConfig. Raises InvalidInputError."""
    overrides: dict[str, dict[str, Any]] = {"evidence": {}, "lock": {}, "ultra": {}}
    if options.window_sentences:
        overrides["evidence"]["window_sentences"] = tuple(options.window_sentences)
    if options.relevance_mode:
        mode = RELEVANCE_MODES.parse(options.relevance_mode, "options.relevance_mode")
        overrides["lock"]["relevance_mode"] = mode
    if options.fusion_form:
        overrides["ultra"]["form"] = FUSION_FORMS.parse(options.fusion_form, "options.fusion_form")
    if options.HasField("eta"):
        overrides["ultra"]["eta"] = options.eta
    return {section: fields for section, fields in overrides.items() if fields}


def parse_tool_scores(scores: Sequence[pb.MetricToolScore]) -> tuple[MetricToolScore, ...]:
    """Reads the caller's tool scores; the judge checks names and ranges.

    Raises:
        InvalidInputError: an unknown metric, or a mapping with a parameter that is not finite.
    """
    return tuple(_parse_tool_score(score, f"tool_scores[{index}]") for index, score in enumerate(scores))


def parse_mapping(mapping: fusion_pb2.LogisticMapping, field: str) -> LogisticMapping:
    """Reads a logistic mapping. Raises InvalidInputError for a parameter that is not finite."""
    parameters = {name: getattr(mapping, name) for name in ("b1", "b2", "b3", "b4", "b5")}
    for name, value in parameters.items():
        if not math.isfinite(value):
            raise InvalidInputError(f"{field}.{name}", "a finite number", f"{value:g}")
    return LogisticMapping(**parameters)


def _parse_tool_score(score: pb.MetricToolScore, field: str) -> MetricToolScore:
    mapping = parse_mapping(score.mapping, f"{field}.mapping") if score.HasField("mapping") else None
    return MetricToolScore(METRICS.parse(score.metric, f"{field}.metric"), score.tool, score.score, mapping)


def parse_synthesis(request: synthesis_pb2.SynthesizeRequest) -> SynthesisRequest:
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
        eta=parse_eta(request.options),
        form=parse_form(request.options),
    )


def parse_quality_scope(scope: synthesis_pb2.QualityScope) -> tuple[str, ...]:
    """Reads a scope. Raises InvalidInputError unless it is "Global" or a list of names."""
    return parse_scope(list(scope.objects.names) if scope.WhichOneof("kind") == "objects" else scope.name)


def parse_evidence(evidence: synthesis_pb2.QualityEvidence) -> Evidence:
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


def parse_quality_scores(scores: Sequence[synthesis_pb2.QualityToolScore], field: str) -> tuple[ToolScore, ...]:
    """Reads tool scores. Raises InvalidInputError for a mapping that is none."""
    return tuple(_parse_score(score, f"{field}[{index}]") for index, score in enumerate(scores))


def parse_level_answer(answer: synthesis_pb2.LevelAnswer) -> LevelAnswer:
    """Reads what the caller's model said of the level."""
    match answer.WhichOneof("kind"):
        case "logits":
            return LevelAnswer(log_probabilities={field.name: value for field, value in answer.logits.ListFields()})
        case "level":
            return LevelAnswer(level=answer.level)
    return LevelAnswer()


def parse_eta(options: synthesis_pb2.SynthesisOptions) -> float:
    """Reads the width of the weights."""
    return options.eta if options.HasField("eta") else DEFAULT_ETA


def parse_form(options: synthesis_pb2.SynthesisOptions) -> FusionForm:
    """Reads how to fuse. Raises InvalidInputError for an unknown number."""
    if not options.fusion_form:
        return FusionForm.NORMALIZED
    return FUSION_FORMS.parse(options.fusion_form, "options.fusion_form")


def may_ask_language_model(options: synthesis_pb2.SynthesisOptions) -> bool:
    """Tells whether the caller lets the language model be asked."""
    return options.use_language_model if options.HasField("use_language_model") else True


def _parse_finding(finding: synthesis_pb2.DistortionFinding, field: str) -> Finding:
    severity = SEVERITIES.parse(finding.severity, f"{field}.severity")
    return Finding(finding.kind, severity, finding.explanation)


def _parse_score(score: synthesis_pb2.QualityToolScore, field: str) -> ToolScore:
    mapping = parse_mapping(score.mapping, f"{field}.mapping") if score.HasField("mapping") else None
    return ToolScore(score.tool, score.score, score.scope or GLOBAL, score.aspect, mapping)


def parse_assess(request: synthesis_pb2.AssessRequest) -> AssessRequest:
    """Reads a request.

    Raises:
        InvalidInputError: an unknown enum number, a scope that is none, or a mapping that is none. Texts, images,
            sizes and scores are left to the assessor.
    """
    options = request.options
    has_limit = options.HasField("max_replan_iterations")
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
        eta=parse_eta(options),
        form=parse_form(options),
        max_replan_iterations=options.max_replan_iterations if has_limit else DEFAULT_MAX_REPLAN_ITERATIONS,
    )
