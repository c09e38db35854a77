"""A question with its evidence, and a question about a text or images; what is refused before any work is done."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Generic, TypeVar

from pipeline.assess.config import SynthesisLimits
from pipeline.assess.evidence import GLOBAL, Evidence, ToolScore
from pipeline.assess.images import Image, read_image, read_images
from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import (
    HIGHEST,
    LOWEST,
    Distribution,
    FusionForm,
    LevelSource,
    from_classification,
    from_log_probabilities,
    parse_level,
)
from pipeline.reading.characters import check_text


class Mode(StrEnum):
    """Kinds of answers."""

    EXPLANATION = "explanation"  # a choice, or an open answer
    SCORING = "scoring"  # a level from A, excellent, to E, bad


LevelAnswer = Mapping[str, float] | str
"""What a model of the caller's says about the level, by letter or name: log-probabilities, or the level."""


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """One question."""

    question: str
    mode: Mode
    evidence: Evidence = field(default_factory=Evidence)
    scope: tuple[str, ...] = (GLOBAL,)  # what the question is about: "Global" alone, or names of objects
    choices: tuple[str, ...] = ()  # answers to choose from, in explanation mode; empty for an open answer
    # takes the place of the language model's opinion of the level, in scoring mode
    level_answer: LevelAnswer | None = None
    images: tuple[bytes, ...] = ()  # files for the language model to look at
    context: str = ""  # text for the language model besides the evidence
    eta: float = 1.0  # how fast level weights fall around the tools' mean
    form: FusionForm = FusionForm.NORMALIZED  # how tools and level probabilities are fused


def parse_scope(scope: str | Sequence[str]) -> tuple[str, ...]:
    """Reads a scope: the word "Global", or a list of names. Raises InvalidInputError."""
    if scope == GLOBAL:
        return (GLOBAL,)
    if isinstance(scope, str) or not scope:
        raise InvalidInputError("scope", f'"{GLOBAL}" or a list of names', "another word" if scope else "nothing")
    for index, name in enumerate(scope):
        if not name.strip():
            raise InvalidInputError(f"scope[{index}]", "a name", "something else")
        if name in scope[:index]:
            raise InvalidInputError(f"scope[{index}]", "no repeats", "a name that is there already")
    return tuple(scope)


_FEWEST_CHOICES, _MOST_CHOICES = 2, 26  # a letter each


@dataclass(frozen=True, slots=True)
class Levels:
    """Level probabilities, worst first, and what they were made from."""

    probabilities: Distribution
    source: LevelSource


Q_co = TypeVar("Q_co", covariant=True)


@dataclass(frozen=True, slots=True)
class CheckedQuestion(Generic[Q_co]):
    """A request whose every part can be worked with."""

    request: Q_co  # with scores mapped to [1, 5], and without those that are NaN
    images: tuple[Image, ...] = ()
    levels: Levels | None = None  # what the caller's own model said; None when it said nothing
    reference: Image | None = None  # the undistorted original of the first image
    notes: tuple[str, ...] = ()  # what was left out


def check_request(request: SynthesisRequest, limits: SynthesisLimits) -> CheckedQuestion[SynthesisRequest]:
    """Checks all parts in the order of the fields. Raises InvalidInputError for the first that breaks a rule."""
    _check_question(request, limits)
    _check_scope(request.scope, limits)
    _check_findings(request.evidence, limits)
    scores, notes = _checked_scores("evidence.tool_scores", request.evidence.tool_scores, limits)
    _check_eta(request.eta)
    check_text("context", request.context, limits.max_context_chars, may_be_blank=True)
    levels = None if request.level_answer is None else _levels(request.level_answer, request.mode)
    images = read_images(request.images, limits.images)
    evidence = replace(request.evidence, tool_scores=scores)
    return CheckedQuestion(replace(request, evidence=evidence), images, levels, notes=notes)


def _check_findings(evidence: Evidence, limits: SynthesisLimits) -> None:
    count = sum(len(found or ()) for found in evidence.distortion_analysis.values())
    if count > limits.max_findings:
        raise InvalidInputError("evidence.distortion_analysis", f"at most {limits.max_findings} findings", f"{count}")
    for part, findings in evidence.distortion_analysis.items():
        check_text("evidence.distortion_analysis", part, limits.max_name_chars)
        for index, finding in enumerate(findings or ()):
            path = f"evidence.distortion_analysis.findings[{index}]"
            check_text(f"{path}.kind", finding.kind, limits.max_name_chars)
            check_text(f"{path}.explanation", finding.explanation, limits.max_explanation_chars, may_be_blank=True)


def _checked_scores(
    path: str, scores: tuple[ToolScore, ...], limits: SynthesisLimits
) -> tuple[tuple[ToolScore, ...], tuple[str, ...]]:
    """Brings scores to [1, 5] by their mappings, and leaves out those that are NaN, with a note.

    Raises:
        InvalidInputError: too many, a text breaks a rule, or a score is infinite, or outside [1, 5] without a mapping.
    """
    if len(scores) > limits.max_findings:
        raise InvalidInputError(path, f"at most {limits.max_findings} scores", f"{len(scores)}")
    kept, notes = [], []
    for index, one in enumerate(scores):
        field = f"{path}[{index}]"
        check_text(f"{field}.tool", one.tool, limits.max_name_chars)
        check_text(f"{field}.scope", one.scope, limits.max_name_chars)
        check_text(f"{field}.aspect", one.aspect, limits.max_name_chars, may_be_blank=True)
        if math.isnan(one.score):
            notes.append(f"{field} is NaN and was left out")
            continue
        if math.isinf(one.score):
            raise InvalidInputError(f"{field}.score", "a finite score", f"{one.score:g}")
        score = one.score if one.mapping is None else one.mapping(one.score)
        if math.isnan(score):
            raise InvalidInputError(f"{field}.mapping", "finite parameters", "some that are not")
        if not LOWEST <= score <= HIGHEST:
            raise InvalidInputError(f"{field}.score", "a score in [1, 5], or a mapping to it", f"{score:g}")
        kept.append(replace(one, score=score, mapping=None))
    return tuple(kept), tuple(notes)


