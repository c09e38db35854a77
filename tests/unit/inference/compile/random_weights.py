"""Random checkpoints of small encoders, named as Hugging Face names weights, and random updates of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from inference.compile.config import BertConfig, DebertaConfig
from inference.compile.updates import LINEARS, NORMS

Weights = dict[str, NDArray[np.float32]]

VOCABULARY, POSITIONS = 50, 40

BERT = BertConfig(hidden_size=24, layer_count=3, head_count=3, layer_norm_eps=1e-12, activation="gelu")
DEBERTA = DebertaConfig(
    hidden_size=24,
    layer_count=3,
    head_count=3,
    layer_norm_eps=1e-7,
    activation="gelu",
    has_content_to_position=True,
    has_position_to_content=True,
    shares_attention_key=True,
    normalizes_relative_embeddings=True,
    position_buckets=8,
    max_relative_positions=16,
    has_absolute_positions=False,
    token_type_count=0,
    pooler_activation="gelu",
)


def bert_weights(config: BertConfig = BERT, *, vocabulary: int = VOCABULARY, positions: int = POSITIONS) -> Weights:
    """Weights of a BertModel."""
    checkpoint = _Checkpoint(config.hidden_size, vocabulary, positions)
    return checkpoint.encoder(config, parts=("query", "key", "value"), token_types=2)


def bert_config(config: BertConfig = BERT) -> dict[str, object]:
    """What matters of the config.json of a BertModel."""
    return {
        "model_type": "bert",
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.layer_count,
        "num_attention_heads": config.head_count,
        "layer_norm_eps": config.layer_norm_eps,
    }


def deberta_weights(config: DebertaConfig = DEBERTA, *, embedding_size: int | None = None) -> Weights:
    """Weights of a DebertaV2Model."""
    checkpoint = _Checkpoint(config.hidden_size)
    parts = ["query_proj", "key_proj", "value_proj"]
    parts += [] if config.shares_attention_key else ["pos_key_proj", "pos_query_proj"]
    weights = checkpoint.encoder(config, tuple(parts), token_types=config.token_type_count)
    checkpoint.table("encoder.rel_embeddings", 2 * config.relative_span)
    checkpoint.norm("encoder.LayerNorm")
    if embedding_size is not None:
        for name in ("word", "position", "token_type"):
            table = f"embeddings.{name}_embeddings"
            checkpoint.table(table, len(weights.get(f"{table}.weight", [])), embedding_size)
        checkpoint.linear("embeddings.embed_proj", embedding_size, config.hidden_size)
        del weights["embeddings.embed_proj.bias"]
    return weights


def classifier_weights(config: DebertaConfig = DEBERTA, *, labels: int = 3) -> Weights:
    """Weights of a DebertaV2ForSequenceClassification."""
    encoder = {f"deberta.{name}": value for name, value in deberta_weights(config).items()}
    head = _Checkpoint(config.hidden_size)
    head.linear("pooler.dense", config.hidden_size, config.hidden_size)
    head.linear("classifier", config.hidden_size, labels)
    return encoder | head.weights


class _Checkpoint:
    def __init__(self, hidden_size: int, vocabulary: int = VOCABULARY, positions: int = POSITIONS) -> None:
        self.weights: Weights = {}
        self._words, self._positions = vocabulary, positions
        self._random = np.random.default_rng(7)
        self._hidden_size = hidden_size

    def encoder(self, config: BertConfig | DebertaConfig, parts: tuple[str, ...], token_types: int) -> Weights:
        self.table("embeddings.word_embeddings", self._words)
        self.table("embeddings.position_embeddings", self._positions)
        self.table("embeddings.token_type_embeddings", token_types)
        self.norm("embeddings.LayerNorm")
        size = config.hidden_size
        for index in range(config.layer_count):
            prefix = f"encoder.layer.{index}"
            for part in parts:
                self.linear(f"{prefix}.attention.self.{part}", size, size)
            self.linear(f"{prefix}.attention.output.dense", size, size)
            self.norm(f"{prefix}.attention.output.LayerNorm")
            self.linear(f"{prefix}.intermediate.dense", size, 2 * size)
            self.linear(f"{prefix}.output.dense", 2 * size, size)
            self.norm(f"{prefix}.output.LayerNorm")
        return self.weights

    def linear(self, name: str, inputs: int, outputs: int) -> None:
        self._add(f"{name}.weight", (outputs, inputs), scale=2 / np.sqrt(inputs))
        self._add(f"{name}.bias", (outputs,), scale=0.3)

    def norm(self, name: str) -> None:
        self._add(f"{name}.weight", (self._hidden_size,), scale=0.2, mean=1.0)
        self._add(f"{name}.bias", (self._hidden_size,), scale=0.2)

    def table(self, name: str, rows: int, width: int | None = None) -> None:
        self._add(f"{name}.weight", (rows, width or self._hidden_size), scale=1.0)

    def _add(self, name: str, shape: tuple[int, ...], *, scale: float, mean: float = 0.0) -> None:
        self.weights[name] = self._random.normal(mean, scale, shape).astype(np.float32)


Half = NDArray[np.float16]
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
