"""Twin-Lock's Coverage: F1 x 10 of precision and key-point recall; at most 4 with an unsupported claim."""

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.lock.citation import sentences
from pipeline.judge.lock.draft import Draft
from pipeline.judge.lock.extraneous import extraneous_limit, unsupported_passages
from pipeline.judge.lock.recall import FScore
from pipeline.judge.metric import MetricName

EXTRANEOUS_LIMIT = 4


def score_coverage(table: EvidenceTable) -> Draft:
    """Scores how much of the source's core the summary tells, and how much else it says."""
    f_score = FScore.of(table, table.twin_key_points)
    return Draft(
        MetricName.COVERAGE,
        10 * f_score.value,
        reason=sentences((f_score.recall.sentence, f_score.sentence)),
        evidence=(*unsupported_passages(table.claims), *f_score.recall.evidence),
        inputs=f_score.inputs,
        lists={"key_points": f_score.recall.list},
        limits=extraneous_limit(table.claims, EXTRANEOUS_LIMIT),
    )
