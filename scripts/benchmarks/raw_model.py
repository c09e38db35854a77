"""A compiled graph run by ONNX Runtime and nothing else: the limit that a server is compared with.

Inputs are tokenized, padded and laid out before the clock starts.
"""

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from tokenizers import Encoding, Tokenizer

from inference.model_directory import ModelDirectory, load_model_directory
from scripts.benchmarks.plans import Plan

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"

Item = str | tuple[str, str]
Int64 = npt.NDArray[np.int64]
Feed = Mapping[str, Int64]


def core_count() -> int:
    """Counts the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def best_provider() -> str:
    """Names the execution provider that the server would choose: CUDA when there, else the CPU."""
    return CUDA if CUDA in ort.get_available_providers() else CPU


@dataclass(frozen=True)
class Run:
    """One timed pass over some inputs."""

    items: int
    seconds: float

    @property
    def rate(self) -> float:
        """Inputs per second."""
        return self.items / self.seconds


class RawModel:
    """One session, run from as many threads as the best setting for its provider has.

    Args:
        directory: the model directory; its hashes are checked.
        provider: an ONNX Runtime execution provider.
    """

    def __init__(self, directory: ModelDirectory, provider: str = CPU) -> None:
        self.manifest = directory.manifest
        self.provider = provider
        self.workers = core_count() if provider == CPU else 1
        self.tokenizer = load_tokenizer(directory)
        self.session = make_session(directory.model_path, provider)

    @classmethod
    def load(cls, path: Path, provider: str = CPU) -> "RawModel":
        """Opens a model directory. Raises ModelDirectoryError when it is missing or damaged."""
        return cls(load_model_directory(path), provider)

    def encode(self, items: Sequence[Item]) -> list[Encoding]:
        """Tokenizes texts or pairs, cut to what the model reads."""
        return self.tokenizer.encode_batch(list(items))

    def feeds(self, encodings: Sequence[Encoding], plan: Plan) -> list[Feed]:
        """Lays out the batches of a plan: int64, shape (rows, longest row), padded at the end."""
        batches = plan.cut([len(encoding.ids) for encoding in encodings])
        return [self.feed([encodings[index] for index in batch]) for batch in batches]

    def feed(self, rows: Sequence[Encoding]) -> Feed:
        """Lays out one batch."""
        shape = (len(rows), max(len(row.ids) for row in rows))
        arrays: dict[str, Int64] = {name: np.zeros(shape, np.int64) for name in self.manifest.inputs}
        arrays["input_ids"].fill(self.manifest.pad_token_id)
        for index, row in enumerate(rows):
            length = len(row.ids)
            arrays["input_ids"][index, :length] = row.ids
            arrays["attention_mask"][index, :length] = 1
            if "token_type_ids" in arrays:
                arrays["token_type_ids"][index, :length] = row.type_ids
        return arrays

    def time(self, feeds: Sequence[Feed]) -> Run:
        """Runs all batches once on all workers."""
        items = sum(len(feed["input_ids"]) for feed in feeds)
        with ThreadPoolExecutor(self.workers) as pool:
            started = time.perf_counter()
            for _ in pool.map(self.run, feeds):
                pass
            return Run(items, time.perf_counter() - started)

    def run(self, feed: Feed) -> npt.NDArray[np.float32]:
        """Runs one batch and returns the graph's first output."""
        output: npt.NDArray[np.float32] = self.session.run(None, dict(feed))[0]
        return output


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
    return ort.InferenceSession(model if isinstance(model, bytes) else str(model), options, providers=[provider])
