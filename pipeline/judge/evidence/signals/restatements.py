"""Restatements: claims with one label that say nearly the same. Together they weigh as much as one.

What is true, or partly true, can be said in many ways, and every way would thin out what is wrong. So the rest of what
they weigh raises no score; of claims that are not supported it lowers scores still. Claims without a twin, nearly all
of ordinary summaries, weigh 1.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.claim import Claim, ClaimLabel
from pipeline.judge.evidence.claims import ClaimSpan
from pipeline.judge.evidence.draft import ReadTexts
from pipeline.judge.evidence.text.names import find_names
from pipeline.judge.evidence.text.values import Values
from pipeline.off_loop import stop_if_nobody_waits
from pipeline.text.passage import TextSpan

_ALIKE, _ALIKE_AS_PART = 0.6, 0.4  # of the stems that either has, both have: 0.4% of 9,424 claims have such a twin
_FEWEST_STEMS = 3  # of a claim that is a part of another one


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a claim says.

    Attributes:
        at: its place among the claims.
        stems: of its content words, those that the source has: "truly" and "simply" say nothing.
        values: its numbers, parts of dates, and stems of names.
    """

    at: int
    stems: frozenset[str]
    values: frozenset[object]

    def says_the_same(self, other: "_Statement") -> bool:
        """Tells whether two claims have most stems in common, and one has all values of the other."""
        if not (self.values <= other.values or other.values <= self.values):
            return False
        shared = len(self.stems & other.stems)
        is_part = shared == min(len(self.stems), len(other.stems)) and shared >= _FEWEST_STEMS
        return shared >= (_ALIKE_AS_PART if is_part else _ALIKE) * len(self.stems | other.stems)


def count_restatements(draft: ReadTexts, claims: Sequence[Claim]) -> list[int]:
    """Returns for each claim how many say the same, itself included; the same in any order of the summary.

    What says the same as a third claim says the same. Claims are compared where they have one label and one
    sentence of the source as support: quadratic in the number of those that differ.

    Args:
        claims: those of the draft, with their labels; only grounded ones are compared.
    """
    about = defaultdict[tuple[ClaimLabel, int], list[_Statement]](list)
    for at, (span, claim) in enumerate(zip(draft.claims, claims, strict=True)):
        if claim.is_grounded and claim.support:
            about[claim.label, claim.support.start].append(_statement(draft, at, span))
    counts = [1] * len(claims)
    for statements in about.values():
        for group in _groups(statements):
            for statement in group:
                counts[statement.at] = len(group)
    return counts


def _statement(draft: ReadTexts, at: int, span: ClaimSpan) -> _Statement:
    table, index = draft.summary.read.table, draft.source.index
    found, names = Values.of(span.passage.text), find_names(table, span.words, draft.names)
    values = frozenset[object](
        (
            *((number.measure, number.value) for number in found.quantities),
            *((part.kind, part.value) for part in found.date_parts),
            *(table.stems[word] for name in names for word in range(name.first, name.last)),
        )
    )
    return _Statement(at, frozenset(filter(index.sentence_count, table.content_stems(span.words))), values)


def _groups(statements: Sequence[_Statement]) -> Iterator[list[_Statement]]:
    """Yields statements that say the same, directly or by way of others."""
    left = list(statements)
    while left:
        stop_if_nobody_waits()
        group = [left.pop()]
        for one in group:  # grows meanwhile
            others: list[_Statement] = []
            for other in left:
                (group if one.says_the_same(other) else others).append(other)
            left = others
        yield group


def fewest_restatements(claims: Sequence[Claim], places: Sequence[TextSpan]) -> list[int]:
    """Returns for each place in the summary how often it is said: as its claim that is said least; 1 without claims."""
    starts = [claim.passage.start for claim in claims]
    ends = [claim.passage.end for claim in claims]
    return [
        min(
            (claim.times_said for claim in claims[bisect_right(ends, place.start) : bisect_left(starts, place.end)]),
            default=1,
        )
        for place in places
    ]
