"""Twin-Lock's Relevance: mean of the segments' labels x 10; at most 4 with a segment of label None."""

from fractions import Fraction

from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.lock.config import RelevanceMode
from pipeline.judge.lock.draft import Draft
from pipeline.judge.lock.segments import SegmentOverlaps
from pipeline.judge.metric import MetricName

SOME = Fraction(1, 2)
IRRELEVANT_LIMIT = 4


def score_relevance(table: EvidenceTable, mode: RelevanceMode) -> Draft:
    """Scores whether every part of the summary is about the article."""
    overlaps = SegmentOverlaps.of(table.segments, mode)
    section_overlap = overlaps.mean_of(SOME)
    return Draft(
        MetricName.RELEVANCE,
        10 * section_overlap,
        reason=overlaps.sentence,
        evidence=overlaps.evidence,
        inputs={**overlaps.inputs, "section_overlap": float(section_overlap)},
        lists={"theme": table.theme.text, "segments": overlaps.list},
        limits=overlaps.irrelevance_limit(IRRELEVANT_LIMIT),
    )
