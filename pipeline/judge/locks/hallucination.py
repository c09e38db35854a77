"""Scores Hallucination: the fraction of the claims that the source does not support.

In Judge-Lock it is multiplied with the precision of the claim questions.
"""

from fractions import Fraction

from pipeline.judge.citation import sentences
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.exact import half_up
from pipeline.judge.locks.caps import LockRules, RawScore
from pipeline.judge.locks.claims import ClaimCounts, claim_evidence, claim_inputs, claim_list, claim_sentence
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Input, MetricName, MetricStatus

HIGHEST, FALL = 10, 14


def score_of_counts(counts: ClaimCounts, rules: LockRules) -> Fraction:
    """Returns max(0, 10 - half_up(14 u)); with an unsupported claim Judge-Lock has max(0, 4 - half_up(4 u))."""
    highest, fall = HIGHEST, FALL
    if counts.unsupported and rules.unsupported_hallucination is not None:
        highest = fall = rules.unsupported_hallucination
    return max(Fraction(0), highest - half_up(fall * counts.unsupported_fraction))


def score_hallucination(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores the labels of the claims, times the mean of the questions about them where there are any.

    Without claims the score is the best, with a status of its own.
    """
    counts = ClaimCounts.of(table.claims)
    questions = QuestionScores.of(table.claim_questions, table.question_author, rules)
    raw, accuracy = score_of_counts(counts, rules), questions.accuracy
    inputs: dict[str, Input] = claim_inputs(table)
    if rules.reads_questions:
        inputs |= {"severity": counts.severity.value, "raw": float(raw), **questions.inputs("question_precision")}
    return RawScore(
        MetricName.HALLUCINATION,
        raw if accuracy is None else raw * accuracy,
        reason=sentences((claim_sentence(table.claims), questions.sentence("source") if counts.total else "")),
        evidence=(*claim_evidence(table.claims), *questions.evidence),
        inputs=inputs,
        lists={"claims": claim_list(table.claims), **questions.lists},
        status=MetricStatus.SCORED if counts.total else MetricStatus.NO_CLAIMS,
        is_whole=not rules.reads_questions,  # which it is multiplied with
    )
