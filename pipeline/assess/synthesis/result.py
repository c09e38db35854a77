"""What comes out of a synthesis.

When evidence does not suffice. Conservative: only clear gaps ask for another plan (README, Replanning).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from pipeline.assess.synthesis.config import SynthesisConfig
from pipeline.assess.synthesis.evidence import DistortionSeverity, Evidence, Finding, ToolScore, names_kind
from pipeline.assess.synthesis.request import Mode
from pipeline.frozen import FrozenModel
from pipeline.judge.fusion import Fusion, Level
from pipeline.judge.ultra.levels import LevelSource
from pipeline.llm.chat_model import LlmUsage


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


def replan_needs(scope: tuple[str, ...], evidence: Evidence, config: SynthesisConfig) -> tuple[ReplanNeed, ...]:
    """Returns the gaps in the evidence for a scope, at most one of each kind; empty when it suffices."""
    return tuple(_needs(scope, evidence.within(scope), config))


@dataclass(frozen=True, slots=True)
class ImageOpinion:
    """What a model said of images that it saw itself.

    Attributes:
        level: that it named; None unless in scoring mode.
        is_unsure: whether it wants more evidence.
    """

    level: Level | None
    is_unsure: bool


def doubts(
    scope: tuple[str, ...], fusion: Fusion | None, opinion: ImageOpinion | None, config: SynthesisConfig
) -> tuple[ReplanNeed, ...]:
    """Returns what speaks against an answer; `opinion` is None unless a model saw images."""
    return tuple(ReplanNeed(reason, said, scope) for reason, said in _doubts(fusion, opinion, config))


def _doubts(
    fusion: Fusion | None, opinion: ImageOpinion | None, config: SynthesisConfig
) -> Iterator[tuple[ReplanReason, str]]:
    mean = None if fusion is None else fusion.tool_mean
    level = None if opinion is None else opinion.level
    if mean is not None and level is not None and abs(level - mean) > config.contradiction_levels:
        yield ReplanReason.CONTRADICTION, f"the answer {level.letter} contradicts the tools' mean of {mean:.2f}"
    if opinion is not None and opinion.is_unsure:
        yield ReplanReason.UNCERTAIN, "the answer is unsure"
    agreement = None if fusion is None else fusion.agreement
    if agreement is not None and agreement < config.least_agreement:
        yield ReplanReason.DISAGREEMENT, f"tools and level probabilities hardly agree ({agreement:.2f})"


def merged(needs: Iterable[ReplanNeed]) -> tuple[ReplanNeed, ...]:
    """Returns needs with those of the same kind as one."""
    kinds: dict[ReplanReason, ReplanNeed] = {}
    for one in needs:
        old = kinds.get(one.reason, ReplanNeed(one.reason, "", ()))
        message = "; ".join(filter(None, (old.message, one.message)))
        kinds[one.reason] = ReplanNeed(one.reason, message, tuple(dict.fromkeys((*old.scope, *one.scope))))
    return tuple(kinds.values())


def _needs(scope: tuple[str, ...], evidence: Evidence, config: SynthesisConfig) -> Iterator[ReplanNeed]:
    if missing := tuple(part for part in scope if not evidence.covers(part)):
        yield ReplanNeed(ReplanReason.SCOPE_NOT_COVERED, f"no analysis of {', '.join(missing)}", missing)
    if not evidence.tool_scores:
        yield ReplanNeed(ReplanReason.NO_TOOL_SCORES, "no tool scores", scope)
    elif unscored := [
        (part, kind) for part, kind in _key_distortions(evidence) if not _is_scored(part, kind, evidence)
    ]:
        message = "no tool score for " + ", ".join(f"{kind} in {part}" for part, kind in unscored)
        parts = tuple(dict.fromkeys(part for part, _ in unscored))
        yield ReplanNeed(ReplanReason.KEY_DISTORTION_NOT_SCORED, message, parts)
    if contradictions := list(_contradictions(evidence, config)):
        parts = tuple(dict.fromkeys(part for part, _ in contradictions))
        yield ReplanNeed(ReplanReason.CONTRADICTION, "; ".join(said for _, said in contradictions), parts)
    unsure = [
        (part, finding.kind)
        for part, findings in evidence.distortion_analysis.items()
        for finding in findings or ()
        if finding.severity is DistortionSeverity.UNCERTAIN
    ]
    if unsure:
        message = "uncertain about " + ", ".join(f"{kind} in {part}" for part, kind in unsure)
        yield ReplanNeed(ReplanReason.UNCERTAIN, message, tuple(dict.fromkeys(part for part, _ in unsure)))


def _key_distortions(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yields part and kind of every finding that is moderate or worse."""
    for part, findings in evidence.distortion_analysis.items():
        for finding in findings or ():
            if finding.severity in {DistortionSeverity.MODERATE, DistortionSeverity.SEVERE}:
                yield part, finding.kind


