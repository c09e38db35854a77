"""The claims of a summary with what the source says of them, and both texts cut for it.

Cuts a text where marked stretches begin and end, so that stretches which overlap can be shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from precis.v1 import common_pb2, evidence_pb2

from server.cli.judge.names import has_closest, is_contradicted, is_supported, label_name, mismatch_name


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


def cut(text: str, marks: Sequence[Mark]) -> list[MarkedText]:
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


SYMBOLS = {"supported": "✓", "partial": "~", "unsupported": "✗"}  # colour is never the only sign


@dataclass(frozen=True, slots=True)
class Doubt:
    """Words of a claim that the source does not have; `instead`, if anything, is what it has."""

    kind: str
    words: str
    instead: str | None


@dataclass(frozen=True, slots=True)
class ClaimCard:
    """A claim as the page shows it.

    Attributes:
        number: from 1, in the order of the summary.
        label: supported, partial or unsupported.
        symbol: says the label without colour.
        text: its words.
        entailment, contradiction: probabilities, in [0, 1].
        nli_label: what the label would be without doubts.
        doubts: numbers, dates, names, negations.
        support: the passage of the source that is closest to saying it; None when there is none, or it is `opposition`.
        opposition: the passage that contradicts it; None when none does.
    """

    number: int
    label: str
    symbol: str
    text: str
    entailment: float
    contradiction: float
    nli_label: str
    doubts: tuple[Doubt, ...]
    support: str | None
    opposition: str | None


def to_claim(number: int, claim: evidence_pb2.Claim) -> ClaimCard:
    """Builds one claim."""
    label = label_name(claim.label)
    return ClaimCard(
        number=number,
        label=label,
        symbol=SYMBOLS.get(label, "?"),
        text=claim.passage.text,
        entailment=claim.entailment,
        contradiction=claim.contradiction,
        nli_label=label_name(claim.nli_label),
        doubts=tuple(map(to_doubt, claim.mismatches)),
        support=claim.support.text if has_closest(claim) else None,
        opposition=claim.opposition.text if is_contradicted(claim) else None,
    )


def to_doubt(mismatch: evidence_pb2.ClaimMismatch) -> Doubt:
    """Builds one doubt."""
    instead = mismatch.source.text if mismatch.HasField("source") else None
    return Doubt(mismatch_name(mismatch.kind), mismatch.claim.text, instead)


def summary_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    """Yields what is to be seen in the summary."""
    for number, claim in enumerate(claims, start=1):
        yield to_mark(Role.CLAIM, number, claim.passage)
        for mismatch in claim.mismatches:
            yield to_mark(Role.DOUBT, number, mismatch.claim)


def source_marks(claims: Sequence[evidence_pb2.Claim]) -> Iterator[Mark]:
    """Yields what is to be seen in the source."""
    for number, claim in enumerate(claims, start=1):
        if has_closest(claim):
            yield to_mark(Role.SUPPORT if is_supported(claim) else Role.CLOSEST, number, claim.support)
        if is_contradicted(claim):
            yield to_mark(Role.AGAINST, number, claim.opposition)
        for mismatch in claim.mismatches:
            if mismatch.HasField("source"):
                yield to_mark(Role.INSTEAD, number, mismatch.source)


def to_mark(role: Role, number: int, span: common_pb2.TextSpan) -> Mark:
    """Marks a span."""
    return Mark(role, number, span.start, span.end)
