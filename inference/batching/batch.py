"""Chooses the rows of the next forward pass, and holds them and their results until they are handed back.

A batch is bounded by its rows, its tokens and its padded tokens. The oldest waiting row always goes. There are two
ways to choose its company: the rows nearest in length, which cost least padding, and the next oldest, which is
fairest. A row is worth what it would cost in ideal company; a plan is as good as the worth of its rows over its
predicted cost, padding included. The fair plan is taken when it is about as good: always when the graph skips padding
or all rows are alike, seldom when padding is computed in full. So one rule serves a CPU, where a lone row nearly
saturates the core, and a GPU, where rows are almost free until the device is full.

Taking the oldest each time bounds the wait: a row is overtaken only by rows that travel in the batches of its
elders, so it leaves after at most as many batches as rows were before it, whatever its length.

Measured on all-MiniLM-L6-v2 with 64 sentences in flight, CPU time against the best batches of all sentences sorted:
0.90 where padding is computed, 0.95 where it is skipped. Simulated on the same costs, p99 is 1.3 times that of
first-in-first-out without batches; letting the best of several old rows lead instead of the oldest gains 0.4% and
makes that 1.7.
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

        Simulated with two workers and rows of 33 tokens, a guest's p99 beside 1,024 rows is 33 ms then (4 times: 42,
        2: 24; unbounded: 128), for a tenth (4: 5%, 2: 20%) of the crowd's rate.
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

    __slots__ = ("dropped", "entries", "failures", "finished_s", "free_s", "is_void", "started_s", "values")

    def __init__(self, entries: list[Entry], dropped: list[tuple[Entry, Drop]], *, now_s: float) -> None:
        self.entries = entries
        self.dropped = dropped
        self.free_s = now_s  # since when its worker could have begun it
        self.started_s = now_s
        self.finished_s = now_s
        self.values: list[Float32] = []  # by index of the entry, once computed; see `worker.compute`
        self.failures: dict[int, InferenceError] = {}  # by index into entries
        self.is_void = False  # its worker was given up; whatever it still reports is ignored


_GOOD_ENOUGH = 0.99  # of two sizes about as good as each other, the smaller answers sooner


def plan_oldest(lengths: Iterable[int], limits: BatchLimits) -> tuple[float, int]:
    """Chooses how many of the oldest rows to take.

    Args:
        lengths: tokens of the waiting rows, oldest first; at least one.
        limits: bounds and costs.

    Returns:
        How good the batch is, and how many rows it has.
    """
    plans: list[tuple[float, int]] = []
    rows = tokens = longest = 0
    worth = 0.0
    for length in lengths:
        rows, tokens, longest = rows + 1, tokens + length, max(longest, length)
        if not limits.allows(rows, tokens, longest):
            break
        worth += limits.worths[length]
        plans.append((worth / limits.costs.seconds(rows, tokens, longest), rows))
    enough = max(plans)[0] * _GOOD_ENOUGH
    return next(plan for plan in plans if plan[0] >= enough)


def plan_nearest(lengths: Sequence[int], anchor: int, limits: BatchLimits) -> tuple[float, slice]:
    """Chooses the rows nearest in length to the one that must go.

    Args:
        lengths: tokens of the waiting rows, ascending.
        anchor: index of the row that must go.
        limits: bounds and costs.

    Returns:
        How good the batch is, and which rows it has.
    """
    plans: list[tuple[float, slice]] = []
    tokens, worth, best = 0, 0.0, 0.0
    for stop in range(anchor + 1, min(anchor + limits.max_rows, len(lengths)) + 1):
        longest = lengths[stop - 1]
        tokens, worth = tokens + longest, worth + limits.worths[longest]
        if not limits.allows(stop - anchor, tokens, longest):
            break
        is_last = stop == len(lengths) or stop - anchor == limits.max_rows
        if not is_last and lengths[stop] == longest and limits.allows(stop - anchor + 1, tokens + longest, longest):
            # The next row is as long and better company than a shorter one, so those are left for its turn.
            plans.append((worth / limits.costs.seconds(stop - anchor, tokens, longest), slice(anchor, stop)))
        else:
            plans.append(_extend_down(lengths, anchor, stop, limits=limits, total=(tokens, worth)))
        best = max(best, plans[-1][0])
        if plans[-1][0] < best * 0.7:  # longer rows only add padding once a plan is this much worse than the best
            break
    return next(plan for plan in plans if plan[0] >= best * _GOOD_ENOUGH)


def _extend_down(
    lengths: Sequence[int], start: int, stop: int, *, limits: BatchLimits, total: tuple[int, float]
) -> tuple[float, slice]:
    """Adds shorter rows while each makes the batch better. `total` is the tokens and worth so far."""
    rows, longest, (tokens, worth) = stop - start, lengths[stop - 1], total
    cost = limits.costs.seconds(rows, tokens, longest)
    while start > 0 and limits.allows(rows + 1, tokens + lengths[start - 1], longest):
        length = lengths[start - 1]
        gain = limits.worths[length]
        more = limits.costs.seconds(rows + 1, tokens + length, longest)
        if (worth + gain) * cost <= worth * more:
            break
        start, rows, tokens, worth, cost = start - 1, rows + 1, tokens + length, worth + gain, more
    return worth / cost, slice(start, stop)


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
