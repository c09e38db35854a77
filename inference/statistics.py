"""What the engine has done and is doing, for metrics and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class ModelStatistics:
    """One model. Gauges first, then counters since the start; items count once for each caller."""

    pending_items: int = 0  # admitted and not answered
    pending_tokens: int = 0  # admitted and not computed
    cached_rows: int = 0
    cached_bytes: int = 0
    computed_items: int = 0  # answered by a forward pass, joined ones included
    cached_items: int = 0  # answered from the result cache
    joined_items: int = 0  # attached to the same computation already in flight
    failed_items: int = 0  # poisoned, or lost with a worker
    expired_items: int = 0  # the deadline passed while they waited
    shed_items: int = 0  # the deadline could not have been met
    cancelled_items: int = 0  # the caller left
    refused_calls: int = 0  # queue full
    batches: int = 0
    rows: int = 0
    tokens: int = 0  # useful ones
    padded_tokens: int = 0  # computed ones: longest row times rows
    compute_s: float = 0.0  # summed over workers
    by_rows: dict[int, tuple[int, float]] = field(default_factory=dict)  # batches and their compute_s, by size

    def add_batch(self, record: BatchRecord) -> None:
        """Counts one forward pass."""
        self.batches += 1
        self.rows += record.rows
        self.tokens += record.tokens
        self.padded_tokens += record.padded_tokens
        self.compute_s += record.compute_s
        batches, compute_s = self.by_rows.get(record.rows, (0, 0.0))
        self.by_rows[record.rows] = batches + 1, compute_s + record.compute_s


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


Observe = Callable[[BatchRecord], None]
"""Told of each batch, on the event loop, after its callers were answered. Must not block or raise."""
