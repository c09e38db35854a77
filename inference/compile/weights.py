"""Reads the arrays of a checkpoint by their Hugging Face names.

Linear weights keep the Hugging Face layout (outputs, inputs). Everything is float32 except a word-embedding table that
is stored as bytes. That one stays a `QuantizedTable`: its rows can be dequantized after the lookup, exactly, at a
quarter of the size.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors import SafetensorError
from safetensors.numpy import load_file

from inference.compile.errors import WeightsError

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

_WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
# Suffixes that ONNX Runtime's quantize_dynamic gives to what it makes of a weight.
_QUANTIZED, _SCALE, _ZERO_POINT = "_quantized", "_scale", "_zero_point"


@dataclass(frozen=True)
class QuantizedTable:
    """A matrix in 8 bits: row = (values - zero_point) * scale."""

    values: NDArray[np.uint8 | np.int8]
    scale: np.float32
    zero_point: int

    def dequantize(self) -> Float32:
        """Returns the whole table as float32."""
        centered = self.values.astype(np.float32) - np.float32(self.zero_point)
        return np.asarray(centered * self.scale, dtype=np.float32)


Weights = Mapping[str, Float32 | QuantizedTable]


class WeightScope:
    """The weights below one prefix (`deberta.encoder.`), with errors that name what is missing."""

    def __init__(self, weights: Weights, prefix: str = "") -> None:
        """Looks at the entries of `weights` whose names begin with `prefix`."""
        self._weights = weights
        self.prefix = prefix

    def scope(self, name: str) -> "WeightScope":
        """Goes one module deeper."""
        return WeightScope(self._weights, f"{self.prefix}{name}.")

    def has(self, name: str) -> bool:
        """Whether the checkpoint has this entry."""
        return self.prefix + name in self._weights

    def table(self, name: str) -> Float32 | QuantizedTable:
        """Returns an entry as stored. Raises WeightsError if there is none."""
        try:
            return self._weights[self.prefix + name]
        except KeyError:
            raise WeightsError(f"the checkpoint has no weight {self.prefix + name!r}") from None

    def array(self, name: str) -> Float32:
        """Returns an entry as float32. Raises WeightsError if there is none."""
        entry = self.table(name)
        return entry.dequantize() if isinstance(entry, QuantizedTable) else entry

    def linear(self, name: str) -> tuple[Float32, Float32]:
        """Returns a linear module as (weight of shape (inputs, outputs), bias)."""
        weight = self.array(f"{name}.weight").T
        bias = self.array(f"{name}.bias") if self.has(f"{name}.bias") else np.zeros(weight.shape[1], np.float32)
        return weight, bias


def encoder_scope(weights: Weights) -> WeightScope:
    """Returns the scope of the encoder, whatever module it was saved in (`deberta.`, `m.bert.`, none)."""
    return _scope_of(weights, _WORD_EMBEDDINGS, f"the checkpoint has no weight ending in {_WORD_EMBEDDINGS!r}")


def head_scope(weights: Weights) -> WeightScope:
    """Returns the scope that holds `pooler` and `classifier`, beside the encoder."""
    return _scope_of(weights, "classifier.weight", "the checkpoint has no classifier; it is an encoder, give it a head")


def load_safetensors(path: Path) -> Weights:
    """Reads every float array of a file. Raises WeightsError for a missing file or an unreadable one."""
    try:
        arrays = load_file(path)
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"cannot read {path}: {error}") from error
    return {name: np.asarray(array, np.float32) for name, array in arrays.items() if array.dtype.kind == "f"}


def dequantize_onnx(path: Path) -> Weights:
    """Recovers the float32 weights of a graph that ONNX Runtime's `quantize_dynamic` made.

    Matrices lose their names in such a graph; the nodes that use them still carry the module's path.
    Raises WeightsError when the file is no ONNX model or holds no quantized matrix.
    """
    try:
        graph = onnx.load(path).graph
    except Exception as error:  # protobuf and onnx raise several unrelated types here
        raise WeightsError(f"cannot read {path} as an ONNX model: {error}") from error
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    matrices = {name: _matrix(arrays, root).T for name, root in _quantized_linears(graph, arrays).items()}
    if not matrices:
        raise WeightsError(f"{path} holds no int8 matrix; only dynamically quantized graphs can be read")
    weights: dict[str, Float32 | QuantizedTable] = {
        name: value
        for name, value in arrays.items()  # those with a module's name, not those that the exporter numbered
        if value.dtype == np.float32 and name.endswith((".weight", ".bias")) and "::" not in name
    }
    stored = [name.removesuffix(_QUANTIZED) for name in arrays if name.endswith(_WORD_EMBEDDINGS + _QUANTIZED)]
    return weights | matrices | {name: _stored_bytes(arrays, name) for name in stored}


def _scope_of(weights: Weights, entry: str, problem: str) -> WeightScope:
    for name in weights:
        if name.endswith(entry):
            return WeightScope(weights, name.removesuffix(entry))
    raise WeightsError(problem)


def _quantized_linears(graph: onnx.GraphProto, arrays: Mapping[str, Any]) -> dict[str, str]:
    """Maps `module.weight` to the root name of its quantized matrix.

    A matrix used twice appears under two paths: the shorter one is the module, the other carries a `_1`. DeBERTa
    projects its relative positions with the query and key weights.
    """
    aliases = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Identity"}
    paths: dict[str, str] = {}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        stored = aliases.get(node.input[1], node.input[1])
        root = stored.removesuffix(_QUANTIZED)
        path = node.name.strip("/").rpartition("/")[0].replace("/", ".")
        if stored in arrays and (root not in paths or len(path) < len(paths[root])):
            paths[root] = path
    return {f"{path}.weight": root for root, path in paths.items()}


def _matrix(arrays: Mapping[str, NDArray[Any]], root: str) -> Float32:
    """Returns a matrix (inputs, outputs), from its float32 original where the graph still holds it.

    A matrix that also multiplies constants keeps its original there: quantize_dynamic quantizes products with
    activations only. Such are DeBERTa's query and key projections, by way of relative positions.
    """
    original = arrays.get(root)
    return _stored_bytes(arrays, root).dequantize() if original is None else np.asarray(original, dtype=np.float32)


def _stored_bytes(arrays: Mapping[str, NDArray[Any]], root: str) -> QuantizedTable:
    scale, zero_point = arrays[root + _SCALE], arrays[root + _ZERO_POINT]
    return QuantizedTable(arrays[root + _QUANTIZED], np.float32(scale), int(zero_point))
