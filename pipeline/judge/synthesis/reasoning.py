"""Says in words what evidence and fusion say in numbers. No model: equal evidence, equal words."""

import math

from pipeline.judge.fusion import HIGHEST, Fusion
from pipeline.judge.synthesis.evidence import Evidence, Finding, Severity, ToolScore

_ORDER = (Severity.NONE, Severity.UNCERTAIN, Severity.SLIGHT, Severity.MODERATE, Severity.SEVERE)
_MAX_FINDINGS = 5
_MAX_SCORES = 8


def describe(scope: tuple[str, ...], evidence: Evidence, fusion: Fusion | None) -> str:
    """Returns sentences on the level, the worst findings and the tool scores; never empty."""
    sentences = [_level(fusion)] if fusion is not None else []
    sentences += _found(scope, evidence, with_explanations=True)
    if evidence.tool_scores:
        shown = ", ".join(_score(one) for one in evidence.tool_scores[:_MAX_SCORES])
        more = len(evidence.tool_scores) - _MAX_SCORES
        sentences.append(f"Tools, from 1 to 5: {shown}{f', and {more} more' if more > 0 else ''}.")
    return " ".join(sentences) or "There is no evidence to answer from."


def answer_in_short(scope: tuple[str, ...], evidence: Evidence, fusion: Fusion | None) -> str:
    """Returns one or two sentences: what is wrong, and the level; empty when there is nothing to say."""
    level = [f"Over all, quality is {fusion.level.name.lower()}: {fusion.q:.1f} of 5."] if fusion is not None else []
    return " ".join((*_found(scope, evidence, with_explanations=False), *level))


def worst_findings(scope: tuple[str, ...], evidence: Evidence) -> list[tuple[str, Finding]]:
    """Returns the findings about the scope with their parts, the worst first: by severity, then by measured scores."""
    found = [
        (part, finding)
        for part, findings in evidence.distortion_analysis.items()
        if part in scope
        for finding in findings or ()
    ]
    return sorted(found, key=lambda pair: badness(pair[0], pair[1], evidence), reverse=True)


def badness(part: str, finding: Finding, evidence: Evidence) -> tuple[int, float]:
    """Returns what findings are compared by: severity, then how low the tools score the same in the same part."""
    scores = [
        one.score
        for one in evidence.tool_scores
        if one.scope == part and one.aspect.casefold() == finding.kind.casefold()
    ]
    mean = math.fsum(scores) / len(scores) if scores else HIGHEST
    return _ORDER.index(finding.severity), HIGHEST - mean


def _found(scope: tuple[str, ...], evidence: Evidence, *, with_explanations: bool) -> list[str]:
    worst = worst_findings(scope, evidence)
    if wrong := [pair for pair in worst if pair[1].severity is not Severity.NONE]:
        said = "; ".join(_finding(*pair, with_explanation=with_explanations) for pair in wrong[:_MAX_FINDINGS])
        more = len(wrong) - _MAX_FINDINGS
        return [f"Found: {said}{f'; and {more} more' if more > 0 else ''}."]
    parts = ", ".join(dict.fromkeys(part for part, _ in worst))
    return [f"Nothing wrong was found in {parts}."] if parts else []


def _level(fusion: Fusion) -> str:
    level = f"{fusion.level.letter}, {fusion.level.name.capitalize()}"
    if fusion.q_bar is None:
        return f"The level probabilities give {fusion.q:.2f} of 5: level {level}."
    if fusion.agreement is None:
        return f"The tools give {fusion.q:.2f} of 5 on average: level {level}."
    return (
        f"The tools' mean of {fusion.q_bar:.2f} fused with the level probabilities gives {fusion.q:.2f}: level {level}."
    )


def _finding(part: str, finding: Finding, *, with_explanation: bool) -> str:
    explained = with_explanation and finding.explanation.strip()
    explanation = f" ({finding.explanation.strip().rstrip('.')})" if explained else ""
    return f"{finding.kind} in {part}: {finding.severity.value}{explanation}"


def _score(score: ToolScore) -> str:
    about = " ".join(filter(None, [score.aspect, f"in {score.scope}"]))
    return f"{score.tool} {score.score:.2f} ({about})"
