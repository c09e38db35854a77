"""A small encoder as an exporter would leave it: fixed shapes, a second output, shape arithmetic, token states."""

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

WIDTH, FIXED_BATCH, FIXED_LENGTH = 4, 1, 7
TABLE = np.random.default_rng(2).normal(size=(50, WIDTH)).astype(np.float32)


def exported_encoder() -> onnx.ModelProto:
    """Looks token states up; `last_hidden_state` is read, `pooler_output` is not."""
    nodes = [
        helper.make_node("Shape", ["input_ids"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["rows"]),  # shape arithmetic that leads nowhere new
        helper.make_node("Gather", ["table", "input_ids"], ["states"]),
        helper.make_node("Add", ["one", "one"], ["two"]),  # a constant to fold
        helper.make_node("Mul", ["states", "two"], ["last_hidden_state"]),
        helper.make_node("ReduceMax", ["last_hidden_state", "axis"], ["pooler_output"], keepdims=0),
    ]
    fixed = [FIXED_BATCH, FIXED_LENGTH]
    arrays: dict[str, NDArray[np.generic]] = {
        "zero": np.array(0, np.int64),
        "one": np.array(1, np.float32),
        "axis": np.array([1], np.int64),
        "table": TABLE,
    }
    graph = helper.make_graph(
        nodes,
        "exported",
        [helper.make_tensor_value_info(name, TensorProto.INT64, fixed) for name in ("input_ids", "attention_mask")],
        [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*fixed, WIDTH]),
            helper.make_tensor_value_info("pooler_output", TensorProto.FLOAT, [FIXED_BATCH, WIDTH]),
        ],
        [numpy_helper.from_array(value, name) for name, value in arrays.items()],
        value_info=[helper.make_tensor_value_info("states", TensorProto.FLOAT, [*fixed, WIDTH])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
