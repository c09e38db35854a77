"""Benchmark: the compiled NLI graph against the int8 graph as shipped and its own arithmetic; batch-invariance.

Each graph runs under the batching plan that suits it best. Runs take turns in short rounds on the same pairs, and the
figures are medians of the ratios within a round.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import onnxruntime as ort
from tokenizers import Encoding

from inference.compile.install import NLI
from inference.models.directory import load_model_directory
from scripts.benchmarks.nli.data import MNLI_MATCHED, read_pairs
from scripts.benchmarks.nli.matrix_products import MatrixProducts
from scripts.benchmarks.nli.neighbours import max_neighbour_delta, scores_alone
from scripts.benchmarks.nli.shipped_graph import shipped_model
from scripts.benchmarks.shared.corpus import Corpus, source_text
from scripts.benchmarks.shared.plans import Plan
from scripts.benchmarks.shared.raw_model import Feed, RawModel, Timing, make_session, time_parallel
from scripts.benchmarks.shared.report import Figure, Report, Target

NEIGHBOUR_PAIRS = 200
SAMPLED_BATCHES = 6  # whose products are laid out: their operands take about 50 MB a batch
SEED = 13
TARGETS = (Target("speedup", 1.0), Target("max_neighbour_delta", 1e-4, at_least=False))
FP32_TARGET = Target("matmul_share", 0.85)  # quantizing rows is no product, and products of bytes are short


@dataclass(frozen=True)
class Effort:
    """How long to measure: seconds for all rounds, pairs in a round, passes of the neighbour check."""

    rounds_s: float
    pairs: int
    neighbour_passes: int


QUICK = Effort(rounds_s=12.0, pairs=96, neighbour_passes=1)
FULL = Effort(rounds_s=120.0, pairs=400, neighbour_passes=5)


@dataclass(frozen=True)
class Contender:
    """A graph with the batches of its best plan."""

    model: RawModel
    plan: Plan
    feeds: Sequence[Feed]

    @classmethod
    def of(cls, model: RawModel, encodings: Sequence[Encoding]) -> "Contender":
        """Finds the plan on the pairs themselves: on fewer, sorted batches hold other lengths and another plan wins."""
        plan, _ = model.best_plan(encodings)
        return cls(model, plan, model.feeds(encodings, plan))

    def time(self) -> Timing:
        """Runs all pairs."""
        return self.model.time(self.feeds)


@dataclass
class Rounds:
    """One entry per round: all pairs on both graphs, seconds of whole batches and of their products alone."""

    compiled: list[Timing] = field(default_factory=list)
    shipped: list[Timing] = field(default_factory=list)
    whole_s: list[float] = field(default_factory=list)
    products_s: list[float] = field(default_factory=list)

    @property
    def speedup(self) -> float:
        """Rate of the compiled graph over that of the shipped one."""
        return median(ours.rate / theirs.rate for ours, theirs in zip(self.compiled, self.shipped, strict=True))

    @property
    def cpu_speedup(self) -> float:
        """CPU time of the shipped graph over that of the compiled one; hardly moves when other processes run."""
        return median(theirs.cpu_s / ours.cpu_s for ours, theirs in zip(self.compiled, self.shipped, strict=True))

    @property
    def matmul_share(self) -> float:
        """Products over whole batches: 1 would be a graph that does nothing but multiply."""
        return median(part / whole for part, whole in zip(self.products_s, self.whole_s, strict=True))


class ProductBatches:
    """A few batches of the compiled graph, and the operands of their products."""

    def __init__(self, contender: Contender, path: Path) -> None:
        self._model = contender.model
        self._products = MatrixProducts(path)
        step = max(1, len(contender.feeds) // SAMPLED_BATCHES)
        self._feeds = contender.feeds[::step][:SAMPLED_BATCHES]
        self._operands: list[Mapping[str, ort.OrtValue]] = [self._products.inputs_for(feed) for feed in self._feeds]
        self.operations = sum(self._products.operations(feed) for feed in self._feeds)

    def time_whole(self) -> float:
        """Seconds for the whole graph on these batches."""
        return time_parallel(self._model.run, self._feeds, self._model.workers)

    def time_products(self) -> float:
        """Seconds for nothing but their products, on as many threads."""
        return time_parallel(self._products.run, self._operands, self._model.workers)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Measures both graphs on the same pairs.

    Raises:
        RuntimeError: the installed NLI model is not the one that ships with the project.
    """
    effort = QUICK if quick else FULL
    directory = load_model_directory(models / "nli")
    if directory.manifest.name != NLI.name:
        raise RuntimeError(
            f"{directory.manifest.name} was not made by `precis models install`: nothing to compare with"
        )
    compiled = RawModel(make_session(directory.model_path), directory)
    shipped = RawModel(make_session(shipped_model()), directory)
    encodings = compiled.encode(_pairs(data, compiled, max(effort.pairs, NEIGHBOUR_PAIRS)))
    ours, theirs = (Contender.of(model, encodings[: effort.pairs]) for model in (compiled, shipped))
    batches = ProductBatches(ours, directory.model_path)
    rounds = _measure(ours, theirs, batches, effort.rounds_s)
    figures = _figures(rounds, batches, ours, theirs)
    known = encodings[:NEIGHBOUR_PAIRS]
    alone, shipped_alone = (scores_alone(model, known) for model in (compiled, shipped))
    figures["max_neighbour_delta"] = max_neighbour_delta(compiled, known, alone, effort.neighbour_passes)
    figures["shipped_neighbour_delta"] = max_neighbour_delta(shipped, known, shipped_alone, 1)
    figures["label_agreement"] = float((alone.argmax(axis=1) == shipped_alone.argmax(axis=1)).mean())
    return _report(figures, ours, theirs)


