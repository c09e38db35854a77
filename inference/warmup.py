"""Measures what batches cost on this machine, and touches the memory that they will need."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inference.backend import Backend, Int64
from inference.cost_table import CostTable

_MIN_LENGTH = 8
_REPEATS = 3  # the quickest counts: noise only ever adds
_MAX_MEASURED_ROWS = 32  # beyond, cost is taken to be linear


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest inputs that a model will be given."""

    max_tokens: int
    max_batch_size: int
    max_batch_tokens: int


def measure_costs(backend: Backend, inputs: Sequence[str], bounds: Bounds, *, budget_s: float) -> CostTable:
    """Times forward passes over a grid of rows and lengths, the most informative first.

    The longest row runs first, so that the allocator has grown before anything is timed, then one row of each
    length, then 2, 4, 8... rows while time is left; what was not reached is extrapolated.
    """
    _seconds(backend, inputs, rows=1, length=bounds.max_tokens, repeats=1)
    end_s = time.monotonic() + budget_s
    cells: dict[tuple[int, int], float] = {}
    for rows, length in _grid(bounds):
        has_time = time.monotonic() < end_s
        if rows == 1 or has_time:
            repeats = _REPEATS if has_time else 1
            cells[rows, length] = _seconds(backend, inputs, rows=rows, length=length, repeats=repeats)
    return CostTable(cells, max_rows=bounds.max_batch_size, max_length=bounds.max_tokens)


def _grid(bounds: Bounds) -> list[tuple[int, int]]:
    """(rows, length), fewest rows first: 1, 2, 4... rows of 8, 16, 32... tokens, and the largest of both."""
    return [
        (rows, length)
        for rows in _doublings(1, min(bounds.max_batch_size, _MAX_MEASURED_ROWS))
        for length in _doublings(_MIN_LENGTH, bounds.max_tokens)
        if rows == 1 or rows * length <= bounds.max_batch_tokens
    ]


def _doublings(first: int, last: int) -> list[int]:
    """first, 2 first, 4 first, ... and last."""
    values = [min(first, last)]
    while values[-1] * 2 < last:
        values.append(values[-1] * 2)
    return sorted({*values, last})


def _seconds(backend: Backend, inputs: Sequence[str], *, rows: int, length: int, repeats: int) -> float:
    arrays: dict[str, Int64] = {name: np.zeros((rows, length), np.int64) for name in inputs}
    arrays["input_ids"] = np.ones((rows, length), np.int64)
    arrays["attention_mask"] = np.ones((rows, length), np.int64)
    best_s = float("inf")
    for _ in range(repeats):
        start_s = time.perf_counter()
        backend.run(arrays)
        best_s = min(best_s, time.perf_counter() - start_s)
    return best_s
