"""One pair of premise and claim, and what is known of it."""

import hashlib
from dataclasses import dataclass

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_SUPPORTED = 0, 1, 2, 3
"""Labels; the last one is neutral or contradiction, whichever."""

_DEVELOPMENT_TENTHS = 1
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Example:
    """One pair.

    Attributes:
        source: of the pool, or "nli" or "templates".
        document: digest of its document: examples of one document are on one side of a split.
        label: one of the four above.
        group: examples of one group are variants of one claim: they stay in one batch.
        spans: characters of the claim that the premise does not support; None where nobody marked them.
        edit: how it was made from a supported claim; empty for people's.
    """

    source: str
    document: str
    premise: str
    claim: str
    label: int
    group: str
    spans: Spans | None
    edit: str = ""

    @property
    def is_development(self) -> bool:
        """Whether it is kept out of training."""
        return is_development(self.document)


def digest_of(document: str) -> str:
    """Returns what a document is known by: 16 hexadecimal digits."""
    return hashlib.sha256(document.encode()).hexdigest()[:16]


def is_development(digest: str) -> bool:
    """Tells whether the claims of a document are kept out of training."""
    return int(digest[:8], 16) % 10 < _DEVELOPMENT_TENTHS
