"""Quantizes the weight products of a graph to eight bits, with one scale for each row of the activations.

Only products of a two-dimensional activation with a constant matrix change; attention itself, layer norms and small
heads stay in float32. A row never sees another one, so an item's answer does not depend on its neighbours. One scale
for the whole batch, as onnxruntime's `quantize_dynamic` has it, would make it depend on them.
"""

from copy import deepcopy
from typing import Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, numpy_helper

from inference.compile.graph import make_node
from inference.compile.weights import Float32
from inference.models.manifest import Precision
from inference.models.session import choose_device, is_int8_fast

PrecisionChoice = Literal["auto", Precision]

_MIN_SIDE = 16  # smaller matrices cost nothing and may be heads, where precision matters
_MAX_GRID_VALUES = 256  # distinct values of a matrix that was stored in bytes
_GRID_ERROR = 1e-3  # of one step
_UNSIGNED_ZERO = 128
_LARGEST = 127


def choose_precision(choice: PrecisionChoice) -> Precision:
    """Returns what `auto` means on this machine: int8_rows where a CPU serves and sums bytes exactly at full speed."""
    if choice != "auto":
        return choice
    return "int8_rows" if choose_device("auto") == "cpu" and is_int8_fast() else "fp32"


def quantize_rows(model: onnx.ModelProto) -> onnx.ModelProto:
    """Computes weight products in int8 with one activation scale per row: exact integer sums, batch-invariant."""
    return _Rewriter(model).rewrite()


class _Rewriter:
    """Copies a model node by node, replacing weight products."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._source = model
        self._arrays = {tensor.name: tensor for tensor in model.graph.initializer}
        self._nodes: list[NodeProto] = []
        self._added: dict[str, TensorProto] = {}
        self._quantized: dict[str, tuple[str, str]] = {}  # activation -> (its bytes, their scales)

    def rewrite(self) -> onnx.ModelProto:
        """Returns the rewritten copy."""
        for node in self._source.graph.node:
            if (weight := self._large_matrix(node)) is None:
                self._nodes.append(node)
            else:
                self._replace(node, weight)
        result = deepcopy(self._source)
        del result.graph.node[:], result.graph.initializer[:]
        result.graph.node.extend(self._nodes)
        still_used = {name for node in self._nodes for name in node.input}
        result.graph.initializer.extend(tensor for name, tensor in self._arrays.items() if name in still_used)
        result.graph.initializer.extend(self._added.values())
        return result

    def _replace(self, node: NodeProto, matrix: Float32) -> None:
        output, bias = node.output[0], node.input[2:]
        product = f"{output}.unbiased" if bias else output
        values, scales = self._row_bytes(node.input[0])
        integers, column_scales = _quantized_columns(matrix)
        weight = self._constant(f"{output}.int8", integers)
        zero = self._constant("zero_point", np.array(_UNSIGNED_ZERO, np.uint8))
        sums = self._node("MatMulInteger", values, weight, zero, output=f"{output}.sums")
        if column_scales.size == 1:  # one multiplication for rows and weights
            combined = self._node("Mul", scales, self._constant(f"{output}.scale", column_scales))
            self._node("DequantizeLinear", sums, combined, axis=0, output=product)
        else:
            rows = self._node("DequantizeLinear", sums, scales, axis=0, output=f"{output}.rows")
            self._node("Mul", rows, self._constant(f"{output}.scales", column_scales), output=product)
        if bias:
            self._node("Add", product, *bias, output=output)

    def _row_bytes(self, value: str) -> tuple[str, str]:
        """Quantizes an activation, once for all products that read it."""
        if value not in self._quantized:
            axis = self._constant("last_axis", np.array([-1], np.int64))
            largest = self._node("ReduceMax", self._node("Abs", value), axis, keepdims=0)
            steps = self._node("Mul", largest, self._constant("step", np.array(1 / _LARGEST, np.float32)))
            floor = self._constant("smallest_scale", np.array(1e-30, np.float32))  # a row of zeros has no scale
            scales = self._node("Max", steps, floor, output=f"{value}.scales")
            zero = self._constant("zero_point", np.array(_UNSIGNED_ZERO, np.uint8))
            zeros = self._node("Expand", zero, self._node("Shape", scales))
            values = self._node("QuantizeLinear", value, scales, zeros, axis=0, output=f"{value}.bytes")
            self._quantized[value] = (values, scales)
        return self._quantized[value]

    def _large_matrix(self, node: NodeProto) -> Float32 | None:
        """Returns the matrix of a plain product with a constant one that is large enough to matter."""
        if node.op_type not in {"MatMul", "Gemm"} or node.attribute or node.input[1] not in self._arrays:
            return None
        weight = numpy_helper.to_array(self._arrays[node.input[1]])
        if weight.ndim != 2 or min(weight.shape) < _MIN_SIDE or weight.dtype != np.float32:  # noqa: PLR2004  # a matrix
            return None
        return weight

    def _node(self, operator: str, *inputs: str, output: str = "", **attributes: int) -> str:
        result = output or f"{operator}/{len(self._nodes)}"
        self._nodes.append(make_node(operator, inputs, result, "", attributes))
        return result

    def _constant(self, name: str, value: NDArray[np.generic]) -> str:
        unique = f"quantized/{name}"
        self._added.setdefault(unique, numpy_helper.from_array(np.ascontiguousarray(value), unique))
        return unique


def _quantized_columns(weight: Float32) -> tuple[NDArray[np.int8], Float32]:
    """Returns int8 values and their scales: one if the matrix came from int8, else one for each column."""
    step = _grid_step(weight)
    scales = np.abs(weight).max(axis=0) / _LARGEST if step is None else np.array(step)
    scales = np.maximum(scales, np.finfo(np.float32).tiny).astype(np.float32)
    return np.rint(weight / scales).astype(np.int8), scales


def _grid_step(weight: Float32) -> float | None:
    """Returns the scale of a matrix that was dequantized from int8 with a single one, or None."""
    sample = np.unique(np.abs(weight[:, :64]))
    if sample.size > _MAX_GRID_VALUES or sample.size < 3:  # noqa: PLR2004  # 0 and one step prove nothing
        return None
    largest, smallest_gap = float(sample[-1]), float(np.diff(sample).min())
    step = largest / round(largest / smallest_gap)  # the largest value carries the scale most precisely
    levels = weight / step
    error = np.abs(levels - np.rint(levels)).max()
    fits = bool(error < _GRID_ERROR and np.abs(levels).max() < _LARGEST + 0.5)
    return step if fits else None
