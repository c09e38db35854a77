"""Twin-Lock: five metrics by rules alone (SCORING, section 2; seed 002). A pure function of the evidence table."""

from functools import partial

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.framework import Framework, FrameworkResult
from pipeline.judge.lock.alignment import score_alignment
from pipeline.judge.lock.bias_toxicity import score_bias_toxicity
from pipeline.judge.lock.config import LockConfig
from pipeline.judge.lock.framework_score import Formula, score_framework
from pipeline.judge.lock.safeguards import Safeguards
from pipeline.judge.metric import MetricName
from pipeline.judge.twin_lock.coverage import score_coverage
from pipeline.judge.twin_lock.hallucination import score_hallucination
from pipeline.judge.twin_lock.relevance import score_relevance

UNSUPPORTED_LIMIT = 4


def score_twin_lock(table: EvidenceTable, config: LockConfig) -> FrameworkResult:
    """Scores all five metrics. One that fails is an error; the rest are scored."""
    formulas: dict[MetricName, Formula] = {
        MetricName.COVERAGE: score_coverage,
        MetricName.ALIGNMENT: score_alignment,
        MetricName.HALLUCINATION: score_hallucination,
        MetricName.RELEVANCE: partial(score_relevance, mode=config.relevance_mode),
        MetricName.BIAS_TOXICITY: score_bias_toxicity,
    }
    safeguards = Safeguards(UNSUPPORTED_LIMIT, config.twin_safeguards, config.twin_safeguards)
    return score_framework(table, Framework.TWIN_LOCK, formulas, safeguards)
