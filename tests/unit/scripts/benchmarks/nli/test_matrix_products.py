from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from scripts.benchmarks.nli.matrix_products import MatrixProducts


def write_graph(path: Path, op_type: str = "FusedMatMul") -> Path:
    """A graph over x (rows, 2, 4): one product with a weight (4, 6), one of the result with itself, transposed."""
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["hidden"]),
        helper.make_node(op_type, ["hidden", "hidden"], ["scores"], domain="com.microsoft", transB=1),
        helper.make_node("Relu", ["scores"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "two products",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 2, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 2, 2])],
        [numpy_helper.from_array(np.ones((4, 6), np.float32), "weight")],
    )
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
    return path


@pytest.mark.parametrize("rows", [1, 3])
def test_operations_are_those_of_the_formula(tmp_path: Path, rows: int) -> None:
    products = MatrixProducts(write_graph(tmp_path / "model.onnx"))
    feed = {"x": np.ones((rows, 2, 4), np.float32)}
    assert products.operations(feed) == 2 * rows * (2 * 4 * 6 + 2 * 6 * 2)


def test_a_graph_that_hides_products_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="MultiHeadAttention"):
        MatrixProducts(write_graph(tmp_path / "model.onnx", op_type="MultiHeadAttention"))
