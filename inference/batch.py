"""One forward pass: what was cut from the queue, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from inference.backend import Backend, Float32
from inference.batch_limits import BatchLimits
from inference.entry import Entry
from inference.errors import InferenceError


class Drop(Enum):
    """Why an entry left the queue without being computed."""

    EXPIRED = "expired"  # its deadline has passed
    SHED = "shed"  # its deadline will have passed before the fastest possible answer


@dataclass(frozen=True)
class ComputeModel:
    """What a worker must know of a model to compute a batch."""

    name: str
    backends: tuple[Backend, ...]  # one for each device; worker i uses number i modulo their count
    inputs: tuple[str, ...]
    pad_token_id: int
    dimension: int  # columns of a result
    finish: Callable[[Float32], Float32]  # graph output -> results, row by row
    limits: BatchLimits


class Batch:
    """Entries that were computed, or entries that were dropped; not both.

    Written by the worker until it is reported; from then on read by the event loop.
    """

    __slots__ = ("dropped", "entries", "failures", "finished_s", "is_void", "started_s", "values")

    def __init__(self, entries: list[Entry], dropped: list[tuple[Entry, Drop]], *, now_s: float) -> None:
        self.entries = entries
        self.dropped = dropped
        self.started_s = now_s
        self.finished_s = now_s
        self.values: Float32 | None = None  # shape (len(entries), dimension), once computed
        self.failures: dict[int, InferenceError] = {}  # by index into entries
        self.is_void = False  # its worker was given up; whatever it still reports is ignored
