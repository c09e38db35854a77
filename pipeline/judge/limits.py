"""Refuses what one request may not ask for, before any work is done on it."""

import math
from collections.abc import Sequence

from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeLimits
from pipeline.judge.framework import Framework
from pipeline.judge.fusion import HIGHEST, LOWEST
from pipeline.judge.metric import MetricName
from pipeline.judge.request import JudgeRequest, MetricToolScore
from pipeline.judge.ultra.levels import Tool
from pipeline.text.normalize import check_text


def check_request(request: JudgeRequest, limits: JudgeLimits) -> None:
    """Checks texts, frameworks and tool scores.

    A summary may be longer than its source: that is judged, with a note.

    Raises:
        InvalidInputError: for the first field that breaks a rule.
    """
    check_text("source", request.source, limits.max_source_chars)
    check_text("summary", request.summary, limits.max_summary_chars)
    for index, framework in enumerate(request.frameworks):
        if framework not in tuple(Framework):  # a plain string from a file or a script
            raise InvalidInputError(f"frameworks[{index}]", " or ".join(Framework), "another word")
    _check_tool_scores(request.tool_scores, limits)


def usable_tool_scores(scores: Sequence[MetricToolScore]) -> dict[MetricName, list[Tool]]:
    """Returns checked scores in [1, 5] by metric, in their order; those that are NaN are left out."""
    usable: dict[MetricName, list[Tool]] = {}
    for one in scores:
        if not math.isnan(one.score):
            usable.setdefault(one.metric, []).append(Tool(one.tool, _mapped(one)))
    return usable


def tool_score_notes(scores: Sequence[MetricToolScore]) -> tuple[str, ...]:
    """Says which scores were left out."""
    return tuple(
        f"tool_scores[{index}].score is NaN and was left out"
        for index, one in enumerate(scores)
        if math.isnan(one.score)
    )


def _check_tool_scores(scores: Sequence[MetricToolScore], limits: JudgeLimits) -> None:
    if len(scores) > limits.max_tool_scores:
        raise InvalidInputError("tool_scores", f"at most {limits.max_tool_scores} scores", f"{len(scores)} scores")
    seen: set[tuple[MetricName, str]] = set()
    for index, one in enumerate(scores):
        path = f"tool_scores[{index}]"
        if one.metric not in tuple(MetricName):
            raise InvalidInputError(f"{path}.metric", " or ".join(MetricName), "another word")
        check_text(f"{path}.tool", one.tool, limits.max_tool_name_chars)
        if (one.metric, one.tool) in seen:
            raise InvalidInputError(f"{path}.tool", "each tool once for a metric", "one again")
        seen.add((one.metric, one.tool))
        _check_score(f"{path}.score", one)


def _check_score(field: str, one: MetricToolScore) -> None:
    if math.isnan(one.score):
        return
    if math.isinf(one.score):
        raise InvalidInputError(field, "a finite number", f"{one.score:g}")
    if not LOWEST <= _mapped(one) <= HIGHEST:
        raise InvalidInputError(field, "a score in [1, 5], or a mapping to it", f"{one.score:g}")


def _mapped(one: MetricToolScore) -> float:
    return one.score if one.mapping is None else one.mapping(one.score)
