"""Keeps one output of a graph and drops everything that it does not need."""

from __future__ import annotations

import onnx
from onnx import NodeProto

from inference.compile.errors import UnsupportedModelError


def keep_output(model: onnx.ModelProto, name: str, *, renamed: str | None = None) -> onnx.ModelProto:
    """Returns a copy that computes only the output `name`, called `renamed` if given.

    Raises:
        UnsupportedModelError: the graph has no such output.
    """
    outputs = {output.name: output for output in model.graph.output}
    if name not in outputs:
        raise UnsupportedModelError(f"the graph has no output {name!r}, only {', '.join(sorted(outputs))}")
    result = onnx.ModelProto()
    result.CopyFrom(model)
    _keep(result.graph, name)
    del result.graph.output[:]
    result.graph.output.append(outputs[name])
    if renamed not in {None, name}:
        result.graph.node.append(onnx.helper.make_node("Identity", [name], [renamed], name=renamed))
        result.graph.output[0].name = str(renamed)
    return result


def _keep(graph: onnx.GraphProto, name: str) -> None:
    """Walks from the output backwards; nodes are in topological order. Inputs stay: callers feed them all."""
    needed, kept = {name}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= _reads(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    initializers = [tensor for tensor in graph.initializer if tensor.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(initializers)


def _reads(node: NodeProto) -> set[str]:
    """Returns what a node reads, also inside the branches and bodies that it carries."""
    names = set(node.input) - {""}
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                names |= _reads(inner)
            names |= {value.name for value in graph.output}
    return names
