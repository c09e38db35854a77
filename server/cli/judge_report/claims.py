"""The claims of a summary with what the source says of them, and both texts cut for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from precis.v1 import common_pb2, evidence_pb2

from server.cli.judge_claims import has_closest, is_contradicted, is_supported
from server.cli.judge_names import LABELS, MISMATCHES, UNKNOWN
from server.cli.judge_report.pieces import Mark, Role

SYMBOLS = {"supported": "✓", "partial": "~", "unsupported": "✗"}  # colour is never the only sign


@dataclass(frozen=True, slots=True)
class Doubt:
    """Words of a claim that the source does not have; `instead`, if anything, is what it has."""

    kind: str
    words: str
    instead: str | None


@dataclass(frozen=True, slots=True)
class Claim:
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


def to_claim(number: int, claim: evidence_pb2.Claim) -> Claim:
    """Builds one claim."""
    label = LABELS.get(claim.label, UNKNOWN)
    return Claim(
        number=number,
        label=label,
        symbol=SYMBOLS.get(label, "?"),
        text=claim.passage.text,
        entailment=claim.entailment,
        contradiction=claim.contradiction,
        nli_label=LABELS.get(claim.nli_label, UNKNOWN),
        doubts=tuple(map(to_doubt, claim.mismatches)),
        support=claim.support.text if has_closest(claim) else None,
        opposition=claim.opposition.text if is_contradicted(claim) else None,
    )


def to_doubt(mismatch: evidence_pb2.ClaimMismatch) -> Doubt:
    """Builds one doubt."""
    instead = mismatch.source.text if mismatch.HasField("source") else None
    return Doubt(MISMATCHES.get(mismatch.kind, UNKNOWN), mismatch.claim.text, instead)


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
