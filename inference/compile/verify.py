"""Compares graphs: against a reference, and against themselves in other company."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

from inference.compile.errors import CompileError
from inference.encoded import Encoded
from inference.native import ort
from inference.padding import pad_rows

Float32: TypeAlias = NDArray[np.float32]

_BATCH = 8  # items of random length in one batch when company is tested


@dataclass(frozen=True)
class Agreement:
    """How close the outputs of two graphs are, item by item."""

    max_difference: float
    decision_agreement: float  # share of items whose largest output is in the same column
    min_cosine: float


class LoadedGraph:
    """A model in memory, run by one thread on lists of encoded items."""

    def __init__(self, model: onnx.ModelProto, *, pad_token_id: int = 0) -> None:
        """Opens a session. Raises CompileError when ONNX Runtime refuses the graph."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            providers = ["CPUExecutionProvider"]
            self._session = ort.InferenceSession(model.SerializeToString(), options, providers=providers)
        except Exception as error:  # the library raises a dozen types without a common base
            raise CompileError(f"ONNX Runtime refuses the graph: {str(error).splitlines()[0]}") from error
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._pad_token_id = pad_token_id

    def run(self, rows: Sequence[Encoded]) -> Float32:
        """Runs one batch, padded to its longest item."""
        (result,) = self._session.run(None, pad_rows(rows, self._inputs, self._pad_token_id))
        return np.asarray(result, np.float32)

    def run_alone(self, rows: Sequence[Encoded]) -> Float32:
        """Runs every item in a batch of its own."""
        return np.concatenate([self.run([row]) for row in rows])


def compare(outputs: Float32, reference: Float32) -> Agreement:
    """Compares two matrices of outputs, one row for each item."""
    norms = np.linalg.norm(outputs, axis=1) * np.linalg.norm(reference, axis=1)
    cosines = (outputs * reference).sum(axis=1) / np.maximum(norms, np.finfo(np.float32).tiny)
    return Agreement(
        max_difference=float(np.abs(outputs - reference).max()),
        decision_agreement=float((outputs.argmax(axis=1) == reference.argmax(axis=1)).mean()),
        min_cosine=float(cosines.min()),
    )


def neighbour_delta(graph: LoadedGraph, rows: Sequence[Encoded], *, rounds: int = 3, seed: int = 0) -> float:
    """Returns how far an output moves when its item is computed in random company instead of alone.

    Company differs in length, so most items are padded.

    Args:
        graph: under test.
        rows: items; each is computed `rounds` times in company.
        rounds: random orders of the items.
        seed: of the random orders.
    """
    alone = graph.run_alone(rows)
    random, largest = np.random.default_rng(seed), 0.0
    for _ in range(rounds):
        order = random.permutation(len(rows))
        for start in range(0, len(rows), _BATCH):
            chosen = order[start : start + _BATCH]
            together = graph.run([rows[index] for index in chosen])
            largest = max(largest, float(np.abs(together - alone[chosen]).max()))
    return largest
