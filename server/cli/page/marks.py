"""Cuts a text where marked stretches begin and end, so that stretches which overlap can be shown; those of claims, too.

Texts are shown as they are, Markdown included: what a span counts is a character of the page.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from precis.v1 import common_pb2, evidence_pb2

from server.cli.judge.names import is_contradicted, is_supported


class Role(StrEnum):
    """What a marked stretch is to a claim."""

    CLAIM = "claim"  # in the summary: the claim itself
    DOUBT = "doubt"  # in the summary: words of it that are not supported
    PREMISE = "premise"  # in the source: the passage that it was checked against
    SUPPORT = "support"  # in the source: the sentence that says it
    CLOSEST = "closest"  # in the source: the sentence closest to saying it, when none does
    AGAINST = "against"  # in the source: the sentence that contradicts it
    INSTEAD = "instead"  # in the source: what stands there in place of a doubtful word


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a text, in characters, that has a role for a claim."""

    role: Role
    claim: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A stretch of a text in which nothing begins or ends."""

    text: str  # its characters
    marks: tuple[Mark, ...] = ()  # what covers it
    begun: tuple[Mark, ...] = ()  # of those, what begins with it

    def has(self, *roles: Role) -> bool:
        """Tells whether the piece has one of the roles, for whatever claim."""
        return any(mark.role in roles for mark in self.marks)

    def begins(self, *roles: Role) -> list[int]:
        """Lists the claims for which a stretch of one of the roles begins here, in order."""
        return sorted({mark.claim for mark in self.begun if mark.role in roles})


def cut(text: str, marks: Iterable[Mark]) -> list[MarkedText]:
    """Cuts a text; the pieces' texts make up the whole again. Marks beyond its end are shortened."""
    size = len(text)
    inside = [mark for mark in marks if 0 <= mark.start < min(mark.end, size)]
    begun: dict[int, list[int]] = {}
    ended: dict[int, list[int]] = {}
    for at, mark in enumerate(inside):
        begun.setdefault(mark.start, []).append(at)
        ended.setdefault(min(mark.end, size), []).append(at)
    covering: dict[int, Mark] = {}
    pieces = []
    for start, end in pairwise(sorted({0, size, *begun, *ended})):
        for at in ended.get(start, ()):
            del covering[at]
        new = {at: inside[at] for at in begun.get(start, ())}
        covering.update(new)
        pieces.append(MarkedText(text[start:end], tuple(covering.values()), tuple(new.values())))
    return pieces


DECIDING = (Role.SUPPORT, Role.CLOSEST, Role.AGAINST)  # one of them for a claim


@dataclass(frozen=True, slots=True)
class ClaimRun:
    """Neighbouring pieces of the summary that are shown as one claim."""

    claim: int | None  # its number; None for what belongs to no claim
    begun: tuple[int, ...]  # the claims that begin with the run, in order; several when claims overlap
    pieces: list[MarkedText]  # of the text


def claim_runs(text: str, claims: Sequence[evidence_pb2.Claim]) -> list[ClaimRun]:
    """Cuts a summary into what is shown as one claim each; of claims that overlap the shortest, then the worst."""
    runs: list[ClaimRun] = []
    for piece in cut(text, _summary_marks(claims)):
        covering = [mark for mark in piece.marks if mark.role is Role.CLAIM]
        ranked = ((mark.end - mark.start, claims[mark.claim - 1].probability, mark.claim) for mark in covering)
        claim = min(ranked)[2] if covering else None
        begun = tuple(piece.begins(Role.CLAIM))
        if runs and runs[-1].claim == claim and not begun:
            runs[-1].pieces.append(piece)
        else:
            runs.append(ClaimRun(claim, begun, [piece]))
    return runs


class MarkedSource:
    """A source, cut where a passage begins or ends that a claim was checked against.

    Attributes:
        pieces: that make it up.
    """

    def __init__(self, text: str, claims: Sequence[evidence_pb2.Claim]) -> None:
        self.pieces = cut(text, _source_marks(claims))
        self._places: dict[tuple[int, Role], dict[Mark, tuple[int, int]]] = defaultdict(dict)
        for number, piece in enumerate(piece for piece in self.pieces if piece.marks):
            for mark in piece.marks:
                found = self._places[mark.claim, mark.role]
                found[mark] = (found.get(mark, (number, number))[0], number)

    def at(self, claim: int, *roles: Role) -> str:
        """Lists the places of a claim for the script: first and last of the marked pieces of each stretch."""
        found = (place for role in roles for place in self._places.get((claim, role), {}).values())
        return " ".join(f"{first} {last}" for first, last in found)


def claim_pieces(claim: evidence_pb2.Claim) -> list[MarkedText]:
    """Cuts the text of one claim where its unsupported words begin and end."""
    start = claim.passage.start
    inside = (Mark(mark.role, 1, mark.start - start, mark.end - start) for mark in _doubts(1, claim))
    return cut(claim.passage.text, inside)


def _summary_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    for number, claim in enumerate(claims, start=1):
        yield _to_mark(Role.CLAIM, number, claim.passage)
        yield from _doubts(number, claim)


def _doubts(number: int, claim: evidence_pb2.Claim) -> Iterator[Mark]:
    """Yields the unsupported words of a claim; that all of it is not supported is said by its label."""
    spans = (*claim.unsupported, *(mismatch.claim for mismatch in claim.mismatches))
    whole = (claim.passage.start, claim.passage.end)
    yield from (_to_mark(Role.DOUBT, number, span) for span in spans if (span.start, span.end) != whole)


def _source_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    for number, claim in enumerate(claims, start=1):  # a span that is not set is empty, and cut away
        yield _to_mark(Role.PREMISE, number, claim.premise)
        yield _to_mark(role_of(claim), number, claim.support)
        yield from (_to_mark(Role.INSTEAD, number, mismatch.source) for mismatch in claim.mismatches)


def role_of(claim: evidence_pb2.Claim) -> Role:
    """Tells what the sentence that a claim is compared with is to it."""
    if is_supported(claim):
        return Role.SUPPORT
    return Role.AGAINST if is_contradicted(claim) else Role.CLOSEST


def _to_mark(role: Role, number: int, span: common_pb2.TextSpan) -> Mark:
    return Mark(role, number, span.start, span.end)
