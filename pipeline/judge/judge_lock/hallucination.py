"""Judge-Lock's Hallucination: a raw score of the unsupported fraction, times the precision of the claims' QAGs."""

from fractions import Fraction

from pipeline.judge.arithmetic.rounding import half_up
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judge_lock.qags import QagScores
from pipeline.judge.lock.citation import sentences
from pipeline.judge.lock.claim_counts import ClaimCounts
from pipeline.judge.lock.claims import claim_evidence, claim_inputs, claim_list, claim_sentence
from pipeline.judge.lock.draft import Draft
from pipeline.judge.metric import MetricName, MetricStatus


def score_of_counts(counts: ClaimCounts) -> Fraction:
    """Returns max(0, 4 - half_up(4u)) when a claim is unsupported, else max(0, 10 - half_up(14u))."""
    u = counts.unsupported_fraction
    return max(Fraction(0), 4 - half_up(4 * u) if counts.unsupported else 10 - half_up(14 * u))


def score_hallucination(table: EvidenceTable) -> Draft:
    """Scores how far the source backs the claims. Claims that nothing could be asked about are left to their labels."""
    counts, qags = ClaimCounts.of(table.claims), QagScores.of(table.claim_qags)
    accuracy = qags.accuracy
    raw = score_of_counts(counts)
    return Draft(
        MetricName.HALLUCINATION,
        raw if accuracy is None else raw * accuracy,
        reason=sentences((claim_sentence(table.claims), qags.sentence("source") if counts.total else "")),
        evidence=(*claim_evidence(table.claims), *qags.evidence),
        inputs={
            **claim_inputs(table),
            "severity": counts.severity.value,
            "raw": float(raw),
            **qags.inputs("qag_precision"),
            "qag_author": table.qag_author,
        },
        lists={"claims": claim_list(table.claims), "questions": qags.list},
        status=MetricStatus.SCORED if counts.total else MetricStatus.NO_CLAIMS,
    )
