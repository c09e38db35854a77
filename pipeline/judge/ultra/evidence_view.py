"""What Ultra reads in the evidence table, computed once for all metrics."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pipeline.judge.evidence.table import Claim, EvidenceTable, Label
from pipeline.judge.ultra.claim_support import claim_support


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """The table with what Ultra makes of its claims.

    Attributes:
        table: the evidence.
        supports: probability that a claim is faithful, one for each claim.
        contradicted: claims that the source verifiably contradicts.
    """

    table: EvidenceTable
    supports: tuple[float, ...]
    contradicted: tuple[Claim, ...]

    @classmethod
    def of(cls, table: EvidenceTable) -> Self:
        """Reads a table."""
        supports = tuple(claim_support(claim) for claim in table.claims)
        contradicted = tuple(
            claim for claim, support in zip(table.claims, supports, strict=True) if is_contradicted(claim, support)
        )
        return cls(table, supports, contradicted)

    @property
    def unsupported_share(self) -> float:
        """Returns u, the expected share of the summary's sentences that the source does not support, in [0, 1].

        Sentences count alike, as they do for people who judge them one by one; the claims of one share its weight.
        0 without claims.
        """
        by_sentence: dict[int, list[float]] = {}
        for claim, support in zip(self.table.claims, self.supports, strict=True):
            by_sentence.setdefault(claim.sentence_index, []).append(support)
        means = [math.fsum(supports) / len(supports) for supports in by_sentence.values()]
        return 1 - math.fsum(means) / len(means) if means else 0.0

    def disputed(self) -> tuple[int, ...]:
        """Returns the indices of the claims about which the evidence is of two minds."""
        return tuple(
            index
            for index, (claim, support) in enumerate(zip(self.table.claims, self.supports, strict=True))
            if _DISPUTED[0] < support < _DISPUTED[1] or (support >= HALF) is not (claim.label is not Label.UNSUPPORTED)
        )


HALF = 0.5
_DISPUTED = (0.25, 0.75)
_UNBELIEVABLE = 0.25


def is_contradicted(claim: Claim, support: float) -> bool:
    """Tells whether a contradiction is verified: NLI sees one, the words show one, and all evidence agrees.

    NLI alone calls too much a contradiction; a number, name, date or negation that stands otherwise in the source is
    the second witness.
    """
    by_nli = claim.opposition is not None and claim.contradiction >= HALF and claim.contradiction > claim.entailment
    by_words = any(mismatch.source is not None for mismatch in claim.mismatches)
    return by_nli and by_words and support < _UNBELIEVABLE


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Returns the weighted mean; the plain one when all weights are 0. There is at least one value."""
    total = math.fsum(weights)
    if total <= 0:
        return math.fsum(values) / len(values)
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / total
