"""Twin-Lock's Hallucination: max(0, 10 - half_up(14 u)), an integer.

Judge-Lock's Hallucination: a raw score of the unsupported fraction, times the precision of the claims' QAGs.
"""

from fractions import Fraction

from pipeline.judge.citation import sentences
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.exact import half_up
from pipeline.judge.locks.caps import RawScore
from pipeline.judge.locks.claims import ClaimCounts, claim_evidence, claim_inputs, claim_list, claim_sentence
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import MetricName, MetricStatus


def score_of_fraction(unsupported_fraction: Fraction) -> Fraction:
    """Returns the score of u in [0, 1]: 10 for 0, 0 from 0.75 on."""
    return max(Fraction(0), 10 - half_up(14 * unsupported_fraction))


def score_twin_hallucination(table: EvidenceTable) -> RawScore:
    """Scores how many claims the source does not back. Without claims: the best score, and a status of its own."""
    counts = ClaimCounts.of(table.claims)
    return RawScore(
        MetricName.HALLUCINATION,
        score_of_fraction(counts.unsupported_fraction),
        reason=claim_sentence(table.claims),
        evidence=claim_evidence(table.claims),
        inputs=claim_inputs(table),
        lists={"claims": claim_list(table.claims)},
        status=MetricStatus.SCORED if counts.total else MetricStatus.NO_CLAIMS,
        digits=0,
    )


def score_of_counts(counts: ClaimCounts) -> Fraction:
    """Returns max(0, 4 - half_up(4u)) when a claim is unsupported, else max(0, 10 - half_up(14u))."""
    u = counts.unsupported_fraction
    return max(Fraction(0), 4 - half_up(4 * u) if counts.unsupported else 10 - half_up(14 * u))


def score_judge_hallucination(table: EvidenceTable) -> RawScore:
    """Scores how far the source backs the claims. Claims that nothing could be asked about are left to their labels."""
    counts, questions = ClaimCounts.of(table.claims), QuestionScores.of(table.claim_questions)
    accuracy = questions.accuracy
    raw = score_of_counts(counts)
    return RawScore(
        MetricName.HALLUCINATION,
        raw if accuracy is None else raw * accuracy,
        reason=sentences((claim_sentence(table.claims), questions.sentence("source") if counts.total else "")),
        evidence=(*claim_evidence(table.claims), *questions.evidence),
        inputs={
            **claim_inputs(table),
            "severity": counts.severity.value,
            "raw": float(raw),
            **questions.inputs("question_precision"),
            "question_author": table.question_author,
        },
        lists={"claims": claim_list(table.claims), "questions": questions.list},
        status=MetricStatus.SCORED if counts.total else MetricStatus.NO_CLAIMS,
    )
