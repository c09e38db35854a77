"""Requests for judgements, answers and assessments as domain types.

What a caller gets wrong becomes an InvalidInputError with the field's path.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from precis.v1 import fusion_pb2, synthesis_pb2
from precis.v1 import judge_pb2 as pb

from pipeline.assess.request import AssessRequest, AssessStage
from pipeline.assess.synthesis.evidence import GLOBAL, DistortionSeverity, Evidence, Finding, ToolScore
from pipeline.assess.synthesis.request import LevelAnswer, Mode, SynthesisRequest, parse_scope
from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.fusion import FusionForm, LogisticMapping
from pipeline.judge.locks.caps import RelevanceMode
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.judge.result import Framework, MetricName
from server.rpc.fields import EnumCodec, ResultView, parse_view, set_fields

FRAMEWORKS = EnumCodec(Framework, pb.JudgeFramework.DESCRIPTOR)
METRICS = EnumCodec(MetricName, pb.JudgeMetricName.DESCRIPTOR)
RELEVANCE_MODES = EnumCodec(RelevanceMode, pb.RelevanceMode.DESCRIPTOR)
STAGES = EnumCodec(AssessStage, synthesis_pb2.AssessStage.DESCRIPTOR)
FUSION_FORMS = EnumCodec(FusionForm, fusion_pb2.FusionForm.DESCRIPTOR)
MODES = EnumCodec(Mode, synthesis_pb2.SynthesisMode.DESCRIPTOR)
SEVERITIES = EnumCodec(DistortionSeverity, synthesis_pb2.DistortionSeverity.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """One checked request: what to judge, how, whether a language model may be asked, and how much to answer."""

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
    config, view = defaults.with_overrides(parse_overrides(options)), parse_view(request.view)
    return JudgeInput(wanted, config, may_ask_language_model(options), view)


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
    overrides: dict[str, dict[str, Any]] = {"evidence": {}, "lock": {}}
    if options.HasField("max_claims"):
        overrides["evidence"]["max_claims"] = options.max_claims
    if options.relevance_mode:
        mode = RELEVANCE_MODES.parse(options.relevance_mode, "options.relevance_mode")
        overrides["lock"]["relevance_mode"] = mode
    overrides["ultra"] = _parse_options(options, "eta")
    return {section: fields for section, fields in overrides.items() if fields}


def _parse_options(options: pb.JudgeOptions | synthesis_pb2.SynthesisOptions, *names: str) -> dict[str, Any]:
    """Lists the form of fusion, and the options of these names, if the caller set them. Raises InvalidInputError."""
    given = {name: value for name, value in set_fields(options).items() if name in names}
    if options.fusion_form:
        given["form"] = FUSION_FORMS.parse(options.fusion_form, "options.fusion_form")
    return given


def parse_tool_scores(scores: Sequence[pb.MetricToolScore]) -> tuple[MetricToolScore, ...]:
    """Reads the caller's tool scores; the judge checks names and ranges.

    Raises:
        InvalidInputError: an unknown metric, or a mapping with a parameter that is not finite.
    """
    return tuple(
        MetricToolScore(METRICS.parse(score.metric, f"{field}.metric"), score.tool, score.score, mapping)
        for score, field, mapping in _with_mappings(scores, "tool_scores")
    )


S = TypeVar("S", pb.MetricToolScore, synthesis_pb2.QualityToolScore)


def _with_mappings(scores: Sequence[S], field: str) -> Iterator[tuple[S, str, LogisticMapping | None]]:
    """Yields scores with their paths and logistic mappings, if any. Raises InvalidInputError."""
    for index, score in enumerate(scores):
        path = f"{field}[{index}]"
        parameters = {name: getattr(score.mapping, name) for name in ("b1", "b2", "b3", "b4", "b5")}
        for name, value in parameters.items():
            if not math.isfinite(value):
                raise InvalidInputError(f"{path}.mapping.{name}", "a finite number", f"{value:g}")
        yield score, path, LogisticMapping(**parameters) if score.HasField("mapping") else None


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
        **_parse_options(request.options, "eta"),
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
    return tuple(
        ToolScore(score.tool, score.score, score.scope or GLOBAL, score.aspect, mapping)
        for score, _, mapping in _with_mappings(scores, field)
    )


def parse_level_answer(answer: synthesis_pb2.LevelAnswer) -> LevelAnswer:
    """Reads what the caller's model said of the level."""
    match answer.WhichOneof("kind"):
        case "logits":
            return LevelAnswer(log_probabilities=set_fields(answer.logits))
        case "level":
            return LevelAnswer(level=answer.level)
    return LevelAnswer()


def may_ask_language_model(options: pb.JudgeOptions | synthesis_pb2.SynthesisOptions) -> bool:
    """Tells whether the caller lets the language model be asked."""
    return options.use_language_model if options.HasField("use_language_model") else True


def _parse_finding(finding: synthesis_pb2.DistortionFinding, field: str) -> Finding:
    severity = SEVERITIES.parse(finding.severity, f"{field}.severity")
    return Finding(finding.kind, severity, finding.explanation)


def parse_assess(request: synthesis_pb2.AssessRequest) -> AssessRequest:
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
        **_parse_options(request.options, "eta", "max_replan_iterations"),
    )
