"""Cuts both texts where marked stretches begin and end, so that stretches which overlap can be shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from precis.v1 import common_pb2, evidence_pb2

from server.cli.judge.names import is_contradicted, is_supported


class Role(StrEnum):
    """What a marked stretch is to a claim."""

    CLAIM = "claim"  # in the summary: the claim itself
    DOUBT = "doubt"  # in the summary: words of it that the source does not have
    SUPPORT = "support"  # in the source: the passage that says it
    CLOSEST = "closest"  # in the source: the passage closest to saying it, when none does
    AGAINST = "against"  # in the source: the passage that contradicts it
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
    """A stretch of a text in which nothing begins or ends.

    Attributes:
        text: its characters.
        marks: what covers it.
        begun: of those, what begins with it.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    begun: tuple[Mark, ...] = ()

    def claims(self, *roles: Role) -> list[int]:
        """Lists the claims for which the piece has one of the roles, in order."""
        return sorted({mark.claim for mark in self.marks if mark.role in roles})


def cut(text: str, marks: Iterable[Mark]) -> list[MarkedText]:
    """Cuts a text; the pieces' texts make up the whole again. Marks beyond its end are shortened."""
    inside = [mark for mark in marks if 0 <= mark.start < min(mark.end, len(text))]
    edges = sorted({0, len(text)} | {edge for mark in inside for edge in (mark.start, min(mark.end, len(text)))})
    pieces = []
    for start, end in pairwise(edges):
        covering = tuple(mark for mark in inside if mark.start <= start and end <= min(mark.end, len(text)))
        pieces.append(MarkedText(text[start:end], covering, tuple(mark for mark in covering if mark.start == start)))
    return pieces


def runs(pieces: Sequence[MarkedText]) -> list[tuple[int | None, list[MarkedText]]]:
    """Groups neighbouring pieces of the same claim; None for what belongs to no claim."""
    grouped: list[tuple[int | None, list[MarkedText]]] = []
    for piece in pieces:
        claim = next(iter(piece.claims(Role.CLAIM)), None)
        if grouped and grouped[-1][0] == claim:
            grouped[-1][1].append(piece)
        else:
            grouped.append((claim, [piece]))
    return grouped


def summary_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    """Yields what is to be seen in the summary."""
    for number, claim in enumerate(claims, start=1):
        yield to_mark(Role.CLAIM, number, claim.passage)
        for mismatch in claim.mismatches:
            yield to_mark(Role.DOUBT, number, mismatch.claim)


def source_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    """Yields what is to be seen in the source."""
    for number, claim in enumerate(claims, start=1):
        if claim.HasField("support"):
            yield to_mark(role_of(claim), number, claim.support)
        for mismatch in claim.mismatches:
            if mismatch.HasField("source"):
                yield to_mark(Role.INSTEAD, number, mismatch.source)


def role_of(claim: evidence_pb2.Claim) -> Role:
    """Tells what the sentence that a claim is compared with is to it."""
    if is_supported(claim):
        return Role.SUPPORT
    return Role.AGAINST if is_contradicted(claim) else Role.CLOSEST


def to_mark(role: Role, number: int, span: common_pb2.TextSpan) -> Mark:
    """Marks a span."""
    return Mark(role, number, span.start, span.end)
