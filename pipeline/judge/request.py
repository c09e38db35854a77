"""A request for a judgement: its fields, their limits, and the hash by which equal requests are found."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.errors import InvalidInputError
from pipeline.judge.config import JudgeConfig, JudgeLimits
from pipeline.judge.fusion import HIGHEST, LOWEST, LogisticMapping, Tool
from pipeline.judge.result import Framework, MetricName
from pipeline.protocols import ModelIdentities
from pipeline.reading.characters import check_text
from pipeline.reading.language import is_english

DEFAULT_FRAMEWORKS = (Framework.ULTRA,)
"""It agrees best with people (docs/validation.md has the figures)."""


@dataclass(frozen=True, slots=True)
class MetricToolScore:
    """What one of the caller's own tools says of one metric; Ultra fuses it with its own tools."""

    metric: MetricName
    tool: str  # its name; each once for a metric
    score: float  # in [1, 5], 5 is best, unless there is a mapping. NaN is left out, with a note.
    mapping: LogisticMapping | None = None  # brings a score of another scale to [1, 5]

    @property
    def value(self) -> float:
        """The score on the scale from 1 to 5."""
        return self.score if self.mapping is None else self.mapping(self.score)


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A summary to judge against its source."""

    source: str  # the whole article, as the caller sent it
    summary: str  # likewise
    # wanted, in any order, repeats ignored; empty for the one that agrees best with people
    frameworks: tuple[Framework, ...] = ()
    tool_scores: tuple[MetricToolScore, ...] = ()  # of the caller's own tools
    # which claims the language model reads again. None: those that its calibration names. True: all, and their
    # probabilities stay. False: none.
    second_reading: bool | None = None

    @property
    def foreign_text_ids(self) -> tuple[str, ...]:
        """The texts that are not English."""
        texts = {"source": self.source, "summary": self.summary}
        return tuple(text_id for text_id, text in texts.items() if not is_english(text))

    @property
    def wanted(self) -> tuple[Framework, ...]:
        """The frameworks in their fixed order, each once."""
        return tuple(framework for framework in Framework if framework in (self.frameworks or DEFAULT_FRAMEWORKS))


def check_request(request: JudgeRequest, limits: JudgeLimits) -> None:
    """Checks texts and tool scores; a summary may be longer than its source. Raises InvalidInputError."""
    _check_words("source", request.source, limits.max_source_chars)
    _check_words("summary", request.summary, limits.max_summary_chars)
    _check_tool_scores(request.tool_scores, limits)


def _check_words(field: str, text: str, max_chars: int) -> None:
    """Checks a text that is judged: where nothing is stated, every rule is kept and the scores would be the best."""
    check_text(field, text, max_chars)
    if not any(map(str.isalnum, text)):
        raise InvalidInputError(field, "a text with a letter or a digit", "none")


def usable_tool_scores(scores: Sequence[MetricToolScore]) -> dict[MetricName, list[Tool]]:
    """Returns checked scores in [1, 5] by metric, in their order; those that are NaN are left out."""
    usable: dict[MetricName, list[Tool]] = {}
    for one in scores:
        if not math.isnan(one.score):
            usable.setdefault(one.metric, []).append(Tool(one.tool, one.value))
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
        check_text(f"{path}.tool", one.tool, limits.max_tool_name_chars)
        if (one.metric, one.tool) in seen:
            raise InvalidInputError(f"{path}.tool", "each tool once for a metric", "one again")
        seen.add((one.metric, one.tool))
        if math.isinf(one.score):
            raise InvalidInputError(f"{path}.score", "a finite number", f"{one.score:g}")
        if not (math.isnan(one.score) or LOWEST <= one.value <= HIGHEST):
            raise InvalidInputError(f"{path}.score", "a score in [1, 5], or a mapping to it", f"{one.score:g}")


def hash_request(request: JudgeRequest, config: JudgeConfig, models: ModelIdentities, chat_model: str | None) -> str:
    """Returns the SHA-256 of request, rules and models, as 64 hexadecimal digits."""
    parts: dict[str, Any] = {
        "source": request.source,
        "summary": request.summary,
        "frameworks": request.wanted,
        "tool_scores": [asdict(score) for score in request.tool_scores],
        "second_reading": request.second_reading,
        "rules": config.rules,
        "models": asdict(models),
        "chat_model": chat_model,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
