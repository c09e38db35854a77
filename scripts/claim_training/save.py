"""Writes the parameters that training keeps as a file of updates, which `precis models install` folds in.

Run: python -m scripts.claim_training.save parameters.pt nli-deberta-v3-xsmall-claims.safetensors
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor


def save_updates(parameters: Mapping[str, Tensor], path: Path) -> None:
    """Writes all parameters in half precision; the same numbers give the same bytes."""
    save_file({name: parameters[name].detach().half().contiguous() for name in sorted(parameters)}, path)


def main() -> None:
    """Converts what `torch.save` wrote."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parameters", type=Path, help="file of torch.save: name -> tensor")
    parser.add_argument("output", type=Path, help="file for the updates (.safetensors)")
    arguments = parser.parse_args()
    save_updates(torch.load(arguments.parameters, weights_only=True), arguments.output)


if __name__ == "__main__":
    main()
