"""Judge-Lock's Relevance: harmonic mean of section overlap and coverage QAG accuracy, x 10, under two caps."""

from fractions import Fraction

from pipeline.judge.arithmetic.means import harmonic_mean
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judge_lock.qags import QagScores
from pipeline.judge.lock.citation import sentences
from pipeline.judge.lock.config import RelevanceMode
from pipeline.judge.lock.draft import Draft
from pipeline.judge.lock.extraneous import extraneous_limit
from pipeline.judge.lock.segments import SegmentOverlaps
from pipeline.judge.metric import MetricName

SOME = Fraction(3, 10)
LIMIT = 3


def score_relevance(table: EvidenceTable, mode: RelevanceMode) -> Draft:
    """Scores whether every part of the summary is about what matters in the article."""
    overlaps, qags = SegmentOverlaps.of(table.segments, mode), QagScores.of(table.coverage_qags)
    section_overlap, accuracy = overlaps.mean_of(SOME), qags.accuracy
    value = section_overlap if accuracy is None else harmonic_mean(section_overlap, accuracy)
    return Draft(
        MetricName.RELEVANCE,
        10 * value,
        reason=sentences((overlaps.sentence, qags.sentence("summary"))),
        evidence=overlaps.evidence,
        inputs={
            **overlaps.inputs,
            "section_overlap": float(section_overlap),
            **qags.inputs("qag_accuracy"),
            "qag_author": table.qag_author,
        },
        lists={"theme": table.theme.text, "segments": overlaps.list},
        limits=(*overlaps.irrelevance_limit(LIMIT), *extraneous_limit(table.claims, LIMIT)),
    )
