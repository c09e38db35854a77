"""Scores Hallucination: the fraction of the summary's claims that the source does not support.

In Judge-Lock it is multiplied with the precision of the claim questions. Other metrics cite the same counts of claims,
and Judge-Lock's read questions as well: how many about one text the other one answers right (QAG).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from pipeline.judge.evidence.table import Claim, EvidenceTable, Question
from pipeline.judge.exact import HALF, duplicate_span_count, exact, guarded_mean, half_up, harmonic_mean, mean
from pipeline.judge.locks.caps import LockRules, RawScore, cap_at
from pipeline.judge.result import (
    Cap,
    Input,
    Json,
    JsonObject,
    MetricName,
    MetricStatus,
    cite,
    cite_first,
    count,
    sentences,
)
from pipeline.reading.passage import TextSpan
from pipeline.support.claim_support import ClaimLabel

LISTED = 10
"""Claims that a lock lists. All are checked and counted."""

VALUES = {ClaimLabel.SUPPORTED: Fraction(1), ClaimLabel.PARTIAL: HALF, ClaimLabel.UNSUPPORTED: Fraction(0)}
HIGHEST, FALL = 10, 14


def score_hallucination(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores the labels of the claims, in Judge-Lock times the mean of the questions about them.

    Without questions, which a language model asks, their expected mean stands for it: the claims' mean probability.

    Without claims the score is the best, with a status of its own.
    """
    counts = ClaimCounts.of(table.claims)
    questions = QuestionScores.of(table.claim_questions, table.question_author, rules)
    raw, accuracy = score_of_counts(counts, rules), questions.accuracy
    is_expected = rules.reads_questions and accuracy is None and table.claims
    expected = guarded_mean([exact(one.probability) for one in table.claims], table.claims) if is_expected else None
    listed = sorted(table.claims, key=lambda claim: VALUES[claim.label])[:LISTED]  # stable: position decides ties
    inputs: dict[str, Input] = {
        "total_claims": len(table.claims) + table.omitted_claim_count,
        "checked_claims": len(table.claims),
        "listed_claims": len(listed),
        **{label.value: counts.all[label] for label in ClaimLabel},
        **{f"raising_{label.value}": counts.raising[label] for label in ClaimLabel},
        "unsupported_fraction": float(counts.unsupported_fraction),
    }
    if rules.reads_questions:
        inputs |= {"severity": counts.severity.value, "raw": float(raw), **questions.inputs("question_precision")}
    if expected is not None:
        inputs["expected_precision"] = float(expected)
    places = (place for claim in listed for place in (claim.passage, claim.support) if place is not None)
    shown: list[Json] = [
        {
            "claim": claim.passage.text,
            "label": claim.label.value.capitalize(),
            "entailment": claim.entailment,
            "contradiction": claim.contradiction,
            "mismatches": [mismatch.kind.value for mismatch in claim.mismatches],
            "source": claim.premise.text if claim.premise else None,
        }
        for claim in listed
    ]
    return RawScore(
        MetricName.HALLUCINATION,
        raw * next((factor for factor in (accuracy, expected) if factor is not None), Fraction(1)),
        reason=sentences((_reason(counts, listed), questions.sentence("source"), _instead(expected))),
        evidence=(*places, *questions.evidence),
        inputs=inputs,
        lists={"claims": shown, **questions.lists},
        status=MetricStatus.SCORED if listed else MetricStatus.NO_CLAIMS,
        is_whole=not rules.reads_questions,  # which it is multiplied with
    )


class HallucinationSeverity(StrEnum):
    """Band of the unsupported fraction u: below 0.25, below 0.5, the rest."""

    MINOR = "minor"
    MODERATE = "moderate"
    SEVERE = "severe"


