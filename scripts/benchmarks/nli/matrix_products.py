"""The matrix products of a graph, run alone: the arithmetic bound that the whole graph is compared with.

Every product becomes a plain MatMul, of floats or of bytes as it was, of the same size on contiguous operands. Weights
stay weights, so that ONNX Runtime packs them ahead of time as it does in the whole graph. Products that read the same
tensor share it here too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx import NodeProto, TensorProto, helper, numpy_helper

from scripts.benchmarks.shared.raw_model import make_session

INT8_TYPE = "MatMulInteger"
PRODUCT_TYPES = {"MatMul", "Gemm", "FusedMatMul", INT8_TYPE}
OPAQUE_TYPES = {"Attention", "MultiHeadAttention", "Einsum", "MatMulNBits"}
OPSET, IR_VERSION = 20, 9

Shape = tuple[int, ...]
Feed = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Operand:
    """One side of a product.

    Attributes:
        tensor: its name in the whole graph.
        is_weight: whether the graph carries it as a constant.
        is_transposed: whether its last two dimensions are swapped before the product.
        is_batch_first: False when the first dimension stands before the batch dimensions and belongs behind them.
        is_bytes: whether it belongs to a product of uint8 and int8.
    """

    tensor: str
    is_weight: bool
    is_transposed: bool
    is_batch_first: bool
    is_bytes: bool

    @property
    def name(self) -> str:
        """Distinguishes the layouts in which one tensor is read."""
        return f"{self.tensor}|{self.is_transposed:d}{self.is_batch_first:d}"

    def plain_shape(self, shape: Sequence[int]) -> Shape:
        """Returns the shape as a plain MatMul reads it: batch dimensions, rows, columns."""
        dims = list(shape)
        if not self.is_batch_first:
            dims = [*dims[1:-1], dims[0], dims[-1]]
        return (*dims[:-2], dims[-1], dims[-2]) if self.is_transposed else tuple(dims)


class MatrixProducts:
    """The products of one graph. `inputs_for` lays out random operands, `run` multiplies them.

    Raises:
        ValueError: the graph hides products inside an operator that this class cannot look into.
    """

    def __init__(self, path: Path) -> None:
        model = onnx.load(path)
        if hidden := {node.op_type for node in model.graph.node} & OPAQUE_TYPES:
            raise ValueError(f"cannot take the products out of {', '.join(sorted(hidden))} in {path}")
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        nodes = [node for node in model.graph.node if node.op_type in PRODUCT_TYPES]
        self.products = [(self._operand(node, "A"), self._operand(node, "B")) for node in nodes]
        sides = {side.name: side for product in self.products for side in product if not side.is_weight}
        self._computed = list(sides.values())
        self._session = make_session(self._products_graph().SerializeToString())
        self._probe = make_session(self._probing_graph(model).SerializeToString())

    def inputs_for(self, feed: Feed) -> dict[str, ort.OrtValue]:
        """Makes random operands with the shapes that the whole graph gives them for `feed`."""
        random = np.random.default_rng(0)
        shapes = self._shapes(feed)
        return {
            side.name: ort.OrtValue.ortvalue_from_numpy(
                random.integers(0, 256, shapes[side.name], np.uint8)
                if side.is_bytes
                else random.standard_normal(shapes[side.name], np.float32)
            )
            for side in self._computed
        }

    def operations(self, feed: Feed) -> int:
        """Counts the arithmetic operations of all products: 2 per multiplication and addition."""
        shapes = self._shapes(feed) | {
            side.name: self._weight_shape(side) for _, side in self.products if side.is_weight
        }
        return sum(2 * math.prod(shapes[left.name]) * shapes[right.name][-1] for left, right in self.products)

    def run(self, inputs: Mapping[str, ort.OrtValue]) -> None:
        """Does all products once and throws the results away."""
        self._session.run_with_ort_values(None, dict(inputs))

    def _operand(self, node: NodeProto, side: str) -> Operand:
        attributes = {attribute.name: attribute.i for attribute in node.attribute}
        tensor = node.input["AB".index(side)]
        return Operand(
            tensor=tensor,
            is_weight=tensor in self._weights,
            is_transposed=bool(attributes.get(f"trans{side}", 0)),
            is_batch_first=not attributes.get(f"transBatch{side}", 0),
            is_bytes=node.op_type == INT8_TYPE,
        )

    def _shapes(self, feed: Feed) -> dict[str, Shape]:
        probed = self._probe.run(None, dict(feed))
        return {side.name: side.plain_shape(shape) for side, shape in zip(self._computed, probed, strict=True)}

    def _weight_shape(self, side: Operand) -> Shape:
        return side.plain_shape(self._weights[side.tensor].dims)

    def _probing_graph(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """The whole graph with the shapes of the operands as its only outputs."""
        probe = onnx.ModelProto()
        probe.CopyFrom(model)
        del probe.graph.output[:]
        for side in self._computed:
            shape = f"shape of {side.name}"
            probe.graph.node.append(helper.make_node("Shape", [side.tensor], [shape]))
            probe.graph.output.append(helper.make_tensor_value_info(shape, TensorProto.INT64, [None]))
        return probe

    def _products_graph(self) -> onnx.ModelProto:
        """All products; of each result only the shape leaves the graph, so that its memory is used again at once."""
        nodes, outputs = [], []
        for index, (left, right) in enumerate(self.products):
            result, shape = f"product {index}", f"shape of product {index}"
            nodes.append(helper.make_node(INT8_TYPE if left.is_bytes else "MatMul", [left.name, right.name], [result]))
            nodes.append(helper.make_node("Shape", [result], [shape]))
            outputs.append(helper.make_tensor_value_info(shape, TensorProto.INT64, [None]))
        weights = {side.name: side for product in self.products for side in product if side.is_weight}
        graph = helper.make_graph(
            nodes,
            "products",
            [
                helper.make_tensor_value_info(
                    side.name, TensorProto.UINT8 if side.is_bytes else TensorProto.FLOAT, None
                )
                for side in self._computed
            ],
            outputs,
            [self._plain_weight(side) for side in weights.values()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)

    def _plain_weight(self, side: Operand) -> TensorProto:
        array = numpy_helper.to_array(self._weights[side.tensor]).reshape(self._weight_shape(side))
        return numpy_helper.from_array(np.ascontiguousarray(array), side.name)
