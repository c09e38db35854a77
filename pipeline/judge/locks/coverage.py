"""Scores Coverage: F1 of precision and key-point recall.

In Judge-Lock it is the harmonic mean of F1 and the accuracy of the coverage questions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import cite_first, count, sentences
from pipeline.judge.evidence.table import EvidenceTable, KeyPoint, KeyPointCoverage
from pipeline.judge.exact import harmonic_mean
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.locks.claims import extraneous_caps, precision_of, unsupported_passages
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Cap, Framework, Input, Json, MetricError, MetricName
from pipeline.text.passage import TextSpan


def score_coverage(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores precision, key-point recall and answers. Raises MetricError without key points.

    Without questions F1 stands alone; Judge-Lock's cap for too few right answers holds all the same.
    """
    is_twin = rules.framework is Framework.TWIN_LOCK
    f_score = FScore.of(table, table.twin_key_points if is_twin else table.judge_key_points)
    questions = QuestionScores.of(table.coverage_questions, table.question_author, rules)
    return RawScore(
        MetricName.COVERAGE,
        10 * questions.joined(f_score.value),
        reason=sentences((f_score.recall.sentence, f_score.sentence, questions.sentence("summary"))),
        evidence=(*unsupported_passages(table.claims), *f_score.recall.evidence, *questions.evidence),
        inputs={**f_score.inputs, **questions.inputs("question_accuracy")},
        lists={"key_points": f_score.recall.list, **questions.lists},
        caps=(
            *extraneous_caps(table.claims, rules.extraneous_coverage),
            *_weak_caps(f_score, questions, rules),
        ),
    )


def _weak_caps(f_score: "FScore", questions: QuestionScores, rules: LockRules) -> Iterator[Cap]:
    """Yields the cap of every weakness that the lock looks for."""
    for name, reason in _weaknesses(f_score, questions, rules):
        yield from cap_at(rules.weak_coverage, name, reason)


def _weaknesses(f_score: "FScore", questions: QuestionScores, rules: LockRules) -> Iterator[tuple[str, str]]:
    needed, precision, recall = rules.correct_questions, rules.precision_floor, rules.recall_floor
    if needed is not None and questions.correct < needed:
        answered = count(questions.correct, "question")
        yield "few_correct_questions", f"{answered} answered right, fewer than {needed}."
    if questions.duplicates:
        asked_again = count(questions.duplicates, "question")
        yield "duplicate_question_spans", f"{asked_again} about the place of an earlier one."
    if precision is not None and f_score.precision < precision:
        yield "low_precision", f"Precision {float(f_score.precision):.3f} is below {float(precision):.2f}."
    if recall is not None and f_score.recall.value < recall:
        yield "low_recall", f"Recall {float(f_score.recall.value):.3f} is below {float(recall):.2f}."


@dataclass(frozen=True, slots=True)
class Recall:
    """Key-point recall. There is at least one key point."""

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
        """What was missed first, then what was covered and where."""
        missed = [point.passage for point in self.key_points if point.coverage is KeyPointCoverage.NOT]
        told = [point for point in self.key_points if point.coverage is not KeyPointCoverage.NOT]
        return (*missed, *(place for point in told for place in (point.passage, point.best) if place is not None))

    @property
    def sentence(self) -> str:
        """Says how much was covered, and cites what was not."""
        covered = f"The summary tells {self.fully} of {count(len(self.key_points), 'key point')} fully"
        if self.partial:
            covered += f" and {self.partial} in part"
        missed = [point.passage for point in self.key_points if point.coverage is KeyPointCoverage.NOT]
        omitted = f" It omits {cite_first(missed)}." if missed else ""
        return f"{covered} (recall {float(self.value):.2f}).{omitted}"

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
