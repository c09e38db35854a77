"""Cleans a graph that an exporter made, one pass each: one output, free dimensions, folded constants, pooling.

An exporter may fix the batch and length dimensions, and leaves pooling and normalization to the caller. Constants are
folded, and what does nothing is removed, by ONNX Runtime's own basic optimizations.
"""

import tempfile
from copy import deepcopy
from pathlib import Path

import numpy as np
import onnx.compose
from onnx import TensorProto

from inference.compile.bert import EMBEDDING, Pooling
from inference.compile.deberta import LOGITS
from inference.compile.errors import CompileError, UnsupportedModelError, first_line
from inference.compile.graph import GraphBuilder
from inference.models.session import ort

_POOLED_OUTPUTS = ("sentence_embedding", EMBEDDING)  # names under which exporters pool in the graph already


def clean_graph(exported: onnx.ModelProto, pooling: Pooling | None) -> onnx.ModelProto:
    """Returns a copy whose output is `logits`, or `embedding`, pooled and of length 1, where a pooling is given.

    Raises:
        UnsupportedModelError: it lacks the output of its task.
        CompileError: ONNX Runtime refuses it.
    """
    if pooling is None:
        model = _keep_output(exported, LOGITS)
    else:
        names = [output.name for output in exported.graph.output]
        pooled = next((name for name in _POOLED_OUTPUTS if name in names), None)
        model = _append_pooling(_keep_output(exported, pooled or names[0]), None if pooled else pooling)
    return _fold_constants(_free_dimensions(model))


def _free_dimensions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy whose inputs have the shape (batch, length), both free, and that states no other shape.

    Stated shapes are only hints, but a wrong hint is an error at run time. A graph that computes its shapes works at
    any length afterwards. One that has a length baked into a Reshape does not: the comparison finds it.
    """
    result = deepcopy(model)
    del result.graph.value_info[:]
    for graph_input in result.graph.input:
        dims = graph_input.type.tensor_type.shape.dim
        for dim, name in zip(dims, ("batch", "length"), strict=False):
            dim.Clear()
            dim.dim_param = name
    for output in result.graph.output:
        output.type.tensor_type.ClearField("shape")
    return result


def _fold_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns an equivalent graph with shape arithmetic on constants, identities and dead branches gone.

    The basic level rewrites within standard ONNX, so the result runs on any machine. The session that serves the graph
    applies the higher levels, which may pick layouts for its machine.
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
            raise CompileError(f"ONNX Runtime refuses the graph: {first_line(error)}") from error
        return onnx.load(folded)


def _append_pooling(model: onnx.ModelProto, pooling: Pooling | None) -> onnx.ModelProto:
    """Returns a copy whose only output is `embedding`, shape (batch, width), of length 1.

    Args:
        model: its only output has the shape (batch, length, width), and it has an input `attention_mask`.
        pooling: `mean` over the tokens that the mask admits, or the state of the first token; None: the output is
            pooled already, (batch, width).
    """
    result = onnx.compose.add_prefix(model, "exported/", rename_inputs=False)  # so that all other names are free
    graph, source = GraphBuilder("pooling"), result.graph.output[0]
    pooled = source.name
    if pooling == "cls":
        pooled = graph.node("Squeeze", graph.node("Gather", pooled, graph.ints(0), axis=1), graph.ints(1))
    elif pooling == "mean":
        mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        masked = graph.node("Mul", pooled, graph.node("Unsqueeze", mask, graph.ints(2)))
        # One token after another: a sum of ONNX Runtime has another order for a lone row, and for a longer batch.
        sums = graph.node("CumSum", masked, graph.ints(1))
        summed = graph.node("Squeeze", graph.node("Gather", sums, graph.ints(-1), axis=1), graph.ints(1))
        pooled = graph.node("Div", summed, graph.node("ReduceSum", mask, graph.ints(1)))
    squared = graph.node("ReduceSum", graph.node("Mul", pooled, pooled), graph.ints(1))
    floor = graph.constant(np.array(1e-12, np.float32))  # as torch.nn.functional.normalize
    unit = graph.node("Div", pooled, graph.node("Max", graph.node("Sqrt", squared), floor))
    graph.output(unit, EMBEDDING, ["batch", source.type.tensor_type.shape.dim[-1].dim_value or "width"])
    graph.append_to(result)
    return result


def _keep_output(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Returns a copy with the output `name` alone. What only others read stays: a pooler's product costs nothing."""
    outputs = {output.name: output for output in model.graph.output}
    if name not in outputs:
        raise UnsupportedModelError(f"the graph has no output {name!r}, only {', '.join(sorted(outputs))}")
    result = deepcopy(model)
    del result.graph.output[:]
    result.graph.output.append(outputs[name])
    return result
