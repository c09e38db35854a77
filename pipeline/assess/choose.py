"""Answers from the evidence in words, or with one of several choices, without a language model."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

from pipeline.assess.evidence import (
    DistortionSeverity,
    Evidence,
    Finding,
    ToolScore,
    WorstDistortion,
    mean_score,
    names_kind,
)
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import HIGHEST, Fusion, Level, parse_level
from pipeline.reading.words import fold_case

T = TypeVar("T")


def choose(question: str, choices: Sequence[str], evidence: Evidence, fusion: Fusion | None) -> int | None:
    """Returns the index of the choice that the evidence names; None when it names none, or several alike.

    Quality levels are decided by the fused level, severities by the finding that the question names. All other choices
    are decided by the worst finding that they name.
    """
    if fusion is not None and (index := _only(choices, lambda text: _is_level(text, fusion.level))) is not None:
        return index
    found = worst_findings(evidence)
    if all(_severity(choice) for choice in choices):
        asked = next((one for _, one in found if names_kind(question, one.kind)), None)
        return None if asked is None else _only(choices, lambda text: _severity(text) is asked.severity)
    wrong = [(part, one) for part, one in found if one.severity is not DistortionSeverity.NONE]
    for _, same in groupby(wrong, key=lambda pair: badness(pair[0], pair[1], evidence)):
        kinds = [one.kind for _, one in same]
        named = [any(names_kind(choice, kind) for kind in kinds) for choice in choices]
        if any(named):
            return _only(named, bool)
    return None


def _only(items: Sequence[T], is_it: Callable[[T], bool]) -> int | None:
    found = [index for index, item in enumerate(items) if is_it(item)]
    return found[0] if len(found) == 1 else None


def _is_level(text: str, level: Level) -> bool:
    try:
        return len(text.strip()) > 1 and parse_level(text.strip(" .")) is level
    except InvalidInputError:
        return False


def _severity(text: str) -> DistortionSeverity | None:
    return next((one for one in DistortionSeverity if one.value == fold_case(text.strip(" ."))), None)


_ORDER = (
    DistortionSeverity.NONE,
    DistortionSeverity.UNCERTAIN,
    DistortionSeverity.SLIGHT,
    DistortionSeverity.MODERATE,
    DistortionSeverity.SEVERE,
)
_MAX_FINDINGS = 5
_MAX_SCORES = 8


def describe(evidence: Evidence, fusion: Fusion | None, worst: WorstDistortion | None) -> str:
    """Returns sentences on the level, the worst findings and the tool scores; never empty."""
    sentences = [_level(fusion, worst)] if fusion is not None else []
    sentences += _found(evidence, with_explanations=True)
    if evidence.tool_scores:
        shown = ", ".join(_score(one) for one in evidence.tool_scores[:_MAX_SCORES])
        more = len(evidence.tool_scores) - _MAX_SCORES
        sentences.append(f"Tools, from 1 to 5: {shown}{f', and {more} more' if more > 0 else ''}.")
    return " ".join(sentences) or "There is no evidence to answer from."


def answer_in_short(evidence: Evidence, fusion: Fusion | None) -> str:
    """Returns one or two sentences: what is wrong, and the level; empty when there is nothing to say."""
    level = (
        [f"Over all, quality is {fusion.level.name.lower()}: {fusion.score:.1f} of 5."] if fusion is not None else []
    )
    return " ".join((*_found(evidence, with_explanations=False), *level))


def worst_findings(evidence: Evidence) -> list[tuple[str, Finding]]:
    """Returns the findings with their parts, the worst first: by severity, then by measured scores."""
    return sorted(evidence.findings(), key=lambda pair: badness(pair[0], pair[1], evidence), reverse=True)


def badness(part: str, finding: Finding, evidence: Evidence) -> tuple[int, float]:
    """Returns what findings are compared by: severity, then how low the tools score the same in the same part."""
    scores = [
        one for one in evidence.tool_scores if one.scope == part and fold_case(one.aspect) == fold_case(finding.kind)
    ]
    mean = mean_score(scores) if scores else HIGHEST
    return _ORDER.index(finding.severity), HIGHEST - mean


def _found(evidence: Evidence, *, with_explanations: bool) -> list[str]:
    worst = worst_findings(evidence)
    if wrong := [pair for pair in worst if pair[1].severity is not DistortionSeverity.NONE]:
        said = "; ".join(_finding(*pair, with_explanation=with_explanations) for pair in wrong[:_MAX_FINDINGS])
        more = len(wrong) - _MAX_FINDINGS
        return [f"Found: {said}{f'; and {more} more' if more > 0 else ''}."]
    parts = ", ".join(dict.fromkeys(part for part, _ in worst))
    return [f"Nothing wrong was found in {parts}."] if parts else []


def _level(fusion: Fusion, worst: WorstDistortion | None) -> str:
    level = f"level {fusion.level.letter}, {fusion.level.name.capitalize()}"
    if fusion.tool_mean is None:
        return f"The level probabilities give {fusion.score:.2f} of 5: {level}."
    told = f"The tools' mean of {fusion.tool_mean:.2f}"
    if worst is not None:
        named = f"{worst.kind or 'quality'} in {worst.scope}"
        told = f"The worst distortion, {named}, stands in place of a mean of {fusion.tool_mean:.2f}: {worst.score:.2f}"
    elif fusion.agreement is None:
        return f"The tools give {fusion.score:.2f} of 5 on average: {level}."
    if fusion.agreement is not None:
        told = f"{told} fused with the level probabilities gives {fusion.score:.2f}"
    return f"{told}: {level}."


def _finding(part: str, finding: Finding, *, with_explanation: bool) -> str:
    explained = with_explanation and finding.explanation.strip()
    explanation = f" ({finding.explanation.strip().rstrip('.')})" if explained else ""
    return f"{finding.kind} in {part}: {finding.severity.value}{explanation}"


def _score(score: ToolScore) -> str:
    about = " ".join(filter(None, [score.aspect, f"in {score.scope}"]))
    return f"{score.tool} {score.score:.2f} ({about})"
