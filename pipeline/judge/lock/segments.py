"""How far the summary's segments are about the article, for Relevance."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from pipeline.judge.arithmetic.means import mean
from pipeline.judge.arithmetic.rounding import exact
from pipeline.judge.errors import MetricError
from pipeline.judge.evidence.table import Segment
from pipeline.judge.framework import Json
from pipeline.judge.lock.citation import cite_first, count
from pipeline.judge.lock.config import RelevanceMode
from pipeline.judge.lock.draft import Limit
from pipeline.judge.metric import Input
from pipeline.text.passage import Passage

HIGH_FROM = Fraction(4, 5)
SOME_FROM = Fraction(3, 10)


class Overlap(StrEnum):
    """How much of a segment the article has: High [.8, 1], Some [.3, .8), None below. The seed writes the edges in."""

    HIGH = "high"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SegmentOverlaps:
    """Segments with their overlap. There is at least one."""

    segments: tuple[Segment, ...]
    overlaps: tuple[Overlap, ...]
    mode: RelevanceMode

    @classmethod
    def of(cls, segments: Sequence[Segment], mode: RelevanceMode) -> Self:
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
    def irrelevant(self) -> tuple[Passage, ...]:
        """Segments that the article has next to nothing of."""
        return self._with(Overlap.NONE)

    @property
    def evidence(self) -> tuple[Passage, ...]:
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

    def irrelevance_limit(self, highest: int) -> tuple[Limit, ...]:
        """Returns the cap of a summary with an irrelevant segment; empty for one without."""
        if not self.irrelevant:
            return ()
        reason = f"{count(len(self.irrelevant), 'segment')} not about the article: {cite_first(self.irrelevant)}."
        return (Limit("irrelevant_segment", highest, reason),)

    def _with(self, overlap: Overlap) -> tuple[Passage, ...]:
        pairs = zip(self.segments, self.overlaps, strict=True)
        return tuple(segment.passage for segment, found in pairs if found is overlap)


def value_of(segment: Segment, mode: RelevanceMode) -> Fraction:
    """Returns the measure that the bands are of."""
    return exact(segment.jaccard if mode is RelevanceMode.JACCARD else segment.containment)


def overlap_of(value: Fraction) -> Overlap:
    """Labels a measure in [0, 1]; edges belong to the band above, as the seed writes them."""
    if value >= HIGH_FROM:
        return Overlap.HIGH
    return Overlap.SOME if value >= SOME_FROM else Overlap.NONE
