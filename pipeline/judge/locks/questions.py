"""What the answers to six questions come to, for Judge-Lock."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import count
from pipeline.judge.evidence.table import Question
from pipeline.judge.exact import duplicate_span_count, exact, mean
from pipeline.judge.result import Input, Json
from pipeline.text.passage import TextSpan


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """Questions with their scores 1, 0.5 or 0; possibly none, when a text has nothing to ask about."""

    questions: tuple[Question, ...]

    @classmethod
    def of(cls, questions: Sequence[Question]) -> Self:
        """Takes the questions of one side."""
        return cls(tuple(questions))

    @property
    def accuracy(self) -> Fraction | None:
        """Mean score, in [0, 1]; None without questions: nothing was asked, which is neither right nor wrong."""
        return mean([exact(question.score) for question in self.questions]) if self.questions else None

    @property
    def correct(self) -> int:
        """Questions whose answer is right, not only partly."""
        return sum(question.score == 1 for question in self.questions)

    @property
    def duplicates(self) -> int:
        """Questions that ask about the place of an earlier one (IoU of the facts of at least 0.5)."""
        return duplicate_span_count([question.fact for question in self.questions])

    def inputs(self, mean_name: str) -> dict[str, Input]:
        """The counts, and the mean under the metric's name for it (README, JSON objects); no mean without questions."""
        counts: dict[str, Input] = {
            "question_count": len(self.questions),
            "correct_questions": self.correct,
            "partial_questions": sum(0 < question.score < 1 for question in self.questions),
            "duplicate_question_spans": self.duplicates,
        }
        return counts if self.accuracy is None else {**counts, mean_name: float(self.accuracy)}

    @property
    def list(self) -> list[Json]:
        """The questions as the JSON object shows them."""
        return [
            {
                "question": question.question,
                "expected": question.answer,
                "given": question.given,
                "score": question.score,
            }
            for question in self.questions
        ]

    @property
    def evidence(self) -> tuple[TextSpan, ...]:
        """Facts with the answers given, wrong ones first."""
        ordered = sorted(self.questions, key=lambda question: question.score)  # stable: order of asking decides ties
        return tuple(
            place for question in ordered for place in (question.fact, question.given_span) if place is not None
        )

    def sentence(self, side: str) -> str:
        """Says how many were answered right from one text, and shows the first that was not."""
        if not self.questions:
            return f"There was nothing to ask the {side}."
        wrong = next((question for question in self.questions if question.score < 1), None)
        shown = ""
        if wrong is not None:
            given = f'"{wrong.given}"' if wrong.given is not None else "nothing"
            shown = f' To "{wrong.question}" it answers {given} for "{wrong.answer}".'
        return f"The {side} answers {self.correct} of {count(len(self.questions), 'question')} right.{shown}"
