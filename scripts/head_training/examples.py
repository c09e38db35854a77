"""NLI examples from JSONL files, restricted to sources whose licence allows training."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inference.models.manifest import NLI_LABELS

# Part of the training pool -> weight of one of its examples. MultiNLI and SNLI are what the encoder was made
# for; a little of CAD's minimal pairs (Kaushik et al. 2020, arXiv 1909.12434) makes it less sure of itself.
# ConjNLI was tried and lowers both development accuracies; the rest of the pool states no licence or forbids.
TRAINING_WEIGHTS: Mapping[str, float] = {
    "mnli_train_20k": 1.0,
    "snli_train_small": 1.0,
    "cad_original_train": 0.1,
    "cad_revised_hypothesis_train": 0.1,
    "cad_revised_premise_train": 0.1,
}

# Groups of parts that weigh the same when probabilities are calibrated. The encoder has seen MultiNLI and SNLI in its
# own training and is too sure of them. CAD's revised texts are new to it, and hard.
CALIBRATION_GROUPS = (
    ("mnli_train_20k",),
    ("snli_train_small",),
    ("cad_revised_hypothesis_train", "cad_revised_premise_train"),
)


@dataclass(frozen=True)
class Examples:
    """Labelled pairs, in the order of their file."""

    pairs: tuple[tuple[str, str], ...]
    labels: NDArray[np.int64]  # index into NLI_LABELS
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def training_weights(self) -> NDArray[np.float64]:
        """Weight of each example in the fit."""
        return np.array([TRAINING_WEIGHTS[source] for source in self.sources])

    def calibration_weights(self) -> NDArray[np.float64]:
        """Weight of each example in the calibration: each of CALIBRATION_GROUPS sums to 1, others to 0."""
        sources = np.array(self.sources)
        masks = [np.isin(sources, group) for group in CALIBRATION_GROUPS]
        weights = np.zeros(len(self))
        for mask in masks:
            weights[mask] = 1 / mask.sum()
        return weights


def read_training_examples(path: Path) -> Examples:
    """Reads the pool and keeps the parts that TRAINING_WEIGHTS names."""
    rows = [row for row in _rows(path) if row["source"] in TRAINING_WEIGHTS]
    found = {row["source"] for row in rows}
    if found != set(TRAINING_WEIGHTS):
        raise ValueError(f"{path} has no examples of {sorted(set(TRAINING_WEIGHTS) - found)}")
    return _examples(rows)


def read_examples(path: Path) -> Examples:
    """Reads every row of a file."""
    return _examples(_rows(path))


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _examples(rows: list[dict[str, str]]) -> Examples:
    return Examples(
        pairs=tuple((row["premise"], row["hypothesis"]) for row in rows),
        labels=np.array([NLI_LABELS.index(row["label"]) for row in rows], dtype=np.int64),
        sources=tuple(row.get("source", "") for row in rows),
    )
