"""Judge-Lock's Coverage: harmonic mean of F1 and QAG accuracy, x 10, under four caps."""

from fractions import Fraction

from pipeline.judge.arithmetic.means import harmonic_mean
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judge_lock.qags import QagScores
from pipeline.judge.lock.citation import count, sentences
from pipeline.judge.lock.draft import Draft, Limit
from pipeline.judge.lock.extraneous import extraneous_limit, unsupported_passages
from pipeline.judge.lock.recall import FScore
from pipeline.judge.metric import MetricName

EXTRANEOUS_LIMIT = 3
WEAK_LIMIT = 7
MIN_PRECISION = Fraction(19, 20)
MIN_RECALL = Fraction(9, 10)


def score_coverage(table: EvidenceTable, correct_qags_needed: int) -> Draft:
    """Scores how much of the source's key content the summary faithfully tells.

    Without questions F1 stands alone: no answer is neither a right nor a wrong one. The cap for too few right answers
    holds all the same.
    """
    f_score, qags = FScore.of(table, table.judge_key_points), QagScores.of(table.coverage_qags)
    accuracy = qags.accuracy
    value = f_score.value if accuracy is None else harmonic_mean(f_score.value, accuracy)
    return Draft(
        MetricName.COVERAGE,
        10 * value,
        reason=sentences((f_score.recall.sentence, f_score.sentence, qags.sentence("summary"))),
        evidence=(*unsupported_passages(table.claims), *f_score.recall.evidence, *qags.evidence),
        inputs={**f_score.inputs, **qags.inputs("qag_accuracy"), "qag_author": table.qag_author},
        lists={"key_points": f_score.recall.list, "questions": qags.list},
        limits=(
            *extraneous_limit(table.claims, EXTRANEOUS_LIMIT),
            *_qag_limits(qags, correct_qags_needed),
            *_f_score_limits(f_score),
        ),
    )


def _qag_limits(qags: QagScores, needed: int) -> tuple[Limit, ...]:
    limits: list[Limit] = []
    if qags.correct < needed:
        reason = f"{count(qags.correct, 'question')} answered right, fewer than {needed}."
        limits.append(Limit("few_correct_qags", WEAK_LIMIT, reason))
    if qags.duplicates:
        reason = f"{count(qags.duplicates, 'question')} about the place of an earlier one."
        limits.append(Limit("duplicate_qag_spans", WEAK_LIMIT, reason))
    return tuple(limits)


def _f_score_limits(f_score: FScore) -> tuple[Limit, ...]:
    limits: list[Limit] = []
    if f_score.precision < MIN_PRECISION:
        reason = f"Precision {float(f_score.precision):.3f} is below 0.95."
        limits.append(Limit("low_precision", WEAK_LIMIT, reason))
    if f_score.recall.value < MIN_RECALL:
        reason = f"Recall {float(f_score.recall.value):.3f} is below 0.90."
        limits.append(Limit("low_recall", WEAK_LIMIT, reason))
    return tuple(limits)