MODERATE_FROM, SEVERE_FROM = Fraction(1, 4), Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """What the labels of the claims come to."""

    all: Counter[ClaimLabel]  # numbers of claims by label
    raising: Counter[ClaimLabel]  # of those that may raise a score
    unsupported_fraction: Fraction  # u = 1 - the guarded mean of the labels (1, 1/2, 0), in [0, 1]; 0 without claims

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> Self:
        """Counts the claims of a table."""
        supported = guarded_mean([VALUES[claim.label] for claim in claims], claims) if claims else Fraction(1)
        raising = Counter(claim.label for claim in claims if claim.may_raise)
        return cls(Counter(claim.label for claim in claims), raising, 1 - supported)

    @property
    def unsupported(self) -> int:
        """Claims without support."""
        return self.all[ClaimLabel.UNSUPPORTED]

    @property
    def severity(self) -> HallucinationSeverity:
        """A band holds its lower edge: u = 0.25 is moderate, u = 0.5 severe."""
        minor, moderate, severe = HallucinationSeverity
        u = self.unsupported_fraction
        return severe if u >= SEVERE_FROM else moderate if u >= MODERATE_FROM else minor


def score_of_counts(counts: ClaimCounts, rules: LockRules) -> Fraction:
    """Returns max(0, 10 - half_up(14 u)); with an unsupported claim Judge-Lock has max(0, 4 - half_up(4 u))."""
    highest, fall = HIGHEST, FALL
    if counts.unsupported and rules.unsupported_hallucination is not None:
        highest = fall = rules.unsupported_hallucination
    return max(Fraction(0), highest - half_up(fall * counts.unsupported_fraction))


def unsupported_passages(claims: Sequence[Claim]) -> tuple[TextSpan, ...]:
    """Returns where the unsupported claims stand in the summary."""
    return tuple(claim.passage for claim in claims if claim.label is ClaimLabel.UNSUPPORTED)


def extraneous_caps(claims: Sequence[Claim], limit: int | None) -> tuple[Cap, ...]:
    """Returns the cap of a summary that makes an unsupported claim; empty for one that makes none."""
    passages = unsupported_passages(claims)
    if not passages:
        return ()
    reason = f"{count(len(passages), 'claim')} not backed by the source: {cite_first(passages)}."
    return cap_at(limit, "extraneous_claim", reason)


def _reason(counts: ClaimCounts, listed: Sequence[Claim]) -> str:
    """Says how many claims hold, and shows the worst with what the source has instead."""
    if not listed:
        return "The summary states nothing that could be checked."
    supported, partial, unsupported = (counts.all[label] for label in ClaimLabel)
    partly = f", {partial} in part" if partial else ""
    not_at_all = f", {unsupported} not at all" if unsupported else ""
    labels = f"The source supports {supported} of {count(counts.all.total(), 'claim')}{partly}{not_at_all}"
    u, raising = float(counts.unsupported_fraction), counts.raising.total()
    guard = f"; {raising} of them may raise the score" if raising < counts.all.total() else ""
    return sentences((f"{labels} (u = {u:.2f}{guard}).", _cite_worst(listed[0])))


def _instead(expected: Fraction | None) -> str:
    return "" if expected is None else f"The claims' mean probability stands for it: {float(expected):.2f}."


def _cite_worst(claim: Claim) -> str:
    """Cites a claim that is not supported, and what the source has; empty for one that is."""
    if claim.label is ClaimLabel.SUPPORTED:
        return ""
    places = [(one.kind.value, f' ("{one.source.text}")' if one.source else "") for one in claim.mismatches]
    differing = f"; it differs in {', '.join(sorted({kind + beside for kind, beside in places}))}" if places else ""
    beside = f" The source has {cite(claim.support)}{differing}." if claim.support else ""
    return f"{claim.label.value.capitalize()}: {cite(claim.passage)}.{beside}"


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """Questions of a language model about one text, each with a score of 1, 0.5 or 0; without one there are none."""

    questions: tuple[Question, ...]  # in the order of asking; empty for a lock that reads none
    # who wrote questions and answers, or "deterministic" without questions; None for a lock that reads none, whose
    # reasons and inputs do not speak of questions
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
            return f"What the {side} answers is not measured: a language model asks questions."
        wrong = next((question for question in self.questions if question.score < 1), None)
        shown = ""
        if wrong is not None:
            given = f'"{wrong.given}"' if wrong.given is not None else "nothing"
            shown = f' To "{wrong.question}" it answers {given} for "{wrong.answer}".'
        return f"The {side} answers {self.correct} of {count(len(self.questions), 'question')} right.{shown}"
