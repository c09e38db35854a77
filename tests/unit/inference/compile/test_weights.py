from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

from inference.compile.errors import WeightsError
from inference.compile.weights import QuantizedTable, dequantize_onnx, encoder_scope, load_safetensors

WORDS = "bert.embeddings.word_embeddings.weight"
KEY = "bert.encoder.layer.0.attention.self.key"


def test_half_precision_arrays_become_float32(tmp_path: Path) -> None:
    values = np.array([1.5, -0.25, 3.0], np.float32)
    save_file({"half": values.astype(np.float16), "position_ids": np.arange(3)}, tmp_path / "model.safetensors")
    weights = load_safetensors(tmp_path / "model.safetensors")
    assert set(weights) == {"half"}  # integers are no weights
    np.testing.assert_array_equal(weights["half"], values)


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"model\.safetensors"):
        load_safetensors(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").write_bytes(b"no header")
    with pytest.raises(WeightsError, match=r"model\.safetensors"):
        load_safetensors(tmp_path / "model.safetensors")


def test_matrices_of_a_dynamically_quantized_graph_get_their_module_names_back(tmp_path: Path) -> None:
    integers = np.array([[-127, 4], [0, 127], [5, -6]], np.int8)
    weights = dequantize_onnx(_write(tmp_path, _arrays(integers)))
    matrix = weights[f"{KEY}.weight"]
    assert isinstance(matrix, np.ndarray)
    np.testing.assert_array_equal(matrix, (integers * np.float32(0.5)).T)  # (outputs, inputs), as in a checkpoint
    assert f"{KEY}.bias" in weights


def test_a_float_original_beside_the_int8_matrix_wins(tmp_path: Path) -> None:
    original = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    arrays = _arrays(np.ones((3, 2), np.int8)) | {"onnx::MatMul_7": original}
    matrix = dequantize_onnx(_write(tmp_path, arrays))[f"{KEY}.weight"]
    np.testing.assert_array_equal(np.asarray(matrix), original.T)


def test_the_word_table_stays_in_bytes(tmp_path: Path) -> None:
    weights = dequantize_onnx(_write(tmp_path, _arrays(np.ones((3, 2), np.int8))))
    table = encoder_scope(weights).table("embeddings.word_embeddings.weight")
    assert isinstance(table, QuantizedTable)
    np.testing.assert_allclose(table.dequantize(), [[-1.0, 0.0, 1.5]], rtol=1e-6)


def test_a_graph_without_int8_matrices_and_a_file_that_is_no_graph_are_refused(tmp_path: Path) -> None:
    arrays = {name: value for name, value in _arrays(np.ones((3, 2), np.int8)).items() if "MatMul" not in name}
    path = _write(tmp_path, arrays)
    with pytest.raises(WeightsError, match="no int8 matrix"):
        dequantize_onnx(path)
    path.write_bytes(b"not a protobuf message")
    with pytest.raises(WeightsError, match=r"model\.onnx"):
        dequantize_onnx(path)


def _arrays(integers: NDArray[np.int8]) -> dict[str, NDArray[np.generic]]:
    """Initializers with the names that `quantize_dynamic` gives them."""
    return {
        "onnx::MatMul_7_quantized": integers,
        "onnx::MatMul_7_scale": np.array(0.5, np.float32),
        "onnx::MatMul_7_zero_point": np.array(0, np.int8),
        f"{KEY}.bias": np.zeros(2, np.float32),
        f"{WORDS}_quantized": np.array([[90, 100, 115]], np.uint8),
        f"{WORDS}_scale": np.array(0.1, np.float32),
        f"{WORDS}_zero_point": np.array(100, np.uint8),
    }


def _write(folder: Path, arrays: dict[str, NDArray[np.generic]]) -> Path:
    """Writes a graph whose one product reads the int8 matrix twice, the second time through an alias."""
    module = "/" + KEY.replace(".", "/")
    stored = "onnx::MatMul_7_quantized"
    nodes = [
        helper.make_node("Identity", [stored], ["alias"]),
        helper.make_node("MatMulInteger", ["rows", "alias"], ["sums_1"], name=f"{module}_1/MatMul_quant"),
        helper.make_node("MatMulInteger", ["rows", stored], ["sums"], name=f"{module}/MatMul_quant"),
    ]
    graph = helper.make_graph(
        nodes,
        "quantized",
        [helper.make_tensor_value_info("rows", TensorProto.UINT8, ["n", 3])],
        [helper.make_tensor_value_info("sums", TensorProto.INT32, ["n", 2])],
        [numpy_helper.from_array(value, name) for name, value in arrays.items()],
    )
    onnx.save(helper.make_model(graph), folder / "model.onnx")
    return folder / "model.onnx"