def _pairs(data: Path, model: RawModel, count: int) -> list[tuple[str, str]]:
    file = data / MNLI_MATCHED
    if file.is_file():
        return read_pairs(file).sample(count).pairs
    return Corpus(source_text(data), model.tokenizer, SEED).pairs(count)


def _measure(ours: Contender, theirs: Contender, batches: ProductBatches, seconds: float) -> Rounds:
    rounds = Rounds()
    stop = time.monotonic() + seconds
    batches.time_whole(), batches.time_products()  # the first run of a shape pays for memory
    while not rounds.compiled or time.monotonic() < stop:
        rounds.compiled.append(ours.time())
        rounds.shipped.append(theirs.time())
        rounds.whole_s.append(batches.time_whole())
        rounds.products_s.append(batches.time_products())
    return rounds


def _figures(rounds: Rounds, batches: ProductBatches, ours: Contender, theirs: Contender) -> dict[str, Figure]:
    return {
        "speedup": rounds.speedup,
        "cpu_speedup": rounds.cpu_speedup,
        "matmul_share": rounds.matmul_share,
        "pairs_per_s": median(timing.rate for timing in rounds.compiled),
        "shipped_pairs_per_s": median(timing.rate for timing in rounds.shipped),
        "matmul_gflop_per_s": batches.operations / median(rounds.products_s) / 1e9,
        "plan": ours.plan.name,
        "shipped_plan": theirs.plan.name,
        "rounds": len(rounds.compiled),
        "cpu_share": min(ours.model.cpu_share, theirs.model.cpu_share),
    }


def _report(figures: Mapping[str, Figure], ours: Contender, theirs: Contender) -> Report:
    rows = [
        [
            f"compiled, {ours.model.manifest.precision}, {ours.plan.name}",
            f"{figures['pairs_per_s']:.1f}",
            f"{figures['speedup']:.2f}",
            f"{figures['cpu_speedup']:.2f}",
            f"{figures['matmul_share']:.2f}",
            f"{figures['max_neighbour_delta']:.1e}",
        ],
        [
            f"shipped, dynamic int8, {theirs.plan.name}",
            f"{figures['shipped_pairs_per_s']:.1f}",
            *("1.00", "1.00", "-", f"{figures['shipped_neighbour_delta']:.1e}"),
        ],
    ]
    return Report(
        title=f"nli: same pairs, {ours.model.workers} threads; labels agree on {figures['label_agreement']:.1%}",
        columns=("graph", "pairs/s", "speed-up", "in CPU time", "matmul share", "neighbour delta"),
        rows=rows,
        figures=figures,
        targets=TARGETS if ours.model.manifest.is_int8 else (*TARGETS, FP32_TARGET),
    )
