"""Reads the weights of a graph that the writers of this package made, for the compiled core.

A graph of anybody else, or one with a part that the core does not compute, is refused.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

from inference.compile.bert import EMBEDDING
from inference.compile.config import Activation
from inference.compile.deberta import LOGITS, DenseLayer
from inference.compile.errors import UnsupportedModelError
from inference.compile.quantize import quantize_rows
from inference.compile.weights import Float32, QuantizedTable
from inference.models.manifest import MARKS

_ACTIVATIONS: dict[str, Activation] = {"Gelu": "gelu", "Relu": "relu", "Identity": "identity"}
_PREFIX = "quantized/"


@dataclass(frozen=True)
class ByteMatrix:
    """A weight matrix in signed bytes: column n of the product is sum * scale[n] + bias[n]."""

    values: NDArray[np.int8]  # (inputs, outputs)
    scale: Float32
    bias: Float32


class GraphReader:
    """Looks weights and options of one graph up by the names that the writers give."""

    def __init__(self, model: onnx.ModelProto) -> None:
        if not any(tensor.name.startswith(_PREFIX) for tensor in model.graph.initializer):
            model = quantize_rows(model)
        self._arrays = {tensor.name: tensor for tensor in model.graph.initializer}
        self._nodes = {node.output[0]: node for node in model.graph.node}
        self._unread = {name for name, tensor in self._arrays.items() if _is_weight(tensor)}
        self.outputs = [output.name for output in model.graph.output]

    def has(self, name: str) -> bool:
        """Whether the graph holds such an array."""
        return name in self._arrays

    def array(self, name: str) -> NDArray[Any]:
        """Returns an array. Raises UnsupportedModelError if there is none."""
        if name not in self._arrays:
            raise UnsupportedModelError(f"the core cannot compute this graph: it has no {name!r}")
        self._unread.discard(name)
        return numpy_helper.to_array(self._arrays[name])

    def node(self, name: str) -> NodeProto:
        """Returns the node with this output. Raises UnsupportedModelError if there is none."""
        if name not in self._nodes:
            raise UnsupportedModelError(f"the core cannot compute this graph: it has no node {name!r}")
        return self._nodes[name]

    def words(self) -> Float32 | QuantizedTable:
        """Returns the word embeddings as they are stored."""
        table = self.array("word_embeddings.weight")
        if table.dtype == np.float32:
            return np.asarray(table, np.float32)
        lookup = next(node for node in self._nodes.values() if list(node.input[:1]) == ["word_embeddings"])
        scale, zero = (self.array(name) for name in lookup.input[1:])
        return QuantizedTable(table, np.float32(scale.item()), int(zero.item()))

    def matrix(self, *names: str) -> ByteMatrix:
        """Returns one or more quantized products of the same rows, side by side."""
        parts = [self._matrix(name) for name in names]
        return ByteMatrix(*(np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True)))

    def _matrix(self, name: str) -> tuple[NDArray[np.int8], Float32, Float32]:
        values = self.array(f"{_PREFIX}{name}.int8")
        single = f"{_PREFIX}{name}.scale"
        scale = self.array(single if self.has(single) else f"{single}s")
        bias = self.array(f"{name}.bias") if self.has(f"{name}.bias") else np.zeros(values.shape[1])
        return values, np.resize(scale, values.shape[1]).astype(np.float32), bias.astype(np.float32)

    def norm(self, name: str) -> list[Float32]:
        """Returns scale and shift of a layer normalization."""
        return [self.array(f"{name}.weight"), self.array(f"{name}.bias")]

    def epsilon(self) -> float:
        """Returns the epsilon of all layer normalizations."""
        norms = [node for node in self._nodes.values() if node.op_type == "LayerNormalization"]
        return float(self._only("epsilon", {helper.get_node_attr_value(node, "epsilon") for node in norms}))

    def head_count(self) -> int:
        """Returns the number of attention heads."""
        heads, _ = self.array(self.node("head_shape").input[1]).tolist()
        return int(heads)

    def layer_count(self) -> int:
        """Returns the number of layers."""
        return sum(name.startswith(f"{_PREFIX}layer.") and name.endswith(".inner.int8") for name in self._arrays)

    def activation(self) -> Activation:
        """Returns the activation of all feed-forward layers."""
        layers = (self._after(f"layer.{index}.inner") for index in range(self.layer_count()))
        found: Activation = self._only("activation", set(layers))
        return found

    def distances(self) -> NDArray[np.int64]:
        """Returns the row of the relative embeddings for each distance, the most negative first."""
        return np.asarray(self.array(self.node("distances.ascending").input[0]), np.int64)

    def head(self) -> list[DenseLayer]:
        """Returns the layers behind the encoder; none for an embedder."""
        if self.outputs not in ([EMBEDDING], [LOGITS], [LOGITS, MARKS]):
            raise UnsupportedModelError(f"the core cannot compute the outputs {', '.join(self.outputs)}")
        layers: list[DenseLayer] = []
        while self.has((name := f"head.{len(layers)}") + ".bias"):
            layers.append(DenseLayer(self._head_weight(name), self.array(f"{name}.bias"), self._after(name)))
        return layers

    def _head_weight(self, name: str) -> Float32:
        """Returns the weight of a head's layer; a large one may have been quantized with all others."""
        if self.has(f"{name}.weight"):
            return np.asarray(self.array(f"{name}.weight"), np.float32)
        values, scale, _ = self._matrix(name)
        return np.asarray(values * scale, np.float32)

    def check_all_read(self) -> None:
        """Raises UnsupportedModelError if the graph holds weights that nobody asked for."""
        if unread := sorted(self._unread):
            raise UnsupportedModelError(f"the core cannot compute this graph: nothing reads {unread[0]!r}")

    def _after(self, name: str) -> Activation:
        (reader,) = [node for node in self._nodes.values() if name in node.input]
        if reader.op_type not in _ACTIVATIONS or reader.attribute:  # an approximation
            raise UnsupportedModelError(f"the core has no activation {reader.op_type}")
        return _ACTIVATIONS[reader.op_type]

    @staticmethod
    def _only(what: str, found: set[Any]) -> Any:  # noqa: ANN401  # whatever the attribute is
        if len(found) != 1:
            raise UnsupportedModelError(f"the core cannot compute a graph with {len(found)} kinds of {what}")
        return found.pop()


def _is_weight(tensor: onnx.TensorProto) -> bool:
    return tensor.data_type in {onnx.TensorProto.FLOAT, onnx.TensorProto.INT8} and int(np.prod(tensor.dims)) > 1
