"""Benchmark: the compiled core against ONNX Runtime in fp32, on the packaged models. Speed, decisions, bits.

Both compute the same batches in turns, and the figures are medians of the ratios of CPU time within a round.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from inference.backend import Backend, Float32
from inference.compile.install import EMBEDDING, NLI
from inference.compile.probe import PROBE_PAIRS
from inference.core.library import CoreLibrary, InstructionSet, load_library
from inference.core.packed_file import ROW_BITS, Rows
from scripts.benchmarks.nli.avx2 import avx2_speedup
from scripts.benchmarks.nli.contenders import BATCH_ROWS, PAIR_TOKENS, Contenders, Feed, speedup
from scripts.benchmarks.nli.data import MNLI_MATCHED, SNLI_DEV, read_pairs
from scripts.benchmarks.shared.report import Figure, Report, Target

TEXT_TOKENS, LONG_TOKENS = 28, (256, 512)
TARGETS = (
    *(Target(key, 3.5) for key in ("nli_speedup_b1", "nli_speedup_b8", "embed_speedup_b8")),
    *(Target("nli15_speedup_b8", 2.3), Target("long_speedup", 3.0), Target("avx2_speedup", 1.8)),
    *(Target("decisions_equal", 0.993), Target("decisions_equal_15", 0.999), Target("bits_differ", 0, at_least=False)),
)


@dataclass(frozen=True)
class Effort:
    """Rounds of each measurement, pairs whose decisions are compared, and those computed by every instruction set."""

    rounds: int
    pairs: int
    checked_pairs: int


QUICK, FULL = Effort(rounds=7, pairs=160, checked_pairs=16), Effort(rounds=40, pairs=4_000, checked_pairs=1_000)


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
        figures["avx2_speedup"] = avx2_speedup(effort.rounds)
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
