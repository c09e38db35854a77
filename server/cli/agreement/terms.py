"""What the options of `precis calibrate` and `precis compare` amount to. Imports nothing heavy."""

import math
from dataclasses import dataclass
from pathlib import Path

from server.cli.errors import InputError
from server.cli.judge.floors import MetricChoice, Policy, ScoreKind

MIDDLE_SCORE = 5.0


def check_kind(kind: ScoreKind) -> ScoreKind:
    """Returns the kind. Raises InputError for a policy that does not go with the metric."""
    if kind.policy is Policy.LENIENT and kind.metric is not MetricChoice.HALLUCINATION:
        raise InputError(f"--policy lenient is about unsupported claims: it goes with hallucination, not {kind.metric}")
    return kind


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of human labels; high is good.

    Attributes:
        low: the worst label.
        high: the best label.
        good_from: from here on a summary is good. None: above the middle, so that of two annotators both must say so.
        is_binary: labels are `low` or `high` and nothing between.
    """

    low: float = 0.0
    high: float = 1.0
    good_from: float | None = None
    is_binary: bool = True

    def is_good(self, label: float) -> bool:
        """Tells what a label means."""
        return label > (self.low + self.high) / 2 if self.good_from is None else label >= self.good_from

    def holds(self, label: float) -> bool:
        """Tells whether a label is on the scale."""
        return label in (self.low, self.high) if self.is_binary else self.low <= label <= self.high

    def __str__(self) -> str:
        """Writes for example "0 or 1"."""
        return f"{self.low:g} or {self.high:g}" if self.is_binary else f"a number from {self.low:g} to {self.high:g}"


def parse_scale(text: str | None, good_from: float | None) -> Scale:
    """Reads LOW:HIGH; without it labels are 0 or 1. Raises InputError."""
    if text is None:
        if good_from is not None:
            raise InputError("--good-from goes with --scale: without it, 1 is good and 0 is not")
        return Scale()
    try:
        low, high = map(float, text.split(":"))
    except ValueError as error:
        raise InputError(f"--scale: expected LOW:HIGH, for example 1:5, got {text}") from error
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"--scale: expected two numbers, the lower one first, got {text}")
    if good_from is not None and not low < good_from <= high:
        raise InputError(f"--good-from: expected a label above {low:g}, at most {high:g}, got {good_from:g}")
    return Scale(low, high, good_from, is_binary=False)


@dataclass(frozen=True)
class CalibrateTerms:
    """How `precis calibrate` measures and fits.

    Attributes:
        kind: the score.
        scale: of the labels.
        least_precision: the threshold must reach it; None: it balances both kinds of errors.
        use_language_model: as in JudgeTerms.
        output: the calibration is written there.
        report: a page for people is written there.
        as_json: print JSON in place of tables.
    """

    kind: ScoreKind
    scale: Scale
    least_precision: float | None = None
    use_language_model: bool | None = None
    output: Path | None = None
    report: Path | None = None
    as_json: bool = False


@dataclass(frozen=True)
class CompareTerms:
    """How `precis compare` compares.

    Attributes:
        kind: the score; that of the calibration, if there is one.
        threshold: summaries with this score pass; that of the calibration, if there is one.
        calibration: a file of `precis calibrate`.
        tolerance: points that the mean may fall.
        confidence: of the intervals.
        takes_other_models: use the calibration for judgements by other models too.
        is_common: leave out items that only one of the files has.
        use_language_model: as in JudgeTerms.
        report: a page for people is written there.
        as_json: print JSON in place of tables.
    """

    kind: ScoreKind
    threshold: float = MIDDLE_SCORE
    calibration: Path | None = None
    tolerance: float = 0.0
    confidence: float = 0.95
    takes_other_models: bool = False
    is_common: bool = False
    use_language_model: bool | None = None
    report: Path | None = None
    as_json: bool = False
