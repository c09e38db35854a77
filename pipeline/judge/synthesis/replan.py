"""When evidence does not suffice. Conservative: only clear gaps ask for another plan (SCORING, section 4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pipeline.judge.synthesis.config import SynthesisConfig
from pipeline.judge.synthesis.evidence import Evidence, Finding, Severity, ToolScore


class ReplanReason(StrEnum):
    """What is wrong with the evidence."""

    SCOPE_NOT_COVERED = "scope_not_covered"
    NO_TOOL_SCORES = "no_tool_scores"
    CONTRADICTION = "contradiction"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class ReplanNeed:
    """One gap.

    Attributes:
        reason: of what kind.
        message: what is missing, one readable clause; may repeat names of the caller.
        parts: of the scope that it is about.
    """

    reason: ReplanReason
    message: str
    parts: tuple[str, ...]


def replan_needs(scope: tuple[str, ...], evidence: Evidence, config: SynthesisConfig) -> tuple[ReplanNeed, ...]:
    """Returns the gaps in the evidence for a scope, at most one of each kind; empty when it suffices."""
    return tuple(_needs(scope, evidence, config))


def _needs(scope: tuple[str, ...], evidence: Evidence, config: SynthesisConfig) -> Iterator[ReplanNeed]:
    if missing := tuple(part for part in scope if not evidence.covers(part)):
        yield ReplanNeed(ReplanReason.SCOPE_NOT_COVERED, f"no analysis of {', '.join(missing)}", missing)
    if not evidence.tool_scores:
        yield ReplanNeed(ReplanReason.NO_TOOL_SCORES, "no tool scores", scope)
    if contradictions := list(_contradictions(evidence, config)):
        parts = tuple(dict.fromkeys(part for part, _ in contradictions))
        yield ReplanNeed(ReplanReason.CONTRADICTION, "; ".join(said for _, said in contradictions), parts)
    unsure = [
        (part, finding.kind)
        for part, findings in evidence.distortion_analysis.items()
        for finding in findings or ()
        if finding.severity is Severity.UNCERTAIN
    ]
    if unsure:
        message = "uncertain about " + ", ".join(f"{kind} in {part}" for part, kind in unsure)
        yield ReplanNeed(ReplanReason.UNCERTAIN, message, tuple(dict.fromkeys(part for part, _ in unsure)))


def _contradictions(evidence: Evidence, config: SynthesisConfig) -> Iterator[tuple[str, str]]:
    for part, found in evidence.distortion_analysis.items():
        findings = found or ()
        is_clean = all(finding.severity is Severity.NONE for finding in findings)
        for finding in findings:
            for score in evidence.tool_scores:
                if score.scope == part and _contradict(finding, score, config, is_clean=is_clean):
                    severity = finding.severity.value
                    yield part, f"{finding.kind} in {part} is {severity}, but {score.tool} says {score.score:.2f}"


def _contradict(finding: Finding, score: ToolScore, config: SynthesisConfig, *, is_clean: bool) -> bool:
    """Compares a finding with a score of the same kind of distortion, or of quality as a whole.

    Quality as a whole cannot be high with one severe distortion, but it can be low without this one.
    """
    is_same_kind = finding.kind.casefold() == score.aspect.casefold()
    if finding.severity is Severity.SEVERE:
        return (is_same_kind or not score.aspect) and score.score > config.contradiction_high
    if finding.severity is Severity.NONE:
        return (is_same_kind or (is_clean and not score.aspect)) and score.score < config.contradiction_low
    return False
