"""What an executor found and what tools measured: all that an answer may rest on, and its JSON for prompts."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pipeline.judge.fusion import LogisticMapping
from pipeline.judge.result import MetricName
from pipeline.reading.word_table import WordTable, stem

GLOBAL = "Global"
"""The scope of a question about the whole text or image."""


class DistortionSeverity(StrEnum):
    """How bad a distortion is. UNCERTAIN: the executor cannot tell."""

    NONE = "none"
    SLIGHT = "slight"
    MODERATE = "moderate"
    SEVERE = "severe"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or was looked for and is not there."""

    kind: str  # of distortion, for example "Blurs" or "hallucination"
    severity: DistortionSeverity
    explanation: str = ""  # what can be seen; may be empty


@dataclass(frozen=True, slots=True)
class ToolScore:
    """One score of one tool."""

    tool: str
    score: float  # in [1, 5], 5 is best, unless there is a mapping; NaN is left out with a note
    scope: str = GLOBAL  # what was measured: "Global", or an object
    aspect: str = ""  # the kind of distortion that it measures; empty for quality as a whole
    mapping: LogisticMapping | None = None  # from the tool's own scale to [1, 5]


@dataclass(frozen=True, slots=True)
class WorstDistortion:
    """The distortion that decides: quality as a whole is taken to be no better, whatever the mean of all tools."""

    scope: str  # the part that has it
    kind: str  # empty for quality as a whole
    score: float  # mean of the tools that measure it there, in [1, 5]


_METRICS = frozenset(name.value for name in MetricName)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything an executor found. A part of the scope whose findings are missing, None or empty is not covered."""

    distortion_analysis: Mapping[str, tuple[Finding, ...] | None] = field(default_factory=dict)
    tool_scores: tuple[ToolScore, ...] = ()

    def within(self, scope: Collection[str]) -> "Evidence":
        """Returns the findings and scores of some parts."""
        analysis = {part: found for part, found in self.distortion_analysis.items() if part in scope}
        return Evidence(analysis, tuple(score for score in self.tool_scores if score.scope in scope))

    def findings(self) -> list[tuple[str, Finding]]:
        """Returns the findings with the parts that they are about."""
        return [(part, one) for part, found in self.distortion_analysis.items() for one in found or ()]

    def scores_by_kind(self) -> dict[tuple[str, str], tuple[ToolScore, ...]]:
        """Returns the scores by part and kind of distortion, empty for quality as a whole."""
        found: dict[tuple[str, str], tuple[ToolScore, ...]] = {}
        for score in self.tool_scores:
            key = score.scope, score.aspect
            found[key] = (*found.get(key, ()), score)
        return found

    def worst_distortion(self) -> WorstDistortion | None:
        """Returns the distortion with the lowest score; None unless that is below the mean of all scores.

        An image is no better for the noise that it does not have. A metric of texts is no distortion in this sense:
        people rate a summary as the mean of its metrics.
        """
        by_kind = self.scores_by_kind().items()
        means = {(part, kind): mean_score(scores) for (part, kind), scores in by_kind if kind not in _METRICS}
        if not means:
            return None
        part, kind = min(means, key=means.__getitem__)
        score = means[part, kind]
        return WorstDistortion(part, kind, score) if score < mean_score(self.tool_scores) else None

    def only(self, ids: Iterable[str]) -> "Evidence":
        """Returns the items with these ids (see `items`), in their order."""
        found = [one for name, one in self.items().items() if name in set(ids)]
        analysis: dict[str, tuple[Finding, ...]] = {}
        for part, content in found:
            if isinstance(content, Finding):
                analysis[part] = (*analysis.get(part, ()), content)
        return Evidence(analysis, tuple(content for _, content in found if isinstance(content, ToolScore)))

    def items(self) -> dict[str, tuple[str, Finding | ToolScore]]:
        """Returns findings and scores with their parts, by the ids of answers: D1, D2, ..., T1, T2, ..."""
        found: list[tuple[str, Finding | ToolScore]] = list(self.findings())
        return {
            **{f"D{number}": one for number, one in enumerate(found, start=1)},
            **{f"T{number}": (one.scope, one) for number, one in enumerate(self.tool_scores, start=1)},
        }


def mean_score(scores: Sequence[ToolScore]) -> float:
    """Returns the mean of at least one score."""
    return math.fsum(one.score for one in scores) / len(scores)


def evidence_json(evidence: Evidence, *, explanation_chars: int | None = None) -> str:
    """Returns findings and scores with their ids, grouped by part of the scope.

    A longer explanation than `explanation_chars` is cut there; None keeps all.
    """
    analysis: dict[str, list[dict[str, object]]] = {}
    scores: dict[str, list[dict[str, object]]] = {}
    for name, (part, content) in evidence.items().items():
        target = analysis if isinstance(content, Finding) else scores
        target.setdefault(part, []).append({"id": name, **_entry(content, explanation_chars)})
    value = {"distortion_analysis": analysis, "quality_scores": scores}
    return json.dumps(value, ensure_ascii=False, indent=1)


def _entry(content: Finding | ToolScore, explanation_chars: int | None) -> dict[str, object]:
    if isinstance(content, ToolScore):
        about = {"aspect": content.aspect} if content.aspect else {}
        return {"tool": content.tool, **about, "score": round(content.score, 4)}
    explanation = content.explanation[:explanation_chars]
    said = {"explanation": explanation} if explanation else {}
    return {"type": content.kind, "severity": content.severity.value, **said}


_SHORTEST_STEM = 4  # letters


def names_kind(text: str, kind: str) -> bool:
    """Tells whether a text has a word of a kind, or one that differs from it in its ending: "blurry", "blurs"."""
    stems, wanted = ({stem(word) for word in words_of(one)} for one in (text, kind))
    said, telling = ([one for one in some if len(one) >= _SHORTEST_STEM] for some in (stems, wanted))
    if not telling:  # else not the "of" of "loss of detail"
        return not stems.isdisjoint(wanted)
    return any(one.startswith(other) or other.startswith(one) for one in said for other in telling)


def words_of(text: str) -> list[str]:
    """Returns the words of a text in small letters; "bias_toxicity" is two."""
    return WordTable.of(text.replace("_", " ")).words
