"""A compiled graph run by ONNX Runtime and nothing else: the limit that a server is compared with.

Inputs are tokenized, padded and laid out before the clock starts.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from tokenizers import Encoding, Tokenizer

from inference.models.directory import ModelDirectory, load_model_directory
from inference.models.session import widen_int8
from scripts.benchmarks.shared.plans import CPU_PLANS, GPU_PLANS, Plan

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"

FINALISTS = 2  # plans that are measured again

Item = str | tuple[str, str]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Feed = Mapping[str, Int64]
T = TypeVar("T")


def core_count() -> int:
    """Counts the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def best_provider() -> str:
    """Names the execution provider that the server would choose: CUDA when there, else the CPU."""
    return CUDA if CUDA in ort.get_available_providers() else CPU


@dataclass(frozen=True)
class Timing:
    """One timed pass: how many inputs, how long, and the CPU time of this process meanwhile."""

    inputs: int
    seconds: float
    cpu_s: float

    @property
    def rate(self) -> float:
        """Inputs per second."""
        return self.inputs / self.seconds


class RawModel:
    """A graph with its tokenizer, run from as many threads as is best on its provider."""

    def __init__(self, session: ort.InferenceSession, directory: ModelDirectory) -> None:
        """Takes any graph that reads what the model of `directory` reads."""
        self.manifest = directory.manifest
        self.tokenizer = load_tokenizer(directory)
        self.session = session
        self.provider = session.get_providers()[0]
        self.workers = core_count() if self.provider == CPU else 1
        self._inputs = [value.name for value in session.get_inputs()]
        self._asked_s = 0.0
        self._got_s = 0.0

    @classmethod
    def load(cls, path: Path, provider: str = CPU) -> "RawModel":
        """Opens a model directory. Raises ModelDirectoryError when it is missing or damaged."""
        directory = load_model_directory(path)
        return cls(make_session(directory.model_path, provider), directory)

    def encode(self, items: Sequence[Item]) -> list[Encoding]:
        """Tokenizes texts or pairs, cut to what the model reads."""
        encodings: list[Encoding] = self.tokenizer.encode_batch(list(items))
        return encodings

    def feeds(self, encodings: Sequence[Encoding], plan: Plan) -> list[Feed]:
        """Lays out the batches of a plan."""
        batches = plan.cut([len(encoding.ids) for encoding in encodings])
        return [self.feed([encodings[index] for index in batch]) for batch in batches]

    def feed(self, rows: Sequence[Encoding]) -> Feed:
        """Lays out one batch: int64, shape (rows, longest row), padded at the end."""
        shape = (len(rows), max(len(row.ids) for row in rows))
        arrays: dict[str, Int64] = {name: np.zeros(shape, np.int64) for name in self._inputs}
        arrays["input_ids"].fill(self.manifest.pad_token_id)
        for index, row in enumerate(rows):
            length = len(row.ids)
            arrays["input_ids"][index, :length] = row.ids
            arrays["attention_mask"][index, :length] = 1
            if "token_type_ids" in arrays:
                arrays["token_type_ids"][index, :length] = row.type_ids
        return arrays

    def time(self, feeds: Sequence[Feed]) -> Timing:
        """Runs all batches once on all workers."""
        cpu_before = time.process_time()
        seconds = time_parallel(self.run, feeds, self.workers)
        timing = Timing(sum(len(feed["input_ids"]) for feed in feeds), seconds, time.process_time() - cpu_before)
        self._asked_s += seconds * self.workers
        self._got_s += timing.cpu_s
        return timing

    @property
    def cpu_share(self) -> float:
        """CPU time that the timed runs got over what they asked for; well below 1, others used the machine too."""
        return self._got_s / self._asked_s if self._asked_s else 1.0

    def run(self, feed: Feed) -> Float32:
        """Runs one batch and returns the graph's first output."""
        output: Float32 = self.session.run(None, dict(feed))[0]
        return output

    def run_all(self, feeds: Sequence[Feed]) -> Float32:
        """Runs all batches on all workers; returns the rows of their outputs in order."""
        with ThreadPoolExecutor(self.workers) as pool:
            return np.concatenate(list(pool.map(self.run, feeds)))

    def best_plan(self, encodings: Sequence[Encoding]) -> tuple[Plan, float]:
        """Finds the batching plan that is fastest here. Returns it with its inputs per second."""
        plans = CPU_PLANS if self.provider == CPU else GPU_PLANS
        feeds = {plan: self.feeds(encodings, plan) for plan in plans}
        for plan in plans:
            self.run(feeds[plan][0])  # the largest batch: the first run of a shape pays for memory
        costs = {plan: self._cost(self.time(feeds[plan])) for plan in plans}
        finalists = sorted(plans, key=lambda plan: costs[plan])[:FINALISTS]
        timings = {plan: [self.time(feeds[plan]) for _ in range(3)] for plan in finalists}
        best = min(finalists, key=lambda plan: median(map(self._cost, timings[plan])))
        return best, median(timing.rate for timing in timings[best])

    def _cost(self, timing: Timing) -> float:
        """What a plan is chosen by: on a CPU its CPU time, which other processes hardly change, else its duration."""
        return timing.cpu_s if self.provider == CPU else timing.seconds


def time_parallel(function: Callable[[T], object], arguments: Sequence[T], workers: int) -> float:
    """Calls `function` with each argument on `workers` threads; returns the seconds until the last is done."""
    with ThreadPoolExecutor(workers) as pool:
        started = time.perf_counter()
        for _ in pool.map(function, arguments):
            pass
        return time.perf_counter() - started


def load_tokenizer(directory: ModelDirectory) -> Tokenizer:
    """Loads the tokenizer of a model directory: no padding, cut to the model's longest input."""
    tokenizer = Tokenizer.from_file(str(directory.tokenizer_path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(directory.manifest.max_tokens)
    return tokenizer


def make_session(model: Path | bytes, provider: str = CPU) -> ort.InferenceSession:
    """Opens a session with one arithmetic thread: on a CPU, several such in parallel beat one with several threads."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    widen_int8(options)
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=[provider])
