"""Chooses the arithmetic of a graph by measurement, among those whose answers do not depend on neighbours.

Graphs are compared with a reference, and with themselves in other company.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from inference.compile.deberta import LOGITS
from inference.compile.errors import CompileError, VerificationError
from inference.compile.quantize import quantize_batch, quantize_rows, quantize_weights
from inference.models.native import ort

Float32: TypeAlias = NDArray[np.float32]

_BATCH = 8  # items of random length in one batch when company is tested


@dataclass(frozen=True)
class GraphAgreement:
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


def compare(outputs: Float32, reference: Float32) -> GraphAgreement:
    """Compares two matrices of outputs, one row for each item."""
    norms = np.linalg.norm(outputs, axis=1) * np.linalg.norm(reference, axis=1)
    cosines = (outputs * reference).sum(axis=1) / np.maximum(norms, np.finfo(np.float32).tiny)
    return GraphAgreement(
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


Precision: TypeAlias = Literal["fp32", "int8_rows", "int8_weights", "int8_batch"]

CANDIDATES: Mapping[Precision, Callable[[onnx.ModelProto], onnx.ModelProto]] = {
    "fp32": lambda model: model,
    "int8_rows": quantize_rows,
    "int8_weights": quantize_weights,
    "int8_batch": quantize_batch,
}
MAX_NEIGHBOUR_DELTA = 1e-5  # in units of the output; 1e-4 is promised to callers
MIN_DECISION_AGREEMENT = 0.99  # of a classifier, with fp32
MIN_COSINE = 0.99  # of every embedding, with fp32
_TIMED_RUNS = 3  # passes over the items, the fastest counts: others use the machine too


@dataclass(frozen=True)
class PrecisionMeasurement:
    """What one precision gives on this machine."""

    precision: Precision
    items_per_s: float  # one thread, one item at a time
    size_bytes: int
    is_classifier: bool
    agreement: GraphAgreement  # with fp32
    neighbour_delta: float

    @property
    def is_batch_invariant(self) -> bool:
        """Whether company leaves an answer alone."""
        return self.neighbour_delta <= MAX_NEIGHBOUR_DELTA

    @property
    def is_close(self) -> bool:
        """Whether it says what fp32 says: classifiers in decisions, embedders in directions."""
        if self.is_classifier:
            return self.agreement.decision_agreement >= MIN_DECISION_AGREEMENT
        return self.agreement.min_cosine >= MIN_COSINE


@dataclass(frozen=True)
class Choice:
    """The graph to serve, and what was measured on the way."""

    model: onnx.ModelProto
    chosen: Precision
    measurements: tuple[PrecisionMeasurement, ...]


def choose_precision(
    model: onnx.ModelProto, rows: Sequence[Encoded], *, candidates: Sequence[Precision] = tuple(CANDIDATES)
) -> Choice:
    """Measures every candidate on `rows` and takes the fastest acceptable one.

    Args:
        model: a compiled graph in float32.
        rows: real items, a few dozen at least; agreement is counted on them.
        candidates: which precisions to try; fp32 is always among them.

    Raises:
        VerificationError: not even fp32 is batch-invariant, so the graph itself is wrong.
    """
    names: list[Precision] = ["fp32", *(name for name in candidates if name != "fp32")]
    models = {name: CANDIDATES[name](model) for name in names}
    reference = LoadedGraph(model).run_alone(rows)
    measurements = tuple(_measure(name, models[name], rows, reference) for name in names)
    acceptable = [measured for measured in measurements if measured.is_batch_invariant and measured.is_close]
    if not acceptable:
        raise VerificationError(
            f"an output moves by {measurements[0].neighbour_delta:.1e} with its neighbours, even in fp32"
        )
    chosen = max(acceptable, key=lambda measured: measured.items_per_s).precision
    return Choice(models[chosen], chosen, measurements)


def _measure(
    precision: Precision, model: onnx.ModelProto, rows: Sequence[Encoded], reference: Float32
) -> PrecisionMeasurement:
    graph = LoadedGraph(model)
    outputs = graph.run_alone(rows)  # also the warm-up
    times = []
    for _ in range(_TIMED_RUNS):
        start = time.process_time()
        graph.run_alone(rows)
        times.append(time.process_time() - start)
    return PrecisionMeasurement(
        precision=precision,
        is_classifier=model.graph.output[0].name == LOGITS,
        items_per_s=len(rows) / max(min(times), 1e-9),
        size_bytes=model.ByteSize(),
        agreement=compare(outputs, reference),
        neighbour_delta=neighbour_delta(graph, rows),
    )
