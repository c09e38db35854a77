"""Random updates of a random DeBERTa: as the file has them, and as weights beside those of the checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from inference.compile.config import DebertaConfig
from inference.compile.updates import LINEARS, NORMS

Half = NDArray[np.float16]
Weights = dict[str, NDArray[np.float32]]
RANK = 4


@dataclass(frozen=True)
class RandomUpdates:
    """Arrays by their names in the file, and the module of the checkpoint that each changes; heads change none."""

    arrays: dict[str, Half]
    targets: dict[str, str]

    def write(self, path: Path, **changed: Half | None) -> Path:
        """Writes the file; an array that is changed to None is left out."""
        arrays = {**self.arrays, **{name.replace("__", "."): array for name, array in changed.items()}}
        save_file({name: array for name, array in arrays.items() if array is not None}, path)
        return path

    def beside(self, weights: Mapping[str, NDArray[np.float32]]) -> Weights:
        """Returns weights whose products have their updates beside them (`.down`, `.up`), nothing folded."""
        return {**weights, **{target: self.arrays[name].astype(np.float32) for name, target in self.targets.items()}}


def random_updates(weights: Mapping[str, NDArray[np.float32]], config: DebertaConfig) -> RandomUpdates:
    """Makes updates that move every part of an encoder."""
    random = np.random.default_rng(11)
    targets: dict[str, str] = {}
    arrays: dict[str, Half] = {}

    def add(name: str, shape: tuple[int, ...], *, mean: float = 0.0, scale: float = 0.2) -> None:
        arrays[name] = random.normal(mean, scale, shape).astype(np.float16)

    norms = {"embedding_norm": "embeddings.LayerNorm", "relative_norm": "encoder.LayerNorm"}
    for index in range(config.layer_count):
        layer = f"encoder.layer.{index}"
        norms |= {f"layers.{index}.{name}": f"{layer}.{module}" for name, module in NORMS.items()}
        for name, module in LINEARS.items():
            outputs, inputs = weights[f"{layer}.{module}.weight"].shape
            add(f"layers.{index}.{name}.down", (RANK, inputs), scale=1 / np.sqrt(inputs))
            add(f"layers.{index}.{name}.up", (outputs, RANK))
            add(f"layers.{index}.{name}.bias", (outputs,))
            targets |= {f"layers.{index}.{name}.{part}": f"{layer}.{module}.{part}" for part in ("down", "up", "bias")}
    for name, module in norms.items():
        add(f"{name}.weight", (config.hidden_size,), mean=1.0)
        add(f"{name}.bias", (config.hidden_size,))
        targets |= {f"{name}.{part}": f"{module}.{part}" for part in ("weight", "bias")}
    for name, outputs in {"label_head": 3, "token_head": 1}.items():
        add(f"{name}.weight", (outputs, config.hidden_size))
        add(f"{name}.bias", (outputs,))
    return RandomUpdates(arrays, targets)
