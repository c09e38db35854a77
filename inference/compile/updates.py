"""Folds trained updates of an encoder into its weights, so that they cost nothing at run time.

A file of updates holds, in half precision, what was trained on top of a frozen DeBERTa encoder. For each product x W^T
that is an update x A^T B^T of low rank (LoRA, Hu et al. 2021, arXiv 2106.09685), and whole biases, layer norms and
heads. W + B A is a matrix like W.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from inference.compile.config import EncoderConfig
from inference.compile.deberta import DenseLayer
from inference.compile.errors import WeightsError
from inference.compile.weights import Float32, QuantizedTable, Weights, encoder_scope
from inference.models.manifest import NLI_LABELS

# Name in the file -> module of a layer in the checkpoint.
LINEARS = {
    "query": "attention.self.query_proj",
    "key": "attention.self.key_proj",
    "value": "attention.self.value_proj",
    "context": "attention.output.dense",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
}
NORMS = {"after_attention": "attention.output.LayerNorm", "after_widening": "output.LayerNorm"}
_NORMS_OF_ENCODER = {"embedding_norm": "embeddings.LayerNorm", "relative_norm": "encoder.LayerNorm"}


@dataclass(frozen=True)
class UpdatedEncoder:
    """A checkpoint with its updates folded in, and the heads that were trained with them."""

    weights: Weights
    label_head: DenseLayer  # state of [CLS] to the logits of NLI_LABELS
    token_head: DenseLayer  # state of a token to the log-odds that the premise does not support it


def fold_updates(path: Path, weights: Weights, config: EncoderConfig) -> UpdatedEncoder:
    """Reads a file of updates and adds them to the weights of the encoder that they were trained on.

    Raises WeightsError: the file cannot be read, or is not a whole set of updates for this encoder.
    """
    file, scope = _UpdateFile(path), encoder_scope(weights)
    folded: dict[str, Float32 | QuantizedTable] = dict(weights)
    norms = dict(_NORMS_OF_ENCODER)
    for index in range(config.layer_count):
        layer = f"encoder.layer.{index}"
        norms |= {f"layers.{index}.{name}": f"{layer}.{module}" for name, module in NORMS.items()}
        for name, module in LINEARS.items():
            target = f"{layer}.{module}.weight"
            matrix = scope.array(target)
            folded[scope.prefix + target] = _fold(matrix, *file.update(f"layers.{index}.{name}", matrix.shape))
            bias = file.take(f"layers.{index}.{name}.bias", len(matrix))
            folded[f"{scope.prefix}{layer}.{module}.bias"] = bias
    for name, module in norms.items():
        for part in ("weight", "bias"):
            folded[f"{scope.prefix}{module}.{part}"] = file.take(f"{name}.{part}", config.hidden_size)
    heads = file.head("label_head", config, len(NLI_LABELS)), file.head("token_head", config, 1)
    file.check_all_taken()
    return UpdatedEncoder(folded, *heads)


def _fold(matrix: Float32, down: Float32, up: Float32) -> Float32:
    """Sums in float64: the order in which a processor adds does not reach the last bit of float32."""
    return np.asarray(matrix + up.astype(np.float64) @ down.astype(np.float64), np.float32)


class _UpdateFile:
    """The arrays of a file, each taken once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._arrays = load_file(path)
        except (OSError, SafetensorError) as error:
            raise self._error(str(error)) from error

    def take(self, name: str, *shape: int | None) -> Float32:
        """Takes an array out, in float32; a side that is None may have any length. Raises WeightsError."""
        array = self._arrays.pop(name, None)
        if array is None:
            raise self._error(f"it has no {name}")
        is_float = array.dtype.kind == "f" and array.ndim == len(shape)
        if not is_float or any(side not in {None, found} for side, found in zip(shape, array.shape, strict=True)):
            raise self._error(f"{name} is {array.dtype}{array.shape}, expected floats of {shape}")
        if not np.isfinite(array).all():
            raise self._error(f"{name} has values that are not finite")
        return np.asarray(array, np.float32)

    def update(self, name: str, shape: tuple[int, ...]) -> tuple[Float32, Float32]:
        """Takes the two factors of an update: (rank, inputs) and (outputs, rank)."""
        outputs, inputs = shape
        down = self.take(f"{name}.down", None, inputs)
        return down, self.take(f"{name}.up", outputs, len(down))

    def head(self, name: str, config: EncoderConfig, outputs: int) -> DenseLayer:
        """Takes a linear head."""
        weight = self.take(f"{name}.weight", outputs, config.hidden_size)
        return DenseLayer(np.ascontiguousarray(weight.T), self.take(f"{name}.bias", outputs))

    def check_all_taken(self) -> None:
        """Raises WeightsError for an array that nobody knows."""
        if self._arrays:
            raise self._error(f"{min(self._arrays)} belongs to no part of the encoder")

    def _error(self, problem: str) -> WeightsError:
        return WeightsError(f"{self._path} holds no updates of this encoder: {problem}")
