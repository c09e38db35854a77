"""Twin-Lock's Coverage: F1 x 10 of precision and key-point recall; at most 4 with an unsupported claim.

Judge-Lock's Coverage: harmonic mean of F1 and QAG accuracy, x 10, under four caps.

How many key points a summary tells, for Coverage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import cite_first, count, sentences
from pipeline.judge.evidence.table import EvidenceTable, KeyPoint, KeyPointCoverage
from pipeline.judge.exact import harmonic_mean
from pipeline.judge.locks.caps import MetricLimit, RawScore
from pipeline.judge.locks.claims import extraneous_limit, precision_of, unsupported_passages
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Input, Json, MetricError, MetricName
from pipeline.text.passage import TextSpan

TWIN_EXTRANEOUS_LIMIT = 4


def score_twin_coverage(table: EvidenceTable) -> RawScore:
    """Scores how much of the source's core the summary tells, and how much else it says."""
    f_score = FScore.of(table, table.twin_key_points)
    return RawScore(
        MetricName.COVERAGE,
        10 * f_score.value,
        reason=sentences((f_score.recall.sentence, f_score.sentence)),
        evidence=(*unsupported_passages(table.claims), *f_score.recall.evidence),
        inputs=f_score.inputs,
        lists={"key_points": f_score.recall.list},
        limits=extraneous_limit(table.claims, TWIN_EXTRANEOUS_LIMIT),
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """Key points by how much of them the summary tells. There is at least one."""

    key_points: tuple[KeyPoint, ...]
    fully: int
    partial: int

    @classmethod
    def of(cls, key_points: Sequence[KeyPoint]) -> Self:
        """Counts key points.

        Raises:
            MetricError: there is none.
        """
        if not key_points:
            raise MetricError("no_key_points: the source states nothing that a summary could cover")
        covered = [point.coverage for point in key_points]
        return cls(tuple(key_points), covered.count(KeyPointCoverage.FULLY), covered.count(KeyPointCoverage.PARTIAL))

    @property
    def value(self) -> Fraction:
        """Returns (fully + partial / 2) / all, in [0, 1]."""
        return Fraction(2 * self.fully + self.partial, 2 * len(self.key_points))

    @property
    def inputs(self) -> dict[str, Input]:
        """The counts, by the names of README, JSON objects."""
        missed = len(self.key_points) - self.fully - self.partial
        return {
            "total_keypoints": len(self.key_points),
            "fully": self.fully,
            "partial": self.partial,
            "not": missed,
            "recall": float(self.value),
        }

    @property
    def evidence(self) -> tuple[TextSpan, ...]:
        """What was missed first, then what was told and where."""
        missed = [point.passage for point in self.key_points if point.coverage is KeyPointCoverage.NOT]
        told = [point for point in self.key_points if point.coverage is not KeyPointCoverage.NOT]
        return (*missed, *(place for point in told for place in (point.passage, point.best) if place is not None))

    @property
    def sentence(self) -> str:
        """Says how much was told, and cites what was not."""
        told = f"The summary tells {self.fully} of {count(len(self.key_points), 'key point')} fully"
        if self.partial:
            told += f" and {self.partial} in part"
        missed = [point.passage for point in self.key_points if point.coverage is KeyPointCoverage.NOT]
        omitted = f" It omits {cite_first(missed)}." if missed else ""
        return f"{told} (recall {float(self.value):.2f}).{omitted}"

    @property
    def list(self) -> list[Json]:
        """The key points as the JSON object shows them."""
        return [
            {"point": point.passage.text, "label": point.coverage.value.capitalize(), "covered": point.covered_share}
            for point in self.key_points
        ]


@dataclass(frozen=True, slots=True)
class FScore:
    """Precision, recall and their harmonic mean."""

    recall: Recall
    precision: Fraction
    extraneous_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, table: EvidenceTable, key_points: Sequence[KeyPoint]) -> Self:
        """Reads a table. Raises MetricError without key points."""
        recall = Recall.of(key_points)
        return cls(recall, precision_of(table), table.extraneous_token_count, table.summary_token_count)

    @property
    def value(self) -> Fraction:
        """F1, in [0, 1]."""
        return harmonic_mean(self.precision, self.recall.value)

    @property
    def inputs(self) -> dict[str, Input]:
        """The numbers, by the names of README, JSON objects."""
        return {
            **self.recall.inputs,
            "extraneous_tokens": self.extraneous_tokens,
            "total_summary_tokens": self.total_tokens,
            "precision": float(self.precision),
            "f1": float(self.value),
        }

    @property
    def sentence(self) -> str:
        """Says how precise the summary is, and what F1 follows."""
        carried = f"{self.extraneous_tokens} of its {count(self.total_tokens, 'content token')} have no support"
        if not self.extraneous_tokens:
            carried = "all of its content tokens have support"
        return f"Of what it says, {carried} (precision {float(self.precision):.2f}), so F1 is {float(self.value):.2f}."


JUDGE_EXTRANEOUS_LIMIT = 3
WEAK_LIMIT = 7
MIN_PRECISION = Fraction(19, 20)
MIN_RECALL = Fraction(9, 10)


def score_judge_coverage(table: EvidenceTable, correct_questions_needed: int) -> RawScore:
    """Scores how much of the source's key content the summary faithfully tells.

    Without questions F1 stands alone: no answer is neither a right nor a wrong one. The cap for too few right answers
    holds all the same.
    """
    f_score, questions = FScore.of(table, table.judge_key_points), QuestionScores.of(table.coverage_questions)
    accuracy = questions.accuracy
    value = f_score.value if accuracy is None else harmonic_mean(f_score.value, accuracy)
    return RawScore(
        MetricName.COVERAGE,
        10 * value,
        reason=sentences((f_score.recall.sentence, f_score.sentence, questions.sentence("summary"))),
        evidence=(*unsupported_passages(table.claims), *f_score.recall.evidence, *questions.evidence),
        inputs={**f_score.inputs, **questions.inputs("question_accuracy"), "question_author": table.question_author},
        lists={"key_points": f_score.recall.list, "questions": questions.list},
        limits=(
            *extraneous_limit(table.claims, JUDGE_EXTRANEOUS_LIMIT),
            *_question_limits(questions, correct_questions_needed),
            *_f_score_limits(f_score),
        ),
    )


def _question_limits(questions: QuestionScores, needed: int) -> tuple[MetricLimit, ...]:
    limits: list[MetricLimit] = []
    if questions.correct < needed:
        reason = f"{count(questions.correct, 'question')} answered right, fewer than {needed}."
        limits.append(MetricLimit("few_correct_questions", WEAK_LIMIT, reason))
    if questions.duplicates:
        reason = f"{count(questions.duplicates, 'question')} about the place of an earlier one."
        limits.append(MetricLimit("duplicate_question_spans", WEAK_LIMIT, reason))
    return tuple(limits)


def _f_score_limits(f_score: FScore) -> tuple[MetricLimit, ...]:
    limits: list[MetricLimit] = []
    if f_score.precision < MIN_PRECISION:
        reason = f"Precision {float(f_score.precision):.3f} is below 0.95."
        limits.append(MetricLimit("low_precision", WEAK_LIMIT, reason))
    if f_score.recall.value < MIN_RECALL:
        reason = f"Recall {float(f_score.recall.value):.3f} is below 0.90."
        limits.append(MetricLimit("low_recall", WEAK_LIMIT, reason))
    return tuple(limits)
