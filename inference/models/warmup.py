"""Measures what batches cost on this machine, and touches the memory that they will need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inference.backend import Backend, Int64
from inference.batching.cost_table import CostTable, PaddingPrice
from inference.config import Device

_MIN_LENGTH = 8
_LONG_ENOUGH_S = 0.03  # a run this long is not repeated
_MIXES = ((8, 4, 2, 2), (12, 4, 2, 2), (16, 8, 4, 4))  # lengths of rows, in a unit; their means are whole numbers
_MIX_ROWS, _MIX_LENGTH = 4, 16


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

    A CPU session runs on the thread that calls it, so the time that the thread itself has used is what a pass costs,
    however busy the machine is while the server starts. A GPU's work is not on any thread.
    """
    return time.thread_time if device == "cpu" else time.perf_counter


def measure_costs(backend: Backend, plan: WarmupPlan, clock: Callable[[], float]) -> CostTable:
    """Times forward passes, the most informative first.

    The longest row runs first, so that the allocator has grown before anything is timed. Then single rows of each
    length, then batches, small ones first, while time is left; what was not reached is extrapolated.
    """
    timer = _Timer(backend, plan, clock)
    lengths = _doublings(_MIN_LENGTH, plan.max_tokens)
    timer.seconds([plan.max_tokens])
    cells = {(1, length): timer.seconds([length]) for length in lengths}
    padding = _padding_price(timer, plan, cells)
    rows = _doublings(1, min(plan.max_batch_size, 32))[1:]  # beyond, cost is taken to be linear
    grid = [(count, length) for count in rows for length in lengths if count * length <= plan.max_batch_tokens]
    for count, length in sorted(grid, key=lambda cell: (cell[0] * cell[1], cell)):
        if timer.has_time:
            cells[count, length] = timer.seconds([length] * count)
    return CostTable(cells, max_rows=plan.max_batch_size, max_length=plan.max_tokens, padding=padding)


def _padding_price(timer: _Timer, plan: WarmupPlan, cells: Mapping[tuple[int, int], float]) -> PaddingPrice:
    """Compares mixed batches with even ones of as many tokens. A small model gets mixes of shorter rows.

    Without room or time for it, padding is taken to cost as much as tokens do.
    """
    unit = min(_MIN_LENGTH, plan.max_tokens // _MIX_LENGTH, plan.max_batch_tokens // (_MIX_ROWS * _MIX_LENGTH))
    if plan.max_batch_size < _MIX_ROWS or unit == 0 or not timer.has_time:
        length = max(length for _, length in cells)
        return PaddingPrice(token_s=cells[1, length] / length, cell_s=0.0, is_skipped=False)
    shortest, longest = (edge(length for _, length in cells) for edge in (min, max))
    real_token_s = (cells[1, longest] - cells[1, shortest]) / (longest - shortest)
    sizes, extra_s = zip(*(_excess(timer, [unit * length for length in mix]) for mix in _MIXES), strict=True)
    token_s, cell_s = _fit(np.array(sizes), np.array(extra_s))
    return PaddingPrice(token_s, cell_s, is_skipped=token_s < real_token_s / 2)


def _excess(timer: _Timer, mixed: list[int]) -> tuple[tuple[float, float], float]:
    """Padding tokens and attention cells, and the seconds, that `mixed` rows have over even rows of as many tokens."""
    rows, mean = len(mixed), sum(mixed) / len(mixed)
    # Spread over time, so that noise does not hit one shape alone.
    rounds = [(timer.seconds(mixed), timer.seconds([round(mean)] * rows)) for _ in range(2)]
    mixed_s, even_s = (min(column) for column in zip(*rounds, strict=True))
    return (rows * (max(mixed) - mean), rows * (max(mixed) ** 2 - mean**2)), mixed_s - even_s


def _fit(sizes: npt.NDArray[np.float64], extra_s: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Least squares for seconds per padding token and per cell; neither is negative."""
    token_s, cell_s = np.linalg.lstsq(sizes, extra_s)[0].tolist()
    if token_s >= 0 and cell_s >= 0:
        return token_s, cell_s
    alone = np.maximum(extra_s @ sizes / np.square(sizes).sum(axis=0), 0.0).tolist()
    return (0.0, alone[1]) if token_s < 0 else (alone[0], 0.0)


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
            if end_s - first_s > _LONG_ENOUGH_S:
                break
        return best_s
