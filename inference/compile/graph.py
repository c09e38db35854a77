"""Writes ONNX graphs node by node, with readable names and no repeated constants."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 20  # the first with Gelu as one operator
IR_VERSION = 9  # what onnxruntime 1.17 and later read
MICROSOFT = "com.microsoft"  # domain of the operators that only ONNX Runtime has


class GraphBuilder:
    """Collects nodes and constants, then turns them into a checked model.

    Every method that makes a value returns its name, to be used as an input of the next node.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}
        self._small_constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._counts: dict[str, int] = {}

    def input(self, name: str, dims: Sequence[str | int]) -> str:
        """Declares an int64 input of the graph; a string dimension is free."""
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, list(dims)))
        return name

    def weight(self, name: str, value: NDArray[Any]) -> str:
        """Adds a constant under its own name, stored contiguously."""
        self._initializers[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def constant(self, value: NDArray[Any]) -> str:
        """Adds a small nameless constant (axes, shapes, scalars), once per value."""
        key = (str(value.dtype), value.shape, value.tobytes())
        if key not in self._small_constants:
            self._small_constants[key] = self.weight(self._unique("constant"), value)
        return self._small_constants[key]

    def ints(self, *values: int) -> str:
        """Adds an int64 vector, for shapes, axes and slice bounds."""
        return self.constant(np.array(values, dtype=np.int64))

    def scalar(self, value: int) -> str:
        """Adds an int64 scalar."""
        return self.constant(np.array(value, dtype=np.int64))

    def node(self, operator: str, *inputs: str, name: str = "", domain: str = "", **attributes: object) -> str:
        """Adds a node with one output and returns that output's name."""
        result = self._unique(name or operator)
        self._nodes.append(make_node(operator, inputs, result, domain, attributes))
        return result

    def output(self, value: str, output: str, dims: Sequence[str | int]) -> None:
        """Makes `value` a (float32) output, called `output`."""
        self._nodes.append(helper.make_node("Identity", [value], [output], name=output))
        self._outputs.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, list(dims)))

    def append_to(self, model: onnx.ModelProto) -> None:
        """Adds everything to another model, whose outputs become these."""
        model.graph.node.extend(self._nodes)
        model.graph.initializer.extend(self._initializers.values())
        del model.graph.output[:]
        model.graph.output.extend(self._outputs)

    def build(self, value: str, output: str, dims: Sequence[str | int]) -> onnx.ModelProto:
        """Makes `value` the last output, see `output`, and returns the model."""
        self.output(value, output, dims)
        constants = list(self._initializers.values())
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="precis")
        onnx.checker.check_model(model)
        return model

    def _unique(self, name: str) -> str:
        count = self._counts.get(name, 0)
        self._counts[name] = count + 1
        return name if count == 0 else f"{name}:{count}"


def make_node(
    operator: str, inputs: Sequence[str], output: str, domain: str, attributes: Mapping[str, object]
) -> onnx.NodeProto:
    """Returns a node that is called like its output; attributes keep their order."""
    node = helper.make_node(operator, inputs, [output], name=output, domain=domain)
    node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    return node
