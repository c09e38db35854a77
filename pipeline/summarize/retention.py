"""Measures what share of the technical terms of an input survives in an output."""

from dataclasses import dataclass

from pipeline.text.technical_terms import TermKind


@dataclass(frozen=True, slots=True)
class TermRetention:
    """How many distinct terms of one kind survived.

    Attributes:
        kind: of the terms.
        input_count: distinct terms of the input.
        kept_count: those of them that the output has too; at most `input_count`.
        missing: some terms that were lost, in the order of the input; examples, not all of them.
    """

    kind: TermKind
    input_count: int
    kept_count: int
    missing: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """In [0, 1]; 1 when there was nothing to keep."""
        return self.kept_count / self.input_count if self.input_count else 1.0


@dataclass(frozen=True, slots=True)
class Retention:
    """What survived, one entry for each kind, in the order of `TermKind`."""

    kinds: tuple[TermRetention, ...]
