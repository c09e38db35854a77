"""The options of `precis judge`: which scores, how they are asked for, and `--fail-under`. Imports nothing heavy."""

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

from typer import Option

from server.cli.errors import InputError
from server.cli.options import NoLanguageModelOption

BEST_SCORE = 10.0
CLAIMS_SHOWN = 10  # of those that are not supported

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


FrameworkOption = Annotated[FrameworkChoice, Option("--framework", "-f", help="Whose score.")]
MetricOption = Annotated[MetricChoice, Option("--metric", "-m", help="Which score.")]
PolicyOption = Annotated[
    Policy, Option("--policy", help="Whether statements count that may be true but are not in the source.")
]


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
    which = chosen(FrameworkChoice, framework, "framework") if colon else None
    what = chosen(MetricChoice, metric, "metric")
    try:
        floor = Floor(what, float(score), which)
    except ValueError:
        floor = Floor(what, math.nan, which)
    if not 0 <= floor.score <= BEST_SCORE:
        raise InputError(f"--fail-under: expected a score from 0 to 10, got {score or 'nothing'}")
    return floor


def chosen(choices: type[Choice], text: str, what: str) -> Choice:
    """Finds a choice by name; upper case and underscores are as good. Raises InputError."""
    name = text.strip().lower().replace("_", "-")
    if name not in list(choices):
        raise InputError(f"--fail-under: no such {what}: {text or 'none'}; there are {', '.join(choices)}")
    return choices(name)


@dataclass(frozen=True)
class JudgeOptions:
    """How `precis judge` judges, and what it does with the scores."""

    framework: Annotated[
        list[FrameworkChoice] | None, Option("--framework", "-f", help="Repeatable (default ultra).")
    ] = None
    fail_under: Annotated[
        list[str] | None,
        Option(metavar="[FRAMEWORK:]METRIC=SCORE", help="Exit with 1 when a score is under this. Repeatable."),
    ] = None
    calibration: Annotated[
        Path | None, Option(metavar="FILE.json", help="Add probability and verdict, as precis calibrate learned.")
    ] = None
    no_llm: NoLanguageModelOption = False

    @property
    def floors(self) -> tuple[Floor, ...]:
        """The least scores. Raises InputError for what is none, or of a framework that is not asked to judge."""
        floors = tuple(map(parse_floor, self.fail_under or ()))
        for floor in floors:
            if self.framework and floor.framework not in (None, *self.framework):
                raise InputError(f"--fail-under names {floor.framework}, which --framework leaves out")
        return floors

    @property
    def frameworks(self) -> tuple[FrameworkChoice, ...]:
        """Those that --framework names; without it Ultra, and those that --fail-under names."""
        needed = {FrameworkChoice.ULTRA, *(floor.framework for floor in self.floors)}
        return tuple(dict.fromkeys(self.framework or [choice for choice in FrameworkChoice if choice in needed]))

    @property
    def use_language_model(self) -> bool | None:
        """None: as the server's settings say."""
        return False if self.no_llm else None
