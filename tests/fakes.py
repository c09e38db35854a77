"""Small fakes: a clock, and a backend at the seam of inference for failures that a real one does not have on demand."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from inference.backend import Float32, Int64
from server.config import ListenConfig


@dataclass
class Clock:
    """Stands still until it is set."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


def listening(max_calls: int = 8, **most_bytes: int) -> ListenConfig:
    """Settings with bounds in bytes, by names without unit: no test needs as much as a MiB."""
    bounds = {f"{name}_mib": size / (1 << 20) for name, size in most_bytes.items()}
    return ListenConfig().model_copy(update={"max_concurrent_calls": max_calls, **bounds})


class DeviceLostError(BaseException):
    """Ends a worker's thread: no handler of ordinary errors catches it."""


class FakeBackend:
    """Answers each row with its first token id and its number of tokens.

    Closed by `close_gate`, it holds every batch until `open_gate`; `wait_entered` tells that a worker is inside.
    """

    execution_provider = "FakeExecutionProvider"

    def __init__(self) -> None:
        self.poison: set[int] = set()  # first token ids that fail their batch
        self.nan: set[int] = set()  # first token ids that come out as NaN
        self.killers: set[int] = set()  # first token ids that end the thread
        self.kills_left = 1_000
        self.is_broken = False  # everything fails, until `reopen` when that helps
        self.reopen_helps = True
        self.interrupt_helps = True
        self.batches: list[list[int]] = []  # first token ids of each run, also of failed ones
        self.widths: list[int] = []  # longest row of each run
        self.reopen_count = 0
        self._gate = threading.Event()
        self._gate.set()
        self._entered = threading.Semaphore(0)
        self._is_interrupted = False

    def run(self, inputs: Mapping[str, Int64]) -> Float32:
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        first = ids[:, 0].tolist()
        self.batches.append(first)
        self.widths.append(ids.shape[1])
        self._entered.release()
        self._gate.wait()
        if self.killers & set(first) and self.kills_left:
            self.kills_left -= 1
            raise DeviceLostError
        if self._is_interrupted or self.is_broken or self.poison & set(first):
            raise RuntimeError("the fake fails")
        rows = np.stack([ids[:, 0], mask.sum(axis=1)], axis=1).astype(np.float32)
        rows[[index for index, token in enumerate(first) if token in self.nan]] = np.nan
        return rows

    def reopen(self) -> None:
        self.reopen_count += 1
        if self.reopen_helps:
            self.is_broken = False

    def interrupt(self) -> None:
        if self.interrupt_helps:
            self._is_interrupted = True
            self._gate.set()

    def close_gate(self) -> None:
        """Holds every run from now on."""
        self._gate.clear()

    def open_gate(self) -> None:
        """Lets all runs go."""
        self._gate.set()

    async def wait_entered(self, run_count: int = 1) -> None:
        """Waits until that many more runs have begun."""
        for _ in range(run_count):
            await asyncio.to_thread(self._entered.acquire)
