"""What the front doors return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from inference.backend import Float32
from inference.encoded import Encoded
from inference.errors import InferenceError
from inference.ticket import Ticket


@dataclass(frozen=True, slots=True)
class Timings:
    """Where a call spent its time. `queue_s` ends, and `compute_s` begins, with its last batch."""

    queue_s: float
    compute_s: float


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """One result for each item of a call, in the order of the items.

    A failed item has a row of NaN and an error; the others are not affected.
    """

    values: Float32  # shape (items, columns)
    errors: Mapping[int, InferenceError]  # by index of the item
    token_counts: tuple[int, ...]  # special tokens included, after truncation
    truncated: tuple[bool, ...]  # whether part of the item was left out
    timings: Timings
    cache_hit_count: int  # items answered from the cache, or by work that was in flight already

    @classmethod
    def of(cls, ticket: Ticket, items: Sequence[Encoded]) -> Self:
        """Takes the results out of a ticket whose items are all answered."""
        return cls(
            values=ticket.values,
            errors=ticket.errors,
            token_counts=tuple([item.length for item in items]),
            truncated=tuple([item.is_truncated for item in items]),
            timings=Timings(ticket.started_s - ticket.queued_s, ticket.finished_s - ticket.started_s),
            cache_hit_count=ticket.cache_hit_count,
        )


@dataclass(frozen=True, slots=True)
class EmbeddingBatch(ItemBatch):
    """`values` has shape (texts, dimension): L2-normalised vectors."""


@dataclass(frozen=True, slots=True)
class EntailmentBatch(ItemBatch):
    """`values` has shape (pairs, 3): probabilities of entailment, neutral and contradiction, in this order."""
