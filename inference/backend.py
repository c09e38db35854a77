"""The seam to the hardware: rows of token ids in, rows of numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]


class Backend(Protocol):
    """A loaded model on one device. `run` may be called from several threads at a time."""

    @property
    def execution_provider(self) -> str:
        """ONNX Runtime's name of the provider that runs the graph."""

    def run(self, inputs: Mapping[str, Int64]) -> Float32:
        """Runs one forward pass.

        Args:
            inputs: the graph's inputs by name, each of shape (rows, length).

        Returns:
            Shape (rows, columns). Row i depends on row i of the inputs alone. Behind the columns of the model's output
            there is one for each position of the inputs, if the graph marks tokens.
        """

    def reopen(self) -> None:
        """Makes the session again after a worker died with it. Blocks."""

    def interrupt(self) -> None:
        """Ends the runs in progress with an error as soon as it can. For a stop that cannot wait."""
