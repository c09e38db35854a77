"""An answer with everything it came from, and the needs that ask for another plan.

Needs are conservative: only clear gaps in the evidence count.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from pipeline.assess.evidence import DistortionSeverity, Evidence, Finding, ToolScore, WorstDistortion, names_kind
from pipeline.assess.request import Mode
from pipeline.judge.fusion import Fusion, LevelSource
from pipeline.llm.chat_model import LlmUsage

_SEVERE_AT_MOST, _CLEAN_AT_LEAST = 4.0, 2.0  # scores that a severe finding, and one of severity none, go with
_KEY = (DistortionSeverity.MODERATE, DistortionSeverity.SEVERE)


class ReplanReason(StrEnum):
    """What is wrong with the evidence."""

    SCOPE_NOT_COVERED = "scope_not_covered"
    NO_TOOL_SCORES = "no_tool_scores"
    CONTRADICTION = "contradiction"
    UNCERTAIN = "uncertain"
    KEY_DISTORTION_NOT_SCORED = "key_distortion_not_scored"
    DISAGREEMENT = "disagreement"


@dataclass(frozen=True, slots=True)
class ReplanNeed:
    """One gap in some parts of the scope. The message is one readable clause; it may repeat names of the caller."""

    reason: ReplanReason
    message: str
    scope: tuple[str, ...]


def replan_needs(
    scope: tuple[str, ...], evidence: Evidence, doubts: Iterable[ReplanNeed] = ()
) -> tuple[ReplanNeed, ...]:
    """Returns the gaps in the evidence for a scope, and the doubts about its answer; empty when it suffices.

    There is at most one of each kind.
    """
    kinds: dict[ReplanReason, list[ReplanNeed]] = {}
    for need in chain(_gaps(scope, evidence.within(scope)), doubts):
        kinds.setdefault(need.reason, []).append(need)
    return tuple(
        ReplanNeed(
            reason,
            "; ".join(need.message for need in needs),
            tuple(dict.fromkeys(part for need in needs for part in need.scope)),
        )
        for reason, needs in kinds.items()
    )


def _gaps(scope: tuple[str, ...], evidence: Evidence) -> Iterator[ReplanNeed]:
    findings = evidence.findings()
    if missing := tuple(part for part in scope if not evidence.distortion_analysis.get(part)):
        yield ReplanNeed(ReplanReason.SCOPE_NOT_COVERED, f"no analysis of {', '.join(missing)}", missing)
    if not evidence.tool_scores:
        yield ReplanNeed(ReplanReason.NO_TOOL_SCORES, "no tool scores", scope)
    else:
        unscored = [one for one in findings if one[1].severity in _KEY and not _is_scored(*one, evidence)]
        yield from _about(ReplanReason.KEY_DISTORTION_NOT_SCORED, "no tool score for", unscored)
    for part, finding in findings:
        others = [one for scope, one in findings if scope == part]
        for score in evidence.tool_scores:
            if score.scope == part and _contradict(finding, score, others):
                said = f"{finding.kind} in {part} is {finding.severity.value}, but {score.tool} says {score.score:.2f}"
                yield ReplanNeed(ReplanReason.CONTRADICTION, said, (part,))
    unsure = [one for one in findings if one[1].severity is DistortionSeverity.UNCERTAIN]
    yield from _about(ReplanReason.UNCERTAIN, "uncertain about", unsure)


def _about(reason: ReplanReason, words: str, findings: Sequence[tuple[str, Finding]]) -> Iterator[ReplanNeed]:
    """Yields one need about some findings, if there are any."""
    if named := ", ".join(f"{finding.kind} in {part}" for part, finding in findings):
        yield ReplanNeed(reason, f"{words} {named}", tuple(part for part, _ in findings))


def _is_scored(part: str, finding: Finding, evidence: Evidence) -> bool:
    """Tells whether a tool has measured a distortion in a part, or its quality as a whole, which includes it."""
    scores = (one for one in evidence.tool_scores if one.scope == part)
    return any(not one.aspect or names_kind(one.aspect, finding.kind) for one in scores)


def _contradict(finding: Finding, score: ToolScore, others: Sequence[Finding]) -> bool:
    """Compares a finding with a score of the same kind of distortion, or of quality as a whole.

    Quality as a whole cannot be high with one severe distortion, but it can be low without this one.
    """
    is_about_it = names_kind(score.aspect, finding.kind)
    if finding.severity is DistortionSeverity.SEVERE:
        return (is_about_it or not score.aspect) and score.score > _SEVERE_AT_MOST
    is_clean = all(one.severity is DistortionSeverity.NONE for one in others)
    is_named = is_about_it or (is_clean and not score.aspect)
    return finding.severity is DistortionSeverity.NONE and is_named and score.score < _CLEAN_AT_LEAST


DETERMINISTIC = "deterministic"
"""The author of an answer that no language model wrote."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """An answer with everything it came from."""

    final_answer: str  # letter of a choice, letter of the level, or an open answer; never empty
    quality_reasoning: str  # why, from the evidence; never empty
    mode: Mode
    fusion: Fusion | None  # how the score came about; None when there was nothing to fuse
    # stands in place of the tools' mean; None where that is not too good, or taken as printed
    worst_distortion: WorstDistortion | None
    level_source: LevelSource  # where the level probabilities come from
    # the gaps in the evidence, also those of a degraded answer, which asks for nothing
    replan_needs: tuple[ReplanNeed, ...]
    used_evidence: Evidence
    author: str  # "deterministic", or the identity of the chat model
    attempt_count: int  # answers that the language model was asked for, each with one request; 0 without one
    usage: LlmUsage  # what they cost
    notes: tuple[str, ...]
    error: str | None = None  # why there is no proper answer; never the caller's text
    degraded: bool = False  # whether a fallback stands in place of the language model's answer

    @property
    def need_replan(self) -> bool:
        """Whether the evidence does not suffice."""
        return bool(self.replan_needs) and not self.degraded

    @property
    def replan_reason(self) -> str | None:
        """What is missing; None without `need_replan`."""
        return "; ".join(need.message for need in self.replan_needs) if self.need_replan else None
