"""Measures what batches cost on this machine, and touches the memory that they will need."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inference.backend import Backend, Int64
from inference.cost_table import CostTable

_MIN_LENGTH = 8
_REPEATS = 3  # the quickest counts: noise only ever adds
_MAX_MEASURED_ROWS = 32  # beyond, cost is taken to be linear
_PRICE_ROWS = 8
_PRICE_ROUNDS = 2  # spread over time, so that noise does not hit one shape alone
_HALF_WAY = 0.5


@dataclass(frozen=True, slots=True)
class WarmupPlan:
    """The graph's inputs, the largest that it will be given, and the time to spend."""

    inputs: tuple[str, ...]
    max_tokens: int
    max_batch_size: int
    max_batch_tokens: int
    budget_s: float


def measure_costs(backend: Backend, plan: WarmupPlan, *, clock: Callable[[], float] = time.perf_counter) -> CostTable:
    """Times forward passes, the most informative first.

    The longest row runs first, so that the allocator has grown before anything is timed; then one row of each
    length; then what padding costs; then 2, 4, 8... rows of each length while time is left. What was not reached is
    extrapolated.
    """
    timer = _Timer(backend, plan, clock)
    lengths = _doublings(_MIN_LENGTH, plan.max_tokens)
    timer.seconds([plan.max_tokens])
    cells = {(1, length): timer.seconds([length]) for length in lengths}
    price = _padding_price(timer, plan)
    for rows in _doublings(1, min(plan.max_batch_size, _MAX_MEASURED_ROWS))[1:]:
        for length in lengths:
            if rows * length <= plan.max_batch_tokens and timer.has_time:
                cells[rows, length] = timer.seconds([length] * rows)
    return CostTable(cells, max_rows=plan.max_batch_size, max_length=plan.max_tokens, padding_price=price)


def _padding_price(timer: _Timer, plan: WarmupPlan) -> float:
    """What padding costs against tokens, from 0 to 1.

    Rows of two lengths are compared with rows of their mean and rows of the longer. A graph skips padding or does
    not: half way is noise, and taken to be 1.
    """
    rows = min(plan.max_batch_size, _PRICE_ROWS) // 2 * 2
    longest = min(plan.max_tokens, plan.max_batch_tokens // max(rows, 1)) // 4 * 4
    if rows == 0 or longest == 0 or not timer.has_time:
        return 1.0
    half, mean = rows // 2, longest * 5 // 8
    shapes = [mean] * rows, [longest] * half + [longest // 4] * half, [longest] * rows
    rounds = [[timer.seconds(lengths) for lengths in shapes] for _ in range(_PRICE_ROUNDS)]
    floor_s, mixed_s, ceiling_s = (min(column) for column in zip(*rounds, strict=True))
    price = (mixed_s - floor_s) / (ceiling_s - floor_s) if ceiling_s > floor_s else 1.0
    return max(price, 0.0) if price < _HALF_WAY else 1.0


def _doublings(first: int, last: int) -> list[int]:
    """first, 2 first, 4 first, ... and last."""
    values = [min(first, last)]
    while values[-1] * 2 < last:
        values.append(values[-1] * 2)
    return sorted({*values, last})


class _Timer:
    """Times forward passes, thoroughly until its time is up and once each from then on."""

    def __init__(self, backend: Backend, plan: WarmupPlan, clock: Callable[[], float]) -> None:
        self._backend = backend
        self._inputs = plan.inputs
        self._clock = clock
        self._end_s = clock() + plan.budget_s

    @property
    def has_time(self) -> bool:
        """Whether there is time for more than what must be measured."""
        return self._clock() < self._end_s

    def seconds(self, lengths: list[int]) -> float:
        """Runs rows of these lengths."""
        arrays: dict[str, Int64] = {name: np.zeros((len(lengths), max(lengths)), np.int64) for name in self._inputs}
        arrays["attention_mask"] = (np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]).astype(np.int64)
        arrays["input_ids"] = arrays["attention_mask"]  # any id will do: the first beside the padding's
        best_s = float("inf")
        for _ in range(_REPEATS if self.has_time else 1):
            start_s = self._clock()
            self._backend.run(arrays)
            best_s = min(best_s, self._clock() - start_s)
        return best_s
