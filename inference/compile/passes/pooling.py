"""Moves pooling and normalization, which exporters leave to the caller, into the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from inference.compile.bert import EMBEDDING, Pooling

_CONSTANTS: dict[str, NDArray[Any]] = {
    "pooling/first": np.array(0, np.int64),
    "pooling/axis_1": np.array([1], np.int64),
    "pooling/axis_2": np.array([2], np.int64),
    "pooling/smallest": np.array(1e-12, np.float32),  # as torch.nn.functional.normalize
}


def append_pooling(model: onnx.ModelProto, pooling: Pooling) -> onnx.ModelProto:
    """Returns a copy whose output is `embedding`, shape (batch, width).

    Args:
        model: its only output has the shape (batch, length, width); it has an input `attention_mask`.
        pooling: `mean` over the tokens that the mask admits, or the state of the first token.
    """
    states = model.graph.output[0].name
    return _extended(model, _first(states) if pooling == "cls" else _mean(states))


def append_normalization(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy whose output `embedding` has length 1; normalizing twice changes nothing."""
    return _extended(model, _normalize(model.graph.output[0].name))


def _first(states: str) -> list[NodeProto]:
    return [helper.make_node("Gather", [states, "pooling/first"], [EMBEDDING], axis=1)]


def _mean(states: str) -> list[NodeProto]:
    return [
        helper.make_node("Cast", ["attention_mask"], ["pooling/mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["pooling/mask", "pooling/axis_2"], ["pooling/weights"]),
        helper.make_node("Mul", [states, "pooling/weights"], ["pooling/masked"]),
        helper.make_node("ReduceSum", ["pooling/masked", "pooling/axis_1"], ["pooling/sum"], keepdims=0),
        helper.make_node("ReduceSum", ["pooling/mask", "pooling/axis_1"], ["pooling/count"]),
        helper.make_node("Div", ["pooling/sum", "pooling/count"], [EMBEDDING]),
    ]


def _normalize(pooled: str) -> list[NodeProto]:
    return [
        helper.make_node("Mul", [pooled, pooled], ["pooling/squares"]),
        helper.make_node("ReduceSum", ["pooling/squares", "pooling/axis_1"], ["pooling/square_length"]),
        helper.make_node("Sqrt", ["pooling/square_length"], ["pooling/length"]),
        helper.make_node("Max", ["pooling/length", "pooling/smallest"], ["pooling/divisor"]),
        helper.make_node("Div", [pooled, "pooling/divisor"], [EMBEDDING]),
    ]


def _extended(model: onnx.ModelProto, nodes: list[NodeProto]) -> onnx.ModelProto:
    """Appends nodes whose last output, `embedding`, becomes the graph's only one."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph, source = result.graph, result.graph.output[0]
    if source.name == EMBEDDING:  # what was called so becomes an inner value
        _rename(graph, EMBEDDING, "pooling/input")
        for node in nodes:
            node.input[:] = ["pooling/input" if name == EMBEDDING else name for name in node.input]
    present = {tensor.name for tensor in graph.initializer}
    used = {name for node in nodes for name in node.input} - present
    graph.initializer.extend(numpy_helper.from_array(_CONSTANTS[name], name) for name in used & _CONSTANTS.keys())
    graph.node.extend(nodes)
    shape: list[str | int] = ["batch", source.type.tensor_type.shape.dim[-1].dim_value or "width"]
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info(EMBEDDING, TensorProto.FLOAT, shape))
    return result


def _rename(graph: onnx.GraphProto, old: str, new: str) -> None:
    for node in graph.node:
        node.input[:] = [new if name == old else name for name in node.input]
        node.output[:] = [new if name == old else name for name in node.output]
