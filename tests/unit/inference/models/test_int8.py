"""Rules of exact sums of bytes."""

from contextlib import nullcontext
from pathlib import Path

import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from inference.errors import InexactArithmeticError
from inference.models import session
from inference.models.directory import read_model_directory
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
    """As on a CPU that saturates: there 2 x 255 x 127 is 32,767."""
    assert _product(127) == session._PRODUCT  # noqa: SLF001  (the bytes themselves)
    assert session.is_sum_exact(ort.SessionOptions(), _product(127)) == session.is_int8_fast()
    assert not session.is_sum_exact(ort.SessionOptions(), _product(64))


def test_sums_are_exact_as_the_server_runs_its_models() -> None:
    assert session.is_int8_exact()


@pytest.mark.parametrize("precision", ["int8_rows", "int8_rows, word embeddings stored in int8", "fp32, in int8"])
def test_a_model_in_int8_is_refused_where_sums_are_not_exact(tmp_path: Path, precision: str) -> None:
    write_model_directory(tmp_path / "nli", fields={**NLI_FIELDS, "precision": precision})
    directory = read_model_directory(tmp_path / "nli")
    session.check_arithmetic(directory, lambda: True)
    is_refused = pytest.raises(InexactArithmeticError, match="precis models install --precision fp32")
    with nullcontext() if precision.startswith("fp32") else is_refused:
        session.check_arithmetic(directory, lambda: False)
