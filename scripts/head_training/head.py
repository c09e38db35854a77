"""Reads the linear head that training begins with."""

from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from inference.compile.deberta import DenseLayer, Head
from inference.compile.errors import WeightsError


def load_linear_head(path: Path) -> Head:
    """Reads a head of one layer, `weight` and `bias`, as `scripts/train_head.py` writes it.

    Raises:
        WeightsError: the file is missing, or is not a linear head.
    """
    try:
        arrays = load_file(path)
        weight, bias = arrays["weight"], arrays["bias"]
    except (OSError, SafetensorError, KeyError) as error:
        raise WeightsError(f"{path} is not a head: {error}") from error
    if weight.ndim != 2 or bias.shape != weight.shape[1:] or weight.dtype != np.float32:  # noqa: PLR2004  # a matrix
        raise WeightsError(f"{path} is not a head: weight {weight.dtype}{weight.shape}, bias {bias.shape}")
    return (DenseLayer(weight, bias),)
