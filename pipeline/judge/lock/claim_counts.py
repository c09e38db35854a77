"""How many claims have which label, and what follows from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

from pipeline.judge.evidence.table import Claim, Label


class HallucinationSeverity(StrEnum):
    """How grave the unsupported fraction u is: below 0.25, below 0.5, the rest."""

    MINOR = "minor"
    MODERATE = "moderate"
    SEVERE = "severe"


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """Numbers of claims by label."""

    supported: int
    partial: int
    unsupported: int

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> Self:
        """Counts the claims of a table."""
        labels = [claim.label for claim in claims]
        return cls(labels.count(Label.SUPPORTED), labels.count(Label.PARTIAL), labels.count(Label.UNSUPPORTED))

    @property
    def total(self) -> int:
        """All claims."""
        return self.supported + self.partial + self.unsupported

    @property
    def unsupported_fraction(self) -> Fraction:
        """Returns u = (unsupported + partial / 2) / total, in [0, 1]; 0 without claims."""
        return Fraction(2 * self.unsupported + self.partial, 2 * self.total) if self.total else Fraction(0)

    @property
    def severity(self) -> HallucinationSeverity:
        """The seed's words include their lower edges: u = 0.25 is moderate, u = 0.5 severe."""
        if self.unsupported_fraction >= Fraction(1, 2):
            return HallucinationSeverity.SEVERE
        if self.unsupported_fraction >= Fraction(1, 4):
            return HallucinationSeverity.MODERATE
        return HallucinationSeverity.MINOR
