"""Files of what training learned: updates in half precision, which `precis models install` folds in."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor


def save_updates(parameters: Mapping[str, Tensor], path: Path) -> None:
    """Writes all parameters in half precision; the same numbers give the same bytes."""
    save_file({name: parameters[name].detach().half().contiguous() for name in sorted(parameters)}, path)


def load_updates(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Reads files of updates, and takes the mean of each number of several.

    A mean of runs that began at the same numbers is often better than each (Wortsman et al. 2022, arXiv 2203.05482).

    Raises:
        KeyError: the files are not of one encoder.
    """
    files = [load_file(path) for path in paths]
    return {name: torch.stack([file[name].float() for file in files]).mean(0) for name in files[0]}
