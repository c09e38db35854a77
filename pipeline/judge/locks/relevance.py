"""Scores Relevance: the word overlap of the summary's segments with the article.

In Judge-Lock it is the harmonic mean of that overlap and the accuracy of the coverage questions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from pipeline.judge.citation import cite_first, count, sentences
from pipeline.judge.evidence.table import EvidenceTable, SummarySegment
from pipeline.judge.exact import exact, guarded_mean
from pipeline.judge.locks.caps import LockRules, RawScore, RelevanceMode, cap_at
from pipeline.judge.locks.hallucination import extraneous_caps
from pipeline.judge.locks.questions import QuestionScores
from pipeline.judge.result import Cap, Input, Json, MetricError, MetricName
from pipeline.reading.passage import TextSpan


def score_relevance(table: EvidenceTable, rules: LockRules) -> RawScore:
    """Scores the overlap of the segments with the article, and answers. Raises MetricError without segments."""
    overlaps = SegmentOverlaps.of(table.segments, rules.relevance_mode)
    questions = QuestionScores.of(table.coverage_questions, table.question_author, rules)
    section_overlap = overlaps.mean_of(rules.some_overlap)
    return RawScore(
        MetricName.RELEVANCE,
        10 * questions.joined(section_overlap),
        reason=sentences((overlaps.sentence, questions.sentence("summary"))),
        evidence=overlaps.evidence,
        inputs={
            **overlaps.inputs,
            "section_overlap": float(section_overlap),
            **questions.inputs("question_accuracy"),
        },
        lists={"theme": table.theme.text, "segments": overlaps.list},
        caps=(
            *overlaps.irrelevance_caps(rules.irrelevant_segment),
            *extraneous_caps(table.claims, rules.extraneous_relevance),
        ),
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
        measures = [segment.jaccard if mode is RelevanceMode.JACCARD else segment.containment for segment in segments]
        return cls(tuple(segments), tuple(overlap_of(exact(measure)) for measure in measures), mode)

    def mean_of(self, some: Fraction) -> Fraction:
        """Returns the mean label value, in [0, 1]: High 1, Some as given, None 0.

        Segments that may not raise it can only lower it.
        """
        values = {Overlap.HIGH: Fraction(1), Overlap.SOME: some, Overlap.NONE: Fraction(0)}
        return guarded_mean(
            [values[overlap] for overlap in self.overlaps],
            [Fraction(1)] * len(self.overlaps),
            [segment.may_raise for segment in self.segments],
        )

    @property
    def evidence(self) -> tuple[TextSpan, ...]:
        """The least relevant first."""
        return tuple(place for overlap in reversed(Overlap) for place in self._with(overlap))

    @property
    def inputs(self) -> dict[str, Input]:
        """The counts."""
        return {
            "total_segments": len(self.segments),
            **{overlap.value: self.overlaps.count(overlap) for overlap in Overlap},
            **{f"raising_{overlap.value}": self._raising(overlap) for overlap in Overlap},
            "relevance_mode": self.mode.value,
        }

    @property
    def sentence(self) -> str:
        """Says how many segments are how relevant, and cites the others."""
        high, some = self.overlaps.count(Overlap.HIGH), self.overlaps.count(Overlap.SOME)
        segments = count(len(self.segments), "segment")
        partly = f", {some} some of them" if some else ""
        irrelevant = self._with(Overlap.NONE)
        apart = f" Not about the article: {cite_first(irrelevant)}." if irrelevant else ""
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

    def irrelevance_caps(self, limit: int) -> tuple[Cap, ...]:
        """Returns the cap of a summary with an irrelevant segment; empty for one without."""
        irrelevant = self._with(Overlap.NONE)
        if not irrelevant:
            return ()
        reason = f"{count(len(irrelevant), 'segment')} not about the article: {cite_first(irrelevant)}."
        return cap_at(limit, "irrelevant_segment", reason)

    def _with(self, overlap: Overlap) -> tuple[TextSpan, ...]:
        return tuple(segment.passage for segment in self._of(overlap))

    def _raising(self, overlap: Overlap) -> int:
        return sum(segment.may_raise for segment in self._of(overlap))

    def _of(self, overlap: Overlap) -> Iterator[SummarySegment]:
        return (segment for segment, found in zip(self.segments, self.overlaps, strict=True) if found is overlap)


def overlap_of(value: Fraction) -> Overlap:
    """Labels a measure in [0, 1]; a band holds its lower edge."""
    if value >= HIGH_FROM:
        return Overlap.HIGH
    return Overlap.SOME if value >= SOME_FROM else Overlap.NONE
