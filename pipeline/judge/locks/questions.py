"""What the answers to six questions come to, for Judge-Lock."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import count
from pipeline.judge.evidence.table import Qag
from pipeline.judge.exact import duplicate_span_count, exact, mean
from pipeline.judge.result import Input, Json
from pipeline.text.passage import Passage


@dataclass(frozen=True, slots=True)
class QagScores:
    """Questions with their scores 1, 0.5 or 0; possibly none, when a text has nothing to ask about."""

    qags: tuple[Qag, ...]

    @classmethod
    def of(cls, qags: Sequence[Qag]) -> Self:
        """Takes the questions of one side."""
        return cls(tuple(qags))

    @property
    def accuracy(self) -> Fraction | None:
        """Mean score, in [0, 1]; None without questions: nothing was asked, which is neither right nor wrong."""
        return mean([exact(qag.score) for qag in self.qags]) if self.qags else None

    @property
    def correct(self) -> int:
        """Questions whose answer is right, not only partly."""
        return sum(qag.score == 1 for qag in self.qags)

    @property
    def duplicates(self) -> int:
        """Questions that ask about the place of an earlier one (IoU of the facts of at least 0.5)."""
        return duplicate_span_count([qag.fact for qag in self.qags])

    def inputs(self, mean_name: str) -> dict[str, Input]:
        """The counts, with the mean under the seed's name; no mean without questions."""
        counts: dict[str, Input] = {
            "qags": len(self.qags),
            "correct_qags": self.correct,
            "partial_qags": sum(0 < qag.score < 1 for qag in self.qags),
            "duplicate_qag_spans": self.duplicates,
        }
        return counts if self.accuracy is None else {**counts, mean_name: float(self.accuracy)}

    @property
    def list(self) -> list[Json]:
        """The questions as the JSON object shows them."""
        return [
            {"question": qag.question, "expected": qag.answer, "given": qag.given, "score": qag.score}
            for qag in self.qags
        ]

    @property
    def evidence(self) -> tuple[Passage, ...]:
        """Facts with the answers given, wrong ones first."""
        ordered = sorted(self.qags, key=lambda qag: qag.score)  # stable: order of asking decides ties
        return tuple(place for qag in ordered for place in (qag.fact, qag.given_span) if place is not None)

    def sentence(self, side: str) -> str:
        """Says how many were answered right from one text, and shows the first that was not."""
        if not self.qags:
            return f"There was nothing to ask the {side}."
        wrong = next((qag for qag in self.qags if qag.score < 1), None)
        shown = ""
        if wrong is not None:
            given = f'"{wrong.given}"' if wrong.given is not None else "nothing"
            shown = f' To "{wrong.question}" it answers {given} for "{wrong.answer}".'
        return f"The {side} answers {self.correct} of {count(len(self.qags), 'question')} right.{shown}"
