"""What the engine has done and is doing, for metrics and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ModelStatistics:
    """One model. Gauges first, then counters since the start; items count once for each caller."""

    pending_items: int  # admitted and not answered
    pending_tokens: int  # admitted and not computed
    cached_rows: int
    cached_bytes: int
    computed_items: int  # answered by a forward pass, joined ones included
    cached_items: int  # answered from the result cache
    joined_items: int  # attached to the same computation already in flight
    failed_items: int  # poisoned, or lost with a worker
    expired_items: int  # the deadline passed while they waited
    shed_items: int  # the deadline could not have been met
    cancelled_items: int  # the caller left
    refused_calls: int  # queue full
    batches: int
    rows: int
    tokens: int  # useful ones
    padded_tokens: int  # computed ones: longest row times rows
    compute_s: float  # summed over workers


@dataclass(frozen=True, slots=True)
class EngineStatistics:
    """All models and the workers they share."""

    models: dict[str, ModelStatistics]
    is_ready: bool
    worker_restarts: int


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One forward pass."""

    model: str
    rows: int
    tokens: int
    padded_tokens: int
    queue_s: float  # wait of the oldest row
    compute_s: float


class Observer(Protocol):
    """Told of each batch, on the event loop, after its callers were answered. Must not block or raise."""

    def batch_finished(self, record: BatchRecord) -> None:
        """Takes the measurements of one forward pass."""
        ...


@dataclass(slots=True)
class Counters:
    """The counters behind `ModelStatistics`. Written on the event loop alone."""

    computed_items: int = 0
    cached_items: int = 0
    joined_items: int = 0
    failed_items: int = 0
    expired_items: int = 0
    shed_items: int = 0
    cancelled_items: int = 0
    batches: int = 0
    rows: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    compute_s: float = 0

    def add_batch(self, record: BatchRecord) -> None:
        """Counts one forward pass."""
        self.batches += 1
        self.rows += record.rows
        self.tokens += record.tokens
        self.padded_tokens += record.padded_tokens
        self.compute_s += record.compute_s
