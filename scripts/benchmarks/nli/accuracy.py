"""Benchmark: accuracy of the installed NLI model on SNLI dev and MultiNLI dev matched.

Runs the engine that the server runs, in this process: same tokenization, truncation, batching and label order.
"""

import asyncio
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.progress import Progress

from inference.config import InferenceConfig
from inference.engine import Engine
from inference.front_doors import NliModel
from inference.models.manifest import NLI_LABELS
from scripts.benchmarks.nli.data import MNLI_MATCHED, SNLI_DEV, LabelledPairs, read_pairs
from scripts.benchmarks.shared.report import Figure, Report, Target
from server.cli.console import error_console

SETS = {"snli_dev": SNLI_DEV, "mnli_matched": MNLI_MATCHED}
QUICK_PAIRS = 800
CHUNK_PAIRS = 400  # one submission: enough to sort by length, little enough for a moving progress bar
TARGETS = (Target("snli_dev", 0.895), Target("mnli_matched", 0.855))


@dataclass(frozen=True)
class Outcome:
    """Predictions for one data set; index of the most probable label per pair."""

    labels: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.int64]
    seconds: float

    @property
    def accuracy(self) -> float:
        """Share of pairs with the right label, in [0, 1]."""
        return float((self.labels == self.predicted).mean())

    @property
    def margin(self) -> float:
        """Half the width of the 95% confidence interval of the accuracy (normal approximation)."""
        return 1.96 * math.sqrt(self.accuracy * (1 - self.accuracy) / len(self.labels))

    def recall(self, label: int) -> float:
        """Share of the pairs with this label that were found."""
        return float((self.predicted[self.labels == label] == label).mean())


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Scores each data set that is present."""
    sets = {name: read_pairs(data / file) for name, file in SETS.items() if (data / file).is_file()}
    if quick:
        sets = {name: pairs.sample(QUICK_PAIRS) for name, pairs in sets.items()}
    return _report(asyncio.run(_score_all(models, sets)) if sets else {}, data)


async def _score_all(models: Path, sets: dict[str, LabelledPairs]) -> dict[str, Outcome]:
    async with Engine(models, InferenceConfig(roles=("nli",))) as engine:
        return {name: await _score(engine.nli, name, pairs) for name, pairs in sets.items()}


async def _score(nli: NliModel, name: str, data: LabelledPairs) -> Outcome:
    predicted: list[npt.NDArray[np.int64]] = []
    started = time.perf_counter()
    with Progress(console=error_console(), transient=True) as progress:
        for first in progress.track(range(0, len(data.pairs), CHUNK_PAIRS), description=name):
            batch = await nli.entail(data.pairs[first : first + CHUNK_PAIRS])
            for error in batch.errors.values():
                raise error
            predicted.append(batch.values.argmax(axis=1))
    return Outcome(np.array(data.labels), np.concatenate(predicted), time.perf_counter() - started)


def _report(outcomes: dict[str, Outcome], data: Path) -> Report:
    figures: dict[str, Figure] = {name: outcomes[name].accuracy if name in outcomes else None for name in SETS}
    figures |= {f"{name}_pairs": len(outcome.labels) for name, outcome in outcomes.items()}
    missing = [
        f"{name}: no {data / file}; name a data folder with --data"
        for name, file in SETS.items()
        if name not in outcomes
    ]
    return Report(
        title="accuracy of the installed NLI model",
        columns=("data set", "pairs", "accuracy", "+- 95%", *(f"recall {label}" for label in NLI_LABELS), "pairs/s"),
        rows=[*(_row(name, outcome) for name, outcome in outcomes.items()), *([line] for line in missing)],
        figures=figures,
        targets=TARGETS,
    )


def _row(name: str, outcome: Outcome) -> list[str]:
    recalls = [f"{outcome.recall(label):.3f}" for label in range(len(NLI_LABELS))]
    count = len(outcome.labels)
    return [
        name,
        f"{count}",
        f"{outcome.accuracy:.4f}",
        f"{outcome.margin:.4f}",
        *recalls,
        f"{count / outcome.seconds:.1f}",
    ]
