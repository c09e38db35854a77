"""Twin-Lock's Relevance: mean of the segments' labels x 10; at most 4 with a segment of label None.

Judge-Lock's Relevance: harmonic mean of section overlap and coverage QAG accuracy, x 10, under two caps.

How far the summary's segments are about the article, for Relevance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import cite_first, count, sentences
from pipeline.judge.evidence.table import EvidenceTable, SummarySegment
from pipeline.judge.exact import exact, harmonic_mean, mean
from pipeline.judge.locks.caps import MetricLimit, RawScore
from pipeline.judge.locks.claims import extraneous_limit
from pipeline.judge.locks.config import RelevanceMode
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Input, Json, MetricError, MetricName
from pipeline.text.passage import TextSpan

TWIN_SOME = Fraction(1, 2)
IRRELEVANT_LIMIT = 4


def score_twin_relevance(table: EvidenceTable, mode: RelevanceMode) -> RawScore:
    """Scores whether every part of the summary is about the article."""
    overlaps = SegmentOverlaps.of(table.segments, mode)
    section_overlap = overlaps.mean_of(TWIN_SOME)
    return RawScore(
        MetricName.RELEVANCE,
        10 * section_overlap,
        reason=overlaps.sentence,
        evidence=overlaps.evidence,
        inputs={**overlaps.inputs, "section_overlap": float(section_overlap)},
        lists={"theme": table.theme.text, "segments": overlaps.list},
        limits=overlaps.irrelevance_limit(IRRELEVANT_LIMIT),
    )


JUDGE_SOME = Fraction(3, 10)
LIMIT = 3


def score_judge_relevance(table: EvidenceTable, mode: RelevanceMode) -> RawScore:
    """Scores whether every part of the summary is about what matters in the article."""
    overlaps, questions = SegmentOverlaps.of(table.segments, mode), QuestionScores.of(table.coverage_questions)
    section_overlap, accuracy = overlaps.mean_of(JUDGE_SOME), questions.accuracy
    value = section_overlap if accuracy is None else harmonic_mean(section_overlap, accuracy)
    return RawScore(
        MetricName.RELEVANCE,
        10 * value,
        reason=sentences((overlaps.sentence, questions.sentence("summary"))),
        evidence=overlaps.evidence,
        inputs={
            **overlaps.inputs,
            "section_overlap": float(section_overlap),
            **questions.inputs("question_accuracy"),
            "question_author": table.question_author,
        },
        lists={"theme": table.theme.text, "segments": overlaps.list},
        limits=(*overlaps.irrelevance_limit(LIMIT), *extraneous_limit(table.claims, LIMIT)),
    )


HIGH_FROM = Fraction(4, 5)
SOME_FROM = Fraction(3, 10)


class Overlap(StrEnum):
    """How much of a segment the article has: High [.8, 1], Some [.3, .8), None below. A band holds its lower edge."""

    HIGH = "high"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SegmentOverlaps:
    """Segments with their overlap. There is at least one."""

    segments: tuple[SummarySegment, ...]
    overlaps: tuple[Overlap, ...]
    mode: RelevanceMode

    @classmethod
    def of(cls, segments: Sequence[SummarySegment], mode: RelevanceMode) -> Self:
        """Labels segments.

        Raises:
            MetricError: there is none.
        """
        if not segments:
            raise MetricError("no_segments: the summary has no words to compare")
        return cls(tuple(segments), tuple(overlap_of(value_of(segment, mode)) for segment in segments), mode)

    def mean_of(self, some: Fraction) -> Fraction:
        """Returns the mean label value, in [0, 1]: High 1, Some as given, None 0."""
        values = {Overlap.HIGH: Fraction(1), Overlap.SOME: some, Overlap.NONE: Fraction(0)}
        return mean([values[overlap] for overlap in self.overlaps])

    @property
    def irrelevant(self) -> tuple[TextSpan, ...]:
        """Segments that the article has next to nothing of."""
        return self._with(Overlap.NONE)

    @property
    def evidence(self) -> tuple[TextSpan, ...]:
        """The least relevant first."""
        return (*self._with(Overlap.NONE), *self._with(Overlap.SOME), *self._with(Overlap.HIGH))

    @property
    def inputs(self) -> dict[str, Input]:
        """The counts."""
        return {
            "total_segments": len(self.segments),
            "high": self.overlaps.count(Overlap.HIGH),
            "some": self.overlaps.count(Overlap.SOME),
            "none": self.overlaps.count(Overlap.NONE),
            "relevance_mode": self.mode.value,
        }

    @property
    def sentence(self) -> str:
        """Says how many segments are how relevant, and cites the others."""
        high, some = self.overlaps.count(Overlap.HIGH), self.overlaps.count(Overlap.SOME)
        segments = count(len(self.segments), "segment")
        partly = f", {some} some of them" if some else ""
        apart = f" Not about the article: {cite_first(self.irrelevant)}." if self.irrelevant else ""
        return f"The article has nearly all content words of {high} of {segments}{partly}.{apart}"

    @property
    def list(self) -> list[Json]:
        """The segments as the JSON object shows them, with both measures."""
        return [
            {
                "segment": segment.passage.text,
                "label": overlap.value.capitalize(),
                "containment": segment.containment,
                "jaccard": segment.jaccard,
            }
            for segment, overlap in zip(self.segments, self.overlaps, strict=True)
        ]

    def irrelevance_limit(self, highest: int) -> tuple[MetricLimit, ...]:
        """Returns the cap of a summary with an irrelevant segment; empty for one without."""
        if not self.irrelevant:
            return ()
        reason = f"{count(len(self.irrelevant), 'segment')} not about the article: {cite_first(self.irrelevant)}."
        return (MetricLimit("irrelevant_segment", highest, reason),)

    def _with(self, overlap: Overlap) -> tuple[TextSpan, ...]:
        pairs = zip(self.segments, self.overlaps, strict=True)
        return tuple(segment.passage for segment, found in pairs if found is overlap)


def value_of(segment: SummarySegment, mode: RelevanceMode) -> Fraction:
    """Returns the measure that the bands are of."""
    return exact(segment.jaccard if mode is RelevanceMode.JACCARD else segment.containment)


def overlap_of(value: Fraction) -> Overlap:
    """Labels a measure in [0, 1]; a band holds its lower edge (README, Twin-Lock and Judge-Lock)."""
    if value >= HIGH_FROM:
        return Overlap.HIGH
    return Overlap.SOME if value >= SOME_FROM else Overlap.NONE
