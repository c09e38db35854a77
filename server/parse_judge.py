"""Judge requests as domain types. What a caller gets wrong becomes an InvalidInputError with the field's path."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from precis.v1 import fusion_pb2
from precis.v1 import judge_pb2 as pb

from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig
from pipeline.judge.fusion import FusionForm, LogisticMapping
from pipeline.judge.locks.config import RelevanceMode
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.judge.result import Framework, MetricName
from server.enum_numbers import meaning_of

FRAMEWORKS = {
    Framework.TWIN_LOCK: pb.JUDGE_FRAMEWORK_TWIN_LOCK,
    Framework.JUDGE_LOCK: pb.JUDGE_FRAMEWORK_JUDGE_LOCK,
    Framework.ULTRA: pb.JUDGE_FRAMEWORK_ULTRA,
}
METRICS = {
    MetricName.COVERAGE: pb.JUDGE_METRIC_NAME_COVERAGE,
    MetricName.ALIGNMENT: pb.JUDGE_METRIC_NAME_ALIGNMENT,
    MetricName.HALLUCINATION: pb.JUDGE_METRIC_NAME_HALLUCINATION,
    MetricName.RELEVANCE: pb.JUDGE_METRIC_NAME_RELEVANCE,
    MetricName.BIAS_TOXICITY: pb.JUDGE_METRIC_NAME_BIAS_TOXICITY,
}
RELEVANCE_MODES = {
    RelevanceMode.CONTAINMENT: pb.RELEVANCE_MODE_CONTAINMENT,
    RelevanceMode.JACCARD: pb.RELEVANCE_MODE_JACCARD,
}
FUSION_FORMS = {
    FusionForm.NORMALIZED: fusion_pb2.FUSION_FORM_NORMALIZED,
    FusionForm.PAPER_RAW: fusion_pb2.FUSION_FORM_PAPER_RAW,
}


@dataclass(frozen=True, slots=True)
class JudgeInput:
    """One checked request.

    Attributes:
        request: what to judge.
        config: how.
        uses_language_model: False when the caller does not want one asked.
    """

    request: JudgeRequest
    config: JudgeConfig
    uses_language_model: bool

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
    return JudgeInput(wanted, defaults.with_overrides(parse_overrides(options)), uses_language_model)


def parse_frameworks(numbers: Sequence[int]) -> tuple[Framework, ...]:
    """Checks the frameworks wanted. Raises InvalidInputError for unknown ones and repeats."""
    frameworks: list[Framework] = []
    for index, number in enumerate(numbers):
        framework = meaning_of(FRAMEWORKS, number, f"frameworks[{index}]")
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
        mode = meaning_of(RELEVANCE_MODES, options.relevance_mode, "options.relevance_mode")
        overrides["lock"]["relevance_mode"] = mode
    if options.fusion_form:
        overrides["ultra"]["form"] = meaning_of(FUSION_FORMS, options.fusion_form, "options.fusion_form")
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
    return MetricToolScore(meaning_of(METRICS, score.metric, f"{field}.metric"), score.tool, score.score, mapping)
