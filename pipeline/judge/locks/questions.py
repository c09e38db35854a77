"""Question-answer generation (QAG): how many questions about one text the other one answers right.

Judge-Lock's formulas read it; Twin-Lock's read no questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import count
from pipeline.judge.evidence.table import Question
from pipeline.judge.exact import duplicate_span_count, exact, harmonic_mean, mean
from pipeline.judge.locks.caps import LockRules
from pipeline.judge.result import Input, Json, JsonObject
from pipeline.reading.passage import TextSpan

SIX = 6
"""Questions that the rules speak of."""


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """Questions about one text, each with a score of 1, 0.5 or 0; possibly none, when it has nothing to ask about.

    Attributes:
        questions: in the order of asking; empty for a lock that reads none.
        author: who wrote questions and answers, a chat model or "deterministic"; None for a lock that reads none, whose
            reasons and inputs do not speak of questions.
    """

    questions: tuple[Question, ...]
    author: str | None

    @classmethod
    def of(cls, questions: Sequence[Question], author: str, rules: LockRules) -> Self:
        """Takes the questions about one text, as far as the lock reads questions."""
        return cls(tuple(questions), author) if rules.reads_questions else cls((), None)

    @property
    def accuracy(self) -> Fraction | None:
        """Mean score, in [0, 1]; None without questions: nothing was asked, which is neither right nor wrong."""
        return mean([exact(question.score) for question in self.questions]) if self.questions else None

    @property
    def correct(self) -> int:
        """Questions whose answer is right, not only partly."""
        return sum(question.score == 1 for question in self.questions)

    def needed(self, of_six: int) -> int:
        """Returns how many right answers are enough: a number of six, scaled to the questions there are, rounded up.

        At least one, for without questions nothing is shown; 0 of six is 0.
        """
        return max(1, -(-of_six * len(self.questions) // SIX)) if of_six else 0

    @property
    def duplicates(self) -> int:
        """Questions whose expected answer stands where an earlier one's does."""
        return duplicate_span_count([question.answer_span for question in self.questions])

    @property
    def lists(self) -> JsonObject:
        """The questions as the JSON object shows them."""
        if self.author is None:
            return {}
        asked: list[Json] = [
            {
                "question": question.question,
                "expected": question.answer,
                "given": question.given,
                "score": question.score,
            }
            for question in self.questions
        ]
        return {"questions": asked}

    @property
    def evidence(self) -> tuple[TextSpan, ...]:
        """Facts with the answers given, wrong ones first."""
        ordered = sorted(self.questions, key=lambda question: question.score)  # stable: order of asking decides ties
        return tuple(
            place for question in ordered for place in (question.fact, question.given_span) if place is not None
        )

    def joined(self, share: Fraction) -> Fraction:
        """Returns the harmonic mean of a share and the accuracy; without questions the share stands alone."""
        return share if self.accuracy is None else harmonic_mean(share, self.accuracy)

    def inputs(self, mean_name: str) -> dict[str, Input]:
        """Returns the counts, and the mean under the metric's name for it."""
        if self.author is None:
            return {}
        counts: dict[str, Input] = {
            "question_count": len(self.questions),
            "correct_questions": self.correct,
            "partial_questions": sum(0 < question.score < 1 for question in self.questions),
            "duplicate_question_spans": self.duplicates,
        }
        if self.accuracy is not None:
            counts[mean_name] = float(self.accuracy)
        return {**counts, "question_author": self.author}

    def sentence(self, side: str) -> str:
        """Says how many were answered right from one text, and shows the first that was not."""
        if self.author is None:
            return ""
        if not self.questions:
            return f"There was nothing to ask the {side}."
        wrong = next((question for question in self.questions if question.score < 1), None)
        shown = ""
        if wrong is not None:
            given = f'"{wrong.given}"' if wrong.given is not None else "nothing"
            shown = f' To "{wrong.question}" it answers {given} for "{wrong.answer}".'
        return f"The {side} answers {self.correct} of {count(len(self.questions), 'question')} right.{shown}"
