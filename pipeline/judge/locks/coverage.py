"""Scores Coverage: F1 of precision and key-point recall.

In Judge-Lock it is the harmonic mean of F1 and the accuracy of the coverage questions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from pipeline.judge.citation import cite_first, count, sentences
from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.table import EvidenceTable, KeyPoint, KeyPointCoverage
from pipeline.judge.exact import harmonic_mean
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.locks.hallucination import LISTED, extraneous_caps, unsupported_passages
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Framework, Input, Json, MetricError, MetricName
from pipeline.reading.passage import TextSpan

KEY_POINT_TOKENS = 6
"""Least length of Judge-Lock's key points, unless the source has no sentence that long."""


def score_coverage(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores precision, key-point recall and answers. Raises MetricError without key points.

    Without questions F1 stands alone; Judge-Lock's cap for too few right answers holds all the same.
    """
    key_points = table.twin_key_points if rules.framework is Framework.TWIN_LOCK else table.judge_key_points
    if not key_points:
        raise MetricError("no_key_points: the source states nothing that a summary could cover")
    f_score = FScore(key_points, table.claims)
    questions = QuestionScores.of(table.coverage_questions, table.question_author, rules)
    weak_caps = (cap_at(rules.weak_coverage, *weakness) for weakness in _weaknesses(f_score, questions, rules))
    return RawScore(
        MetricName.COVERAGE,
        10 * questions.joined(f_score.value),
        reason=sentences(
            (
                f_score.recall_sentence,
                f_score.short_sentence(rules),
                f_score.precision_sentence,
                questions.sentence("summary"),
            )
        ),
        evidence=(*unsupported_passages(table.claims)[:LISTED], *f_score.evidence, *questions.evidence),
        inputs={**f_score.inputs, **questions.inputs("question_accuracy")},
        lists={"key_points": f_score.list, **questions.lists},
        caps=(*extraneous_caps(table.claims, rules.extraneous_coverage), *chain.from_iterable(weak_caps)),
    )


def _weaknesses(f_score: "FScore", questions: QuestionScores, rules: LockRules) -> Iterator[tuple[str, str]]:
    """Yields name and reason of every weakness that the lock looks for."""
    of_six, precision, recall = rules.correct_questions, rules.precision_floor, rules.recall_floor
    if of_six is not None and questions.correct < (needed := questions.needed(of_six)):
        answered = count(questions.correct, "question")
        yield "few_correct_questions", f"{answered} answered right, fewer than {needed}."
    if precision is not None and f_score.precision < precision:
        yield "low_precision", f"Precision {float(f_score.precision):.3f} is below {float(precision):.2f}."
    if recall is not None and f_score.recall < recall:
        yield "low_recall", f"Recall {float(f_score.recall):.3f} is below {float(recall):.2f}."


@dataclass(frozen=True, slots=True)
class FScore:
    """Precision, key-point recall and their harmonic mean. There is at least one key point."""

    key_points: tuple[KeyPoint, ...]
    claims: tuple[Claim, ...]

    @property
    def recall(self) -> Fraction:
        """Returns (fully + partial / 2) / all, in [0, 1]."""
        told = 2 * len(self._told(KeyPointCoverage.FULLY)) + len(self._told(KeyPointCoverage.PARTIAL))
        return Fraction(told, 2 * len(self.key_points))

    @property
    def precision(self) -> Fraction:
        """Returns 1 - extraneous / content tokens of the claims, in [0, 1]; 1 for a summary without any."""
        return 1 - Fraction(self.extraneous, self.total) if self.total else Fraction(1)

    @property
    def extraneous(self) -> int:
        """Content tokens of unsupported words: of all of an unsupported claim, of some of a partial one."""
        return sum(claim.extraneous_token_count for claim in self.claims)

    @property
    def total(self) -> int:
        """Content tokens of the claims that may raise a score; of others only those that have no support."""
        return sum(
            claim.content_token_count if claim.may_raise else claim.extraneous_token_count for claim in self.claims
        )

    @property
    def value(self) -> Fraction:
        """F1, in [0, 1]."""
        return harmonic_mean(self.precision, self.recall)

    @property
    def inputs(self) -> dict[str, Input]:
        """The numbers, by the names of `objects.schema.json`."""
        return {
            "total_keypoints": len(self.key_points),
            **{coverage.value: len(self._told(coverage)) for coverage in KeyPointCoverage},
            "recall": float(self.recall),
            "extraneous_tokens": self.extraneous,
            "total_summary_tokens": self.total,
            "precision": float(self.precision),
            "f1": float(self.value),
        }

    @property
    def evidence(self) -> tuple[TextSpan, ...]:
        """What was missed first, then what was covered and where."""
        told = [point for point in self.key_points if point.coverage is not KeyPointCoverage.NOT]
        places = (place for point in told for place in (point.passage, point.best) if place is not None)
        return (*self._told(KeyPointCoverage.NOT), *places)

    @property
    def recall_sentence(self) -> str:
        """Says how much was covered, and cites what was not."""
        fully, partial, missed = (self._told(coverage) for coverage in KeyPointCoverage)
        covered = f"The summary tells {len(fully)} of {count(len(self.key_points), 'key point')} fully"
        partly = f" and {len(partial)} in part" if partial else ""
        omitted = f" It omits {cite_first(missed)}." if missed else ""
        return f"{covered}{partly} (recall {float(self.recall):.2f}).{omitted}"

    def short_sentence(self, rules: LockRules) -> str:
        """Says that key points are shorter than the lock wants them: the source has no sentence that long."""
        is_long = all(point.token_count >= KEY_POINT_TOKENS for point in self.key_points)
        if is_long or rules.framework is not Framework.JUDGE_LOCK:
            return ""
        return f"No sentence of the source has {KEY_POINT_TOKENS} words, so its key points are shorter."

    @property
    def precision_sentence(self) -> str:
        """Says how precise the summary is, and what F1 follows."""
        carried = f"{self.extraneous} of its {count(self.total, 'content token')} have no support"
        if not self.extraneous:
            carried = "all of its content tokens have support"
        return f"Of what it says, {carried} (precision {float(self.precision):.2f}), so F1 is {float(self.value):.2f}."

    @property
    def list(self) -> list[Json]:
        """The key points as the JSON object shows them."""
        return [
            {"point": point.passage.text, "label": point.coverage.value.capitalize(), "covered": point.covered_share}
            for point in self.key_points
        ]

    def _told(self, coverage: KeyPointCoverage) -> tuple[TextSpan, ...]:
        """Returns the key points of which the summary tells so much."""
        return tuple(point.passage for point in self.key_points if point.coverage is coverage)
