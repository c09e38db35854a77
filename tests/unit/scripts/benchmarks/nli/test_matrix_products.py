from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from scripts.benchmarks.nli.matrix_products import MatrixProducts, Operand


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


def test_operands_have_the_shapes_of_the_whole_graph_and_can_be_multiplied(tmp_path: Path) -> None:
    products = MatrixProducts(write_graph(tmp_path / "model.onnx"))
    inputs = products.inputs_for({"x": np.ones((3, 2, 4), np.float32)})
    assert sorted(tuple(value.shape()) for value in inputs.values()) == [(3, 2, 4), (3, 2, 6), (3, 6, 2)]
    products.run(inputs)


def test_a_product_of_bytes_stays_one(tmp_path: Path) -> None:
    path = write_graph(tmp_path / "model.onnx")
    model = onnx.load(path)
    weight = numpy_helper.from_array(np.ones((4, 6), np.int8), "weight")
    model.graph.initializer[0].CopyFrom(weight)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    model.graph.node[0].op_type = "MatMulInteger"
    model.graph.node[0].output[0] = "sums"
    model.graph.node.insert(1, helper.make_node("Cast", ["sums"], ["hidden"], to=TensorProto.FLOAT))
    onnx.save(model, path)
    products, feed = MatrixProducts(path), {"x": np.ones((3, 2, 4), np.uint8)}
    types = {value.data_type() for value in products.inputs_for(feed).values()}
    assert types == {"tensor(uint8)", "tensor(float)"}
    products.run(products.inputs_for(feed))


def test_a_graph_that_hides_products_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="MultiHeadAttention"):
        MatrixProducts(write_graph(tmp_path / "model.onnx", op_type="MultiHeadAttention"))


def test_a_leading_dimension_moves_behind_the_batch() -> None:
    operand = Operand("q", is_weight=False, is_transposed=True, is_batch_first=False, is_bytes=False)
    assert operand.plain_shape((7, 2, 3, 5)) == (2, 3, 5, 7)
