"""Chooses the rows of the next forward pass, and holds them and their results until they are handed back.

A batch is bounded by its rows, its tokens and its padded tokens. The oldest waiting row always goes. With it go the
rows nearest in length, of the next few, or of the next many where the graph computes padding in full. A row is worth
what it would cost among rows of its own length. The size with the most worth per predicted cost, padding included, is
taken. So one rule serves CPU and GPU. A lone row nearly saturates a core; on a GPU rows are almost free until it is
full.

Taking the oldest each time bounds the wait. A row is overtaken only in the batches of older rows. So it leaves after at
most as many batches as rows were before it, whatever its length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from inference.backend import Backend, Float32
from inference.batching.cost_table import CostTable
from inference.batching.in_flight import Entry
from inference.errors import InferenceError


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Hard bounds of a batch, and the costs that decide within them."""

    max_rows: int
    max_tokens: int  # without padding
    max_padded_tokens: int  # longest row times rows: what ONNX Runtime's memory grows with
    costs: CostTable
    worths: Sequence[float]  # by length: what a row costs in ideal company

    @classmethod
    def of(cls, costs: CostTable, *, max_batch_tokens: int) -> BatchLimits:
        """Bounds for at most `costs.max_rows` rows and `max_batch_tokens` tokens.

        Where the graph skips padding, as much again may be padding; where it does not, padding counts like tokens.
        """
        padded = max_batch_tokens * (2 if costs.skips_padding else 1)
        return cls(costs.max_rows, max_batch_tokens, padded, costs, costs.row_worths(max_batch_tokens))

    def brief(self, length: int) -> BatchLimits:
        """Bounds batches of rows about so long, while guests are about, to three times what one of them takes alone.

        Simulated with two workers, 1,024 rows of a crowd, and rows of 33 tokens. A guest's p99 is 33 ms then (4 times:
        42, 2: 24; unbounded: 128). The crowd loses a tenth of its rate (4: 5%, 2: 20%).
        """
        most_s = 3.0 * self.costs.seconds(1, length, length)
        counts = range(2, self.max_rows + 1)
        rows = 1 + bisect_right(counts, most_s, key=lambda rows: self.costs.seconds(rows, rows * length, length))
        return replace(self, max_rows=rows, max_tokens=min(self.max_tokens, rows * length))

    def allows(self, rows: int, tokens: int, longest: int) -> bool:
        """Whether such a batch is within the bounds. A single row always is."""
        return rows == 1 or (
            rows <= self.max_rows and tokens <= self.max_tokens and rows * longest <= self.max_padded_tokens
        )


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
    dimension: int  # columns of a result, without its marks
    finish: Callable[[Float32], Float32]  # graph output -> results, row by row
    limits: BatchLimits


class Batch:
    """Entries that were computed, or entries that were dropped; not both.

    Written by the worker until it is reported; from then on read by the event loop.
    """

    def __init__(self, entries: list[Entry], dropped: list[tuple[Entry, Drop]], *, now_s: float) -> None:
        self.entries = entries
        self.dropped = dropped
        self.free_s = now_s  # since when its worker could have begun it
        self.started_s = now_s
        self.finished_s = now_s
        self.values: list[Float32] = []  # by index of the entry, once computed; see `worker.compute`
        self.failures: dict[int, InferenceError] = {}  # by index into entries
        self.is_void = False  # its worker was given up; whatever it still reports is ignored


def plan(lengths: Iterable[int], limits: BatchLimits) -> int:
    """Chooses how many rows to take. `lengths`: of the waiting rows, at least one, in the order of their turn."""
    qualities: list[float] = []
    rows = tokens = longest = 0
    worth = 0.0
    for length in lengths:
        rows, tokens, longest = rows + 1, tokens + length, max(longest, length)
        if not limits.allows(rows, tokens, longest):
            break
        worth += limits.worths[length]
        qualities.append(worth / limits.costs.seconds(rows, tokens, longest))
    enough = max(qualities) * 0.99  # of two sizes about as good as each other, the smaller answers sooner
    return next(rows for rows, quality in enumerate(qualities, 1) if quality >= enough)


def predict_seconds(entries: list[Entry], limits: BatchLimits) -> float:
    """What a batch will cost; 0 for none."""
    if not entries:
        return 0.0
    lengths = [entry.length for entry in entries]
    return limits.costs.seconds(len(lengths), sum(lengths), max(lengths))


def doom(entry: Entry, limits: BatchLimits, now_s: float) -> Drop | None:
    """Whether even computing the entry at once and alone is too late, on a machine as quiet as at warm-up."""
    if entry.deadline_s is None or now_s + limits.costs.seconds(1, entry.length, entry.length) <= entry.deadline_s:
        return None
    return Drop.EXPIRED if entry.deadline_s <= now_s else Drop.SHED
