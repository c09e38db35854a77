"""Rewrites a graph that an exporter made, one pass each: free dimensions, folded constants, pooling, unused nodes.

An exporter may fix the batch and length dimensions, and leaves pooling and normalization to the caller. Constants are
folded, and what does nothing is removed, by ONNX Runtime's own basic optimizations.
"""

from __future__ import annotations

import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from inference.compile.bert import EMBEDDING, Pooling
from inference.compile.errors import CompileError, UnsupportedModelError
from inference.models.session import ort

_NAMES = ("batch", "length")


def free_dimensions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy whose inputs have the shape (batch, length), both free, and that states no inner shape.

    Stated shapes are only hints, but a wrong hint is an error at run time. A graph that computes its shapes works at
    any length afterwards; one that has a length baked into a Reshape does not, and `verify` finds that out.
    """
    result = deepcopy(model)
    del result.graph.value_info[:]
    for graph_input in result.graph.input:
        dims = graph_input.type.tensor_type.shape.dim
        for dim, name in zip(dims, _NAMES, strict=False):
            dim.Clear()
            dim.dim_param = name
    for output in result.graph.output:
        for position, dim in enumerate(output.type.tensor_type.shape.dim):
            if position == 0:
                dim.Clear()
                dim.dim_param = _NAMES[0]
            elif dim.dim_param or position + 1 < len(output.type.tensor_type.shape.dim):
                dim.Clear()  # lengths; the last dimension is a width and stays
    return result


def fold_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns an equivalent graph with shape arithmetic on constants, identities and dead branches gone.

    The basic level rewrites within standard ONNX, so the result runs on any machine; the higher levels, which may
    pick layouts for this one, are left to the session that serves the graph.

    Raises:
        CompileError: ONNX Runtime refuses the graph.
    """
    with tempfile.TemporaryDirectory(prefix="precis-") as folder:
        folded = Path(folder) / "folded.onnx"
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        options.log_severity_level = 3
        try:
            ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library raises a dozen types without a common base
            raise CompileError(f"ONNX Runtime refuses the graph: {str(error).splitlines()[0]}") from error
        return onnx.load(folded)


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
    first = [helper.make_node("Gather", [states, "pooling/first"], [EMBEDDING], axis=1)]
    return _extended(model, first if pooling == "cls" else _mean(states))


def append_normalization(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy whose output `embedding` has length 1; normalizing twice changes nothing."""
    pooled = model.graph.output[0].name
    nodes = [
        helper.make_node("Mul", [pooled, pooled], ["pooling/squares"]),
        helper.make_node("ReduceSum", ["pooling/squares", "pooling/axis_1"], ["pooling/square_length"]),
        helper.make_node("Sqrt", ["pooling/square_length"], ["pooling/length"]),
        helper.make_node("Max", ["pooling/length", "pooling/smallest"], ["pooling/divisor"]),
        helper.make_node("Div", [pooled, "pooling/divisor"], [EMBEDDING]),
    ]
    return _extended(model, nodes)


def _mean(states: str) -> list[NodeProto]:
    return [
        helper.make_node("Cast", ["attention_mask"], ["pooling/mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["pooling/mask", "pooling/axis_2"], ["pooling/weights"]),
        helper.make_node("Mul", [states, "pooling/weights"], ["pooling/masked"]),
        helper.make_node("ReduceSum", ["pooling/masked", "pooling/axis_1"], ["pooling/sum"], keepdims=0),
        helper.make_node("ReduceSum", ["pooling/mask", "pooling/axis_1"], ["pooling/count"]),
        helper.make_node("Div", ["pooling/sum", "pooling/count"], [EMBEDDING]),
    ]


def _extended(model: onnx.ModelProto, nodes: list[NodeProto]) -> onnx.ModelProto:
    """Appends nodes whose last output, `embedding`, becomes the graph's only one."""
    result = deepcopy(model)
    graph, source = result.graph, result.graph.output[0]
    if source.name == EMBEDDING:  # what was called so becomes an inner value
        for node in graph.node:
            node.output[:] = ["pooling/input" if name == EMBEDDING else name for name in node.output]
        for node in (*graph.node, *nodes):
            node.input[:] = ["pooling/input" if name == EMBEDDING else name for name in node.input]
    used = {name for node in nodes for name in node.input} - {tensor.name for tensor in graph.initializer}
    graph.initializer.extend(numpy_helper.from_array(_CONSTANTS[name], name) for name in _CONSTANTS if name in used)
    graph.node.extend(nodes)
    shape: list[str | int] = ["batch", source.type.tensor_type.shape.dim[-1].dim_value or "width"]
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info(EMBEDDING, TensorProto.FLOAT, shape))
    return result


def keep_output(model: onnx.ModelProto, name: str, *, renamed: str | None = None) -> onnx.ModelProto:
    """Returns a copy that computes only the output `name`, called `renamed` if given.

    Raises:
        UnsupportedModelError: the graph has no such output.
    """
    outputs = {output.name: output for output in model.graph.output}
    if name not in outputs:
        raise UnsupportedModelError(f"the graph has no output {name!r}, only {', '.join(sorted(outputs))}")
    result = deepcopy(model)
    graph, needed, kept = result.graph, {name}, []
    for node in reversed(graph.node):  # nodes are in topological order
        if needed & set(node.output):
            kept.append(node)
            needed |= _reads(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    initializers = [tensor for tensor in graph.initializer if tensor.name in needed]
    del graph.initializer[:], graph.output[:]  # inputs stay: callers feed them all
    graph.initializer.extend(initializers)
    graph.output.append(outputs[name])
    if renamed not in {None, name}:
        graph.node.append(onnx.helper.make_node("Identity", [name], [renamed], name=renamed))
        graph.output[0].name = str(renamed)
    return result


def _reads(node: NodeProto) -> set[str]:
    """Returns what a node reads, also inside the branches and bodies that it carries."""
    names = set(node.input) - {""}
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                names |= _reads(inner)
            names |= {value.name for value in graph.output}
    return names
