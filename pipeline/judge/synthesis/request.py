"""What is to be answered, and from what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pipeline.errors import InvalidInputError
from pipeline.judge.fusion import FusionForm
from pipeline.judge.synthesis.evidence import GLOBAL, Evidence


class Mode(StrEnum):
    """Kinds of answers."""

    EXPLANATION = "explanation"  # a choice, or an open answer
    SCORING = "scoring"  # a level from A, excellent, to E, bad


@dataclass(frozen=True, slots=True)
class LevelAnswer:
    """What a model of the caller's says about the level; exactly one of the two.

    Attributes:
        log_probabilities: logits or log-probabilities by level: letters or names.
        level: the one that the model named: a letter or a name.
    """

    log_probabilities: Mapping[str, float] | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """One question.

    Attributes:
        question: the caller's.
        mode: what kind of answer is wanted.
        evidence: what the answer may rest on.
        scope: what the question is about: "Global" alone, or names of objects.
        choices: answers to choose from, in explanation mode; empty for an open answer.
        level_answer: takes the place of the language model's opinion of the level, in scoring mode.
        images: files for the language model to look at.
        context: text for the language model besides the evidence.
        eta: how fast level weights fall around the tools' mean.
        form: how tools and level probabilities are fused.
    """

    question: str
    mode: Mode
    evidence: Evidence = field(default_factory=Evidence)
    scope: tuple[str, ...] = (GLOBAL,)
    choices: tuple[str, ...] = ()
    level_answer: LevelAnswer | None = None
    images: tuple[bytes, ...] = ()
    context: str = ""
    eta: float = 1.0
    form: FusionForm = FusionForm.NORMALIZED


def parse_scope(scope: object, field: str = "scope") -> tuple[str, ...]:
    """Reads a scope from outside data: the word "Global", or a list of names.

    Raises:
        InvalidInputError: it is neither, a name is blank, or a name is there twice.
    """
    if scope == GLOBAL:
        return (GLOBAL,)
    if isinstance(scope, str) or not isinstance(scope, Sequence) or not scope:
        got = "another word" if isinstance(scope, str) else "nothing" if not scope else type(scope).__name__
        raise InvalidInputError(field, f'"{GLOBAL}" or a list of names', got)
    for index, name in enumerate(scope):
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"{field}[{index}]", "a name", "something else")
        if name in scope[:index]:
            raise InvalidInputError(f"{field}[{index}]", "no repeats", "a name that is there already")
    return tuple(scope)