def _check_eta(eta: float) -> None:
    if not (eta > 0 and math.isfinite(eta)):
        raise InvalidInputError("options.eta", "a finite number above 0", f"{eta:g}")


def _check_question(request: "SynthesisRequest | AssessRequest", limits: SynthesisLimits) -> None:
    """Checks question and choices."""
    check_text("question", request.question, limits.max_question_chars)
    choices = request.choices
    if choices and request.mode is Mode.SCORING:
        raise InvalidInputError("choices", "none in scoring mode, whose answers are the levels", f"{len(choices)}")
    if choices and not _FEWEST_CHOICES <= len(choices) <= _MOST_CHOICES:
        raise InvalidInputError("choices", f"{_FEWEST_CHOICES} to {_MOST_CHOICES} choices, or none", f"{len(choices)}")
    for index, choice in enumerate(choices):
        check_text(f"choices[{index}]", choice, limits.max_choice_chars)
        if choice in choices[:index]:
            raise InvalidInputError(f"choices[{index}]", "no repeats", "a choice that is there already")


def _check_scope(scope: tuple[str, ...], limits: SynthesisLimits) -> None:
    parts = parse_scope(scope)
    if len(parts) > limits.max_scope:
        raise InvalidInputError("scope", f"at most {limits.max_scope} names", f"{len(parts)}")
    for index, part in enumerate(parts):
        check_text(f"scope[{index}]", part, limits.max_name_chars)


def _levels(answer: LevelAnswer, mode: Mode) -> Levels:
    if mode is not Mode.SCORING:
        raise InvalidInputError("level_answer", "none in explanation mode", "one")
    if isinstance(answer, str):
        level = parse_level(answer, "level_answer.level")
        return Levels(from_classification(level), LevelSource.CLASSIFICATION)
    field = "level_answer.logits"
    logits = {parse_level(name, field): value for name, value in answer.items()}
    return Levels(from_log_probabilities(logits, field), LevelSource.LOGITS)


MOST_REPLANS = 5


class AssessStage(StrEnum):
    """How far an assessment goes."""

    PLAN = "plan"  # the planner alone
    EVIDENCE = "evidence"  # planner and executor
    ANSWER = "answer"  # all of it, and again while evidence is missing


@dataclass(frozen=True, slots=True)
class AssessRequest:
    """A question about quality."""

    question: str
    mode: Mode | None = None  # kind of answer; None: the planner sees from the question
    scope: tuple[str, ...] | None = None  # what the question is about; None: the planner sees from the question
    choices: tuple[str, ...] = ()  # answers to choose from; empty for an open answer
    source: str = ""  # text to assess; with `summary`, or empty
    summary: str = ""  # likewise
    images: tuple[bytes, ...] = ()
    reference: bytes | None = None  # the undistorted original of the first image
    tool_scores: tuple[ToolScore, ...] = ()  # of the caller's own tools; kept through every iteration
    eta: float = 1.0  # how fast level weights fall around the tools' mean
    form: FusionForm = FusionForm.NORMALIZED  # how tools and level probabilities are fused
    max_replan_iterations: int = 2  # how often to plan again, 0 to 5
    stage: AssessStage = AssessStage.ANSWER  # the last step to take; only an answer leads to another plan

    @property
    def has_text(self) -> bool:
        """Whether there is a summary to judge."""
        return bool(self.summary.strip())


def check_assessment(request: AssessRequest, limits: SynthesisLimits) -> CheckedQuestion[AssessRequest]:
    """Checks all parts but source and summary, which the judge checks. Raises InvalidInputError for the first."""
    if bool(request.source.strip()) != request.has_text:
        field = "source" if request.has_text else "summary"
        raise InvalidInputError(field, "source and summary together, or neither", "only the other one")
    if not (request.has_text or request.images or request.tool_scores):
        raise InvalidInputError("images", "an image, a source with a summary, or a tool score to assess", "nothing")
    if not 0 <= request.max_replan_iterations <= MOST_REPLANS:
        got = str(request.max_replan_iterations)
        raise InvalidInputError("options.max_replan_iterations", f"0 to {MOST_REPLANS}", got)
    _check_question(request, limits)
    if request.scope is not None:
        _check_scope(request.scope, limits)
    scores, notes = _checked_scores("tool_scores", request.tool_scores, limits)
    _check_eta(request.eta)
    images = read_images(request.images, limits.images)
    reference = _reference(request, images, limits)
    return CheckedQuestion(replace(request, tool_scores=scores), images, reference=reference, notes=notes)


def _reference(request: AssessRequest, images: tuple[Image, ...], limits: SynthesisLimits) -> Image | None:
    if request.reference is None:
        return None
    if not images:
        raise InvalidInputError("reference", "an image that it is the reference of", "none")
    reference = read_image(request.reference, limits.images, path="reference")
    images[0].check_reference(reference)
    return reference
