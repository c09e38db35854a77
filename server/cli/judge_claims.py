"""Which passages of the source are worth showing beside a claim, and what they are to it."""

from precis.v1 import evidence_pb2

LEAST_CONTRADICTION = 0.5  # some passage always has the highest contradiction; below this it says nothing


def is_contradicted(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `opposition` speaks against the claim, and more clearly than `support` for it."""
    return claim.HasField("opposition") and claim.contradiction > max(claim.entailment, LEAST_CONTRADICTION)


def has_closest(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `support` is worth showing; not again when it is what contradicts the claim."""
    return claim.HasField("support") and not (is_contradicted(claim) and claim.support == claim.opposition)


def is_supported(claim: evidence_pb2.Claim) -> bool:
    """Tells whether `support` supports the claim, rather than being the closest that there is."""
    return claim.label == evidence_pb2.CLAIM_LABEL_SUPPORTED
