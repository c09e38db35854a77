"""Judge-Lock: five metrics by rules and questions (SCORING, section 2; seed 002). A pure function of the table.

Who wrote the questions and answers, a language model or masked spans, is the table's matter; every metric that reads
them names the author.
"""

from functools import partial

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.framework import Framework, FrameworkResult
from pipeline.judge.judge_lock.coverage import score_coverage
from pipeline.judge.judge_lock.hallucination import score_hallucination
from pipeline.judge.judge_lock.relevance import score_relevance
from pipeline.judge.lock.alignment import score_alignment
from pipeline.judge.lock.bias_toxicity import score_bias_toxicity
from pipeline.judge.lock.config import LockConfig
from pipeline.judge.lock.framework_score import Formula, score_framework
from pipeline.judge.lock.safeguards import Safeguards
from pipeline.judge.metric import MetricName

SAFEGUARDS = Safeguards(unsupported_limit=3, caps_severe=True, guards_perfection=True)


def score_judge_lock(table: EvidenceTable, config: LockConfig) -> FrameworkResult:
    """Scores all five metrics. One that fails is an error; the rest are scored."""
    formulas: dict[MetricName, Formula] = {
        MetricName.COVERAGE: partial(score_coverage, correct_qags_needed=config.correct_qags_needed),
        MetricName.ALIGNMENT: score_alignment,
        MetricName.HALLUCINATION: score_hallucination,
        MetricName.RELEVANCE: partial(score_relevance, mode=config.relevance_mode),
        MetricName.BIAS_TOXICITY: score_bias_toxicity,
    }
    return score_framework(table, Framework.JUDGE_LOCK, formulas, SAFEGUARDS)
