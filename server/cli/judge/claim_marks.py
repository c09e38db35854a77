"""The stretches of a summary and its source that are marked for claims, for the page of a judgement."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from precis.v1 import common_pb2, evidence_pb2

from server.cli.judge.names import is_contradicted, is_supported
from server.cli.page.marks import Mark, MarkedText, Role, cut

DECIDING = (Role.SUPPORT, Role.CLOSEST, Role.AGAINST)  # one of them for a claim


@dataclass(frozen=True, slots=True)
class ClaimRun:
    """Neighbouring pieces of the summary that are shown as one claim.

    Attributes:
        claim: its number; None for what belongs to no claim.
        begun: the claims that begin with the run, in order; several when claims overlap.
        pieces: of the text.
    """

    claim: int | None
    begun: tuple[int, ...]
    pieces: list[MarkedText]


def claim_runs(text: str, claims: Sequence[evidence_pb2.Claim]) -> list[ClaimRun]:
    """Cuts a summary into what is shown as one claim each; of claims that overlap the shortest, then the worst."""
    runs: list[ClaimRun] = []
    for piece in cut(text, summary_marks(claims)):
        covering = [mark for mark in piece.marks if mark.role is Role.CLAIM]
        ranked = ((mark.end - mark.start, claims[mark.claim - 1].probability, mark.claim) for mark in covering)
        claim = min(ranked)[2] if covering else None
        begun = tuple(piece.begins(Role.CLAIM))
        if runs and runs[-1].claim == claim and not begun:
            runs[-1].pieces.append(piece)
        else:
            runs.append(ClaimRun(claim, begun, [piece]))
    return runs


@dataclass(frozen=True, slots=True)
class MarkedSource:
    """The source, cut.

    Attributes:
        pieces: that make it up.
        places: of each claim and role, the first and the last of its pieces, counted without those that have no mark.
    """

    pieces: list[MarkedText]
    places: Mapping[tuple[int, Role], list[tuple[int, int]]]

    def at(self, claim: int, *roles: Role) -> str:
        """Lists the places of a claim for the script: first and last piece of each stretch."""
        found = (place for role in roles for place in self.places.get((claim, role), ()))
        return " ".join(f"{first} {last}" for first, last in found)


def marked_source(text: str, claims: Sequence[evidence_pb2.Claim]) -> MarkedSource:
    """Cuts a source where a passage begins or ends that a claim was checked against."""
    pieces = cut(text, source_marks(claims))
    marked = [piece for piece in pieces if piece.marks]
    places: dict[tuple[int, Role], list[tuple[int, int]]] = {}
    ends = accumulate(len(piece.text) for piece in pieces)
    starts = [end - len(piece.text) for piece, end in zip(pieces, ends, strict=True) if piece.marks]
    for first, piece in enumerate(marked):
        for mark in piece.begun:
            places.setdefault((mark.claim, mark.role), []).append((first, bisect_left(starts, mark.end) - 1))
    return MarkedSource(pieces, places)


def claim_pieces(claim: evidence_pb2.Claim) -> list[MarkedText]:
    """Cuts the text of one claim where its unsupported words begin and end."""
    start = claim.passage.start
    inside = (Mark(mark.role, 1, mark.start - start, mark.end - start) for mark in _doubts(1, claim))
    return cut(claim.passage.text, inside)


def summary_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    """Yields what is to be seen in the summary."""
    for number, claim in enumerate(claims, start=1):
        yield to_mark(Role.CLAIM, number, claim.passage)
        yield from _doubts(number, claim)


def _doubts(number: int, claim: evidence_pb2.Claim) -> Iterator[Mark]:
    """Yields the unsupported words of a claim; that all of it is not supported is said by its label."""
    spans = (*claim.unsupported, *(mismatch.claim for mismatch in claim.mismatches))
    whole = (claim.passage.start, claim.passage.end)
    yield from (to_mark(Role.DOUBT, number, span) for span in spans if (span.start, span.end) != whole)


def source_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    """Yields what is to be seen in the source."""
    for number, claim in enumerate(claims, start=1):
        if claim.HasField("premise"):
            yield to_mark(Role.PREMISE, number, claim.premise)
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
