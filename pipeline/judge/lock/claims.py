"""The claims as reasons and JSON objects show them, for Hallucination."""

from collections.abc import Sequence

from pipeline.judge.evidence.table import Claim, EvidenceTable, Label
from pipeline.judge.framework import Json, JsonObject
from pipeline.judge.lock.citation import cite, count, sentences
from pipeline.judge.lock.claim_counts import ClaimCounts
from pipeline.judge.metric import Input
from pipeline.text.passage import Passage

_WORST_FIRST = (Label.UNSUPPORTED, Label.PARTIAL, Label.SUPPORTED)


def claim_inputs(table: EvidenceTable) -> dict[str, Input]:
    """Returns the counts of the formula."""
    counts = ClaimCounts.of(table.claims)
    return {
        "total_claims": counts.total,
        "supported": counts.supported,
        "partial": counts.partial,
        "unsupported": counts.unsupported,
        "omitted_claims": table.omitted_claim_count,
        "unsupported_fraction": float(counts.unsupported_fraction),
    }


def claim_evidence(claims: Sequence[Claim]) -> tuple[Passage, ...]:
    """Returns each claim with the source passage that decided, the worst claims first."""
    ordered = sorted(claims, key=lambda claim: _WORST_FIRST.index(claim.label))  # stable: position decides ties
    return tuple(place for claim in ordered for place in (claim.passage, deciding_passage(claim)) if place is not None)


def deciding_passage(claim: Claim) -> Passage | None:
    """Returns what contradicts an unsupported claim more than anything supports it, else what supports it best."""
    is_refuted = claim.label is Label.UNSUPPORTED and claim.contradiction > claim.entailment
    return claim.opposition if is_refuted else claim.support


def claim_list(claims: Sequence[Claim]) -> list[Json]:
    """Returns the claims as JSON."""
    return [_to_object(claim) for claim in claims]


def claim_sentence(claims: Sequence[Claim]) -> str:
    """Says how many claims hold, and shows the worst with what the source has instead."""
    if not claims:
        return "The summary states nothing that could be checked."
    counts = ClaimCounts.of(claims)
    partial = f", {counts.partial} in part" if counts.partial else ""
    unsupported = f", {counts.unsupported} not at all" if counts.unsupported else ""
    supported = f"The source supports {counts.supported} of {count(counts.total, 'claim')}{partial}{unsupported}"
    return sentences((f"{supported} (u = {float(counts.unsupported_fraction):.2f}).", _worst(claims)))


def _worst(claims: Sequence[Claim]) -> str:
    """Cites the first of the worst claims; empty when all are supported."""
    claim = min(claims, key=lambda claim: _WORST_FIRST.index(claim.label))
    if claim.label is Label.SUPPORTED:
        return ""
    place = deciding_passage(claim)
    kinds = sorted({mismatch.kind.value for mismatch in claim.mismatches})
    differing = f"; it differs in {', '.join(kinds)}" if kinds else ""
    beside = f" The source has {cite(place)}{differing}." if place else ""
    return f"{claim.label.value.capitalize()}: {cite(claim.passage)}.{beside}"


def _to_object(claim: Claim) -> JsonObject:
    place = deciding_passage(claim)
    return {
        "claim": claim.passage.text,
        "label": claim.label.value.capitalize(),
        "entailment": claim.entailment,
        "contradiction": claim.contradiction,
        "mismatches": [mismatch.kind.value for mismatch in claim.mismatches],
        "source": place.text if place else None,
    }
