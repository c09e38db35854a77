"""Rules of exact sums of bytes."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from inference.errors import InexactArithmeticError
from inference.models import int8
from inference.models.directory import read_model_directory
from inference.models.native import ort
from tests.unit.inference.tiny_models import NLI_FIELDS, write_model_directory


def _product(value: int) -> bytes:
    """The graph of the probe, as onnx writes it; every number of its matrix is `value`."""
    matrix = helper.make_tensor("b", TensorProto.INT8, [4, 16], bytes([value]) * 64, raw=True)
    left = helper.make_tensor_value_info("a", TensorProto.UINT8, ["m", 4])
    sums = helper.make_tensor_value_info("y", TensorProto.INT32, ["m", 16])
    graph = helper.make_graph([helper.make_node("MatMulInteger", ["a", "b"], ["y"])], "g", [left], [sums], [matrix])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def test_sums_that_are_not_those_expected_are_noticed_by_a_probe_that_is_what_it_says() -> None:
    assert _product(127) == int8._PRODUCT  # noqa: SLF001  (the bytes themselves)
    """As on a CPU that saturates: there 2 x 255 x 127 is 32,767."""
    assert int8.is_sum_exact(ort.SessionOptions(), _product(127)) == int8.is_int8_fast()
    assert not int8.is_sum_exact(ort.SessionOptions(), _product(64))
    assert int8.is_int8_exact()


@pytest.mark.parametrize("precision", ["int8_rows", "int8_rows, word embeddings stored in int8"])
def test_a_model_in_int8_is_refused_where_sums_are_not_exact(tmp_path: Path, precision: str) -> None:
    write_model_directory(tmp_path / "nli", fields={**NLI_FIELDS, "precision": precision})
    directory = read_model_directory(tmp_path / "nli")
    int8.check_arithmetic(directory, lambda: True)
    with pytest.raises(InexactArithmeticError, match="precis models install --precision fp32"):
        int8.check_arithmetic(directory, lambda: False)


def test_a_model_in_fp32_runs_anywhere(tmp_path: Path) -> None:
    write_model_directory(tmp_path / "nli", fields={**NLI_FIELDS, "precision": "fp32, word embeddings stored in int8"})
    int8.check_arithmetic(read_model_directory(tmp_path / "nli"), lambda: False)
