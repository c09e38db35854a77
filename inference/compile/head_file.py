"""Reads and writes the weights of a head: a few kilobytes in the safetensors format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from inference.compile.errors import WeightsError
from inference.compile.head import DenseLayer, Head

_WEIGHT, _BIAS = "weight", "bias"


def save_linear_head(path: Path, layer: DenseLayer) -> None:
    """Writes a head of one layer. The same numbers always give the same bytes: no metadata, no date."""
    path.write_bytes(save({_WEIGHT: np.ascontiguousarray(layer.weight), _BIAS: np.ascontiguousarray(layer.bias)}))


def load_linear_head(path: Path) -> Head:
    """Reads what `save_linear_head` wrote.

    Raises:
        WeightsError: the file is missing, or is not a linear head.
    """
    try:
        arrays = load_file(path)
        weight, bias = arrays[_WEIGHT], arrays[_BIAS]
    except (OSError, SafetensorError, KeyError) as error:
        raise WeightsError(f"{path} is not a head: {error}") from error
    if weight.ndim != 2 or bias.shape != weight.shape[1:] or weight.dtype != np.float32:  # noqa: PLR2004  # a matrix
        raise WeightsError(f"{path} is not a head: weight {weight.dtype}{weight.shape}, bias {bias.shape}")
    return (DenseLayer(weight, bias),)
