"""`--fail-under`: the least scores that a judgement must reach.

Imports nothing heavy: the options of the command need it.

What the options of `precis judge` amount to. Imports nothing heavy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from server.cli.errors import InputError

BEST_SCORE = 10.0
CLAIMS_SHOWN = 10  # of those that are not supported, unless --claims says another number
ALL_CLAIMS = "all"

Choice = TypeVar("Choice", bound=StrEnum)


class FrameworkChoice(StrEnum):
    """The frameworks, in the order of the contract."""

    TWIN_LOCK = "twin-lock"
    JUDGE_LOCK = "judge-lock"
    ULTRA = "ultra"


class MetricChoice(StrEnum):
    """The metrics, in the strict order."""

    COVERAGE = "coverage"
    ALIGNMENT = "alignment"
    HALLUCINATION = "hallucination"
    RELEVANCE = "relevance"
    BIAS_TOXICITY = "bias-toxicity"


class Policy(StrEnum):
    """What becomes of statements that may be true but are not in the source; see `docs/concepts/calibration.md`."""

    STRICT = "strict"
    LENIENT = "lenient"


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """Which score of a judgement is meant."""

    framework: FrameworkChoice = FrameworkChoice.ULTRA
    metric: MetricChoice = MetricChoice.HALLUCINATION
    policy: Policy = Policy.STRICT

    def __str__(self) -> str:
        """Writes for example "ultra hallucination, lenient"."""
        return f"{self.framework} {self.metric}{'' if self.policy is Policy.STRICT else f', {self.policy}'}"


@dataclass(frozen=True, slots=True)
class Floor:
    """The least score of one metric.

    Attributes:
        metric: which one.
        score: in [0, 10]; a score equal to it is not under it.
        framework: None for every framework that judged.
    """

    metric: MetricChoice
    score: float
    framework: FrameworkChoice | None = None


def parse_floor(text: str) -> Floor:
    """Reads METRIC=SCORE or FRAMEWORK:METRIC=SCORE. Raises InputError."""
    name, equals, score = text.partition("=")
    if not equals:
        raise InputError(f"--fail-under: expected METRIC=SCORE or FRAMEWORK:METRIC=SCORE, got {text}")
    framework, colon, metric = name.rpartition(":")
    return Floor(
        chosen(MetricChoice, metric, "metric"),
        parse_score(score),
        chosen(FrameworkChoice, framework, "framework") if colon else None,
    )


def chosen(choices: type[Choice], text: str, what: str) -> Choice:
    """Finds a choice by name; upper case and underscores are as good. Raises InputError."""
    name = text.strip().lower().replace("_", "-")
    if name not in list(choices):
        raise InputError(f"--fail-under: no such {what}: {text or 'none'}; there are {', '.join(choices)}")
    return choices(name)


def parse_score(text: str) -> float:
    """Reads a score. Raises InputError when it is not one."""
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not 0 <= score <= BEST_SCORE:
        raise InputError(f"--fail-under: expected a score from 0 to 10, got {text or 'nothing'}")
    return score


def parse_claims(text: str) -> int | None:
    """Reads how many claims are listed; None for all. Raises InputError."""
    if text.strip().lower() == ALL_CLAIMS:
        return None
    if not text.isdecimal():
        raise InputError(f"--claims: expected a number or {ALL_CLAIMS}, got {text or 'nothing'}")
    return int(text)


def chosen_frameworks(named: Sequence[FrameworkChoice], floors: tuple[Floor, ...]) -> tuple[FrameworkChoice, ...]:
    """Returns the frameworks that --framework names; without it Ultra, and those that --fail-under names."""
    needed = {FrameworkChoice.ULTRA, *(floor.framework for floor in floors)}
    return tuple(dict.fromkeys(named or [framework for framework in FrameworkChoice if framework in needed]))


def check_floors(floors: tuple[Floor, ...], frameworks: tuple[FrameworkChoice, ...]) -> None:
    """Refuses a floor of a framework that is not asked to judge. Raises InputError."""
    for floor in floors:
        if floor.framework is not None and floor.framework not in frameworks:
            raise InputError(f"--fail-under names {floor.framework}, which --framework leaves out")


@dataclass(frozen=True)
class JudgeTerms:
    """How `precis judge` judges, and what it does with the scores.

    Attributes:
        frameworks: that judge.
        use_language_model: False: the server must not ask its language model. None: as the server's settings say.
        max_claims: claims of a summary that are checked at most; None: as the server's settings say.
        shown_claims: claims without support that are listed; None for all.
        floors: a score under one of these is a NegativeAnswer.
        calibration: a file of `precis calibrate`; what does not pass is a NegativeAnswer too.
        takes_other_models: use the calibration for judgements by other models too.
    """

    frameworks: tuple[FrameworkChoice, ...] = (FrameworkChoice.ULTRA,)
    use_language_model: bool | None = None
    max_claims: int | None = None
    shown_claims: int | None = CLAIMS_SHOWN
    floors: tuple[Floor, ...] = ()
    calibration: Path | None = None
    takes_other_models: bool = False
