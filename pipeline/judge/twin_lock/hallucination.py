"""Twin-Lock's Hallucination: max(0, 10 - half_up(14 u)), an integer."""

from fractions import Fraction

from pipeline.judge.arithmetic.rounding import half_up
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.lock.claim_counts import ClaimCounts
from pipeline.judge.lock.claims import claim_evidence, claim_inputs, claim_list, claim_sentence
from pipeline.judge.lock.draft import Draft
from pipeline.judge.metric import MetricName, MetricStatus


def score_of_fraction(unsupported_fraction: Fraction) -> Fraction:
    """Returns the score of u in [0, 1]: 10 for 0, 0 from 0.75 on."""
    return max(Fraction(0), 10 - half_up(14 * unsupported_fraction))


def score_hallucination(table: EvidenceTable) -> Draft:
    """Scores how many claims the source does not back. Without claims: the best score, and a status of its own."""
    counts = ClaimCounts.of(table.claims)
    return Draft(
        MetricName.HALLUCINATION,
        score_of_fraction(counts.unsupported_fraction),
        reason=claim_sentence(table.claims),
        evidence=claim_evidence(table.claims),
        inputs=claim_inputs(table),
        lists={"claims": claim_list(table.claims)},
        status=MetricStatus.SCORED if counts.total else MetricStatus.NO_CLAIMS,
        digits=0,
    )
