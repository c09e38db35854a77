"""How far two places of a text are the same place."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from pipeline.text.passage import Passage

SAME_SPAN_IOU = Fraction(1, 2)
"""Intersection over union from which two spans are duplicates (SCORING, section 2)."""

_NOTHING = Fraction(0)


def intersection_over_union(first: Passage, second: Passage) -> Fraction:
    """Returns shared characters / characters of either; 0 for passages of different texts."""
    shared = min(first.end, second.end) - max(first.start, second.start)
    if shared <= 0 or first.text_id != second.text_id:
        return _NOTHING
    return Fraction(shared, first.end - first.start + second.end - second.start - shared)


def distinct_spans(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Leaves out passages that are duplicates of an earlier one."""
    kept: list[Passage] = []
    for passage in passages:
        if all(intersection_over_union(passage, other) < SAME_SPAN_IOU for other in kept):
            kept.append(passage)
    return tuple(kept)


def duplicate_span_count(passages: Sequence[Passage]) -> int:
    """Counts the passages that are duplicates of an earlier one."""
    return len(passages) - len(distinct_spans(passages))