def _is_scored(part: str, kind: str, evidence: Evidence) -> bool:
    """Tells whether a tool has measured a distortion in a part, or its quality as a whole, which includes it."""
    return any(one.scope == part and (not one.aspect or names_kind(one.aspect, kind)) for one in evidence.tool_scores)


def _contradictions(evidence: Evidence, config: SynthesisConfig) -> Iterator[tuple[str, str]]:
    for part, found in evidence.distortion_analysis.items():
        findings = found or ()
        is_clean = all(finding.severity is DistortionSeverity.NONE for finding in findings)
        for finding in findings:
            for score in evidence.tool_scores:
                if score.scope == part and _contradict(finding, score, config, is_clean=is_clean):
                    severity = finding.severity.value
                    yield part, f"{finding.kind} in {part} is {severity}, but {score.tool} says {score.score:.2f}"


def _contradict(finding: Finding, score: ToolScore, config: SynthesisConfig, *, is_clean: bool) -> bool:
    """Compares a finding with a score of the same kind of distortion, or of quality as a whole.

    Quality as a whole cannot be high with one severe distortion, but it can be low without this one.
    """
    is_same_kind = names_kind(score.aspect, finding.kind)
    if finding.severity is DistortionSeverity.SEVERE:
        return (is_same_kind or not score.aspect) and score.score > config.contradiction_high
    if finding.severity is DistortionSeverity.NONE:
        return (is_same_kind or (is_clean and not score.aspect)) and score.score < config.contradiction_low
    return False


DETERMINISTIC = "deterministic"
"""The author of an answer that no language model wrote."""


class SummarizerOutput(FrozenModel):
    """The answer (README, Answers). Its fields cannot contradict each other."""

    final_answer: str = Field(min_length=1, description="Letter of a choice, letter of the level, or an open answer.")
    quality_reasoning: str = Field(min_length=1, description="Why, from the evidence.")
    need_replan: bool = Field(default=False, description="Whether the evidence does not suffice.")
    replan_reason: str | None = Field(default=None, description="What is missing; None without need_replan.")
    used_evidence: tuple[str, ...] = Field(default=(), description="Ids of the evidence that the answer rests on.")
    error: str | None = Field(default=None, description="Why there is no proper answer; never the caller's text.")
    degraded: bool = Field(default=False, description="A fallback stands in place of the language model's answer.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.need_replan != bool(self.replan_reason):
            raise ValueError("expected a replan_reason with need_replan, and none without")
        if self.degraded and (self.need_replan or self.error is None):
            raise ValueError("expected a degraded answer to say why, and not to ask for replanning")
        return self


@dataclass(frozen=True, slots=True)
class Synthesis:
    """An answer with everything it came from.

    Attributes:
        fusion: how the score came about; None when there was nothing to fuse.
        level_source: where the level probabilities come from.
        replan_needs: the gaps in the evidence, also those of a degraded answer, which asks for nothing.
        author: "deterministic", or the identity of the chat model.
        attempt_count: answers that the language model was asked for, each with one request; 0 without one.
        usage: what they cost.
    """

    output: SummarizerOutput
    mode: Mode
    fusion: Fusion | None
    level_source: LevelSource
    replan_needs: tuple[ReplanNeed, ...]
    used_evidence: Evidence
    author: str
    attempt_count: int
    usage: LlmUsage
    notes: tuple[str, ...]
