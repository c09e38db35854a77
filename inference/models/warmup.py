"""Measures what batches cost on this machine, and touches the memory that they will need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from inference.backend import Backend, Int64
from inference.batching.cost_table import CostTable
from inference.config import Device


@dataclass(frozen=True, slots=True)
class WarmupPlan:
    """The graph's inputs, the largest that it will be given, and the time to spend."""

    inputs: tuple[str, ...]
    max_tokens: int
    max_batch_size: int
    max_batch_tokens: int
    budget_s: float


def clock_for(device: Device) -> Callable[[], float]:
    """The clock to time forward passes with.

    A CPU session runs on the thread that calls it. The time that this thread has used is what a pass costs, however
    busy the machine is while the server starts. A GPU's work is not on any thread.
    """
    return time.thread_time if device == "cpu" else time.perf_counter


def measure_costs(backend: Backend, plan: WarmupPlan, clock: Callable[[], float]) -> CostTable:
    """Times forward passes, the most informative first.

    The longest row runs first, so that the allocator has grown before anything is timed. Then single rows of each
    length, then batches, small ones first, while time is left; what was not reached is extrapolated.
    """
    timer = _Timer(backend, plan, clock)
    lengths = _doublings(8, plan.max_tokens)
    timer.seconds([plan.max_tokens])
    cells = {(1, length): timer.seconds([length]) for length in lengths}
    padding_s = _padding_s(timer, plan, cells)
    rows = _doublings(1, min(plan.max_batch_size, 32))[1:]  # beyond, cost is taken to be linear
    grid = [(count, length) for count in rows for length in lengths if count * length <= plan.max_batch_tokens]
    for count, length in sorted(grid, key=lambda cell: (cell[0] * cell[1], cell)):
        if timer.has_time:
            cells[count, length] = timer.seconds([length] * count)
    return CostTable(cells, max_rows=plan.max_batch_size, max_length=plan.max_tokens, padding_s=padding_s)


def _padding_s(timer: _Timer, plan: WarmupPlan, single_s: Mapping[tuple[int, int], float]) -> float:
    """Compares a mixed batch with an even one of as many tokens. A small model gets shorter rows.

    Without room or time for it, padding is taken to cost as much as tokens do.
    """
    unit = min(8, plan.max_tokens // 16, plan.max_batch_tokens // (4 * 16))
    if plan.max_batch_size < 4 or unit == 0 or not timer.has_time:  # noqa: PLR2004 - rows of the mix
        return single_s[1, plan.max_tokens] / plan.max_tokens
    mixed, even = [unit * length for length in (16, 8, 4, 4)], [unit * 8] * 4
    # Spread over time, so that noise does not hit one shape alone.
    rounds = [(timer.seconds(mixed), timer.seconds(even)) for _ in range(2)]
    mixed_s, even_s = (min(column) for column in zip(*rounds, strict=True))
    return float(max(0.0, mixed_s - even_s) / (4 * 16 * unit - sum(mixed)))


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
        """Runs rows of these lengths. The quickest run counts; noise only ever adds, and to short ones most.

        Raises:
            ValueError: what comes out are no numbers.
        """
        arrays: dict[str, Int64] = {name: np.zeros((len(lengths), max(lengths)), np.int64) for name in self._inputs}
        arrays["attention_mask"] = (np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]).astype(np.int64)
        arrays["input_ids"] = arrays["attention_mask"]  # any id will do: the first beside the padding's
        first_s = self._clock()
        best_s = float("inf")
        for _ in range(3 if self.has_time else 1):
            start_s = self._clock()
            output = self._backend.run(arrays)
            end_s = self._clock()
            if not np.isfinite(output).all():
                raise ValueError("its numbers are not finite")
            best_s = min(best_s, end_s - start_s)
            if end_s - first_s > 0.03:  # noqa: PLR2004 - a run this long is not repeated
                break
        return best_s
