from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import quantize_dynamic

from inference.compile.bert import build_bert_embedder
from inference.compile.deberta import build_deberta_encoder
from inference.compile.graph import GraphBuilder
from inference.compile.quantize import choose_precision, quantize_rows
from inference.models.session import choose_device, is_int8_fast
from tests.unit.inference.compile.graph_runner import GraphRunner, neighbour_delta, random_items
from tests.unit.inference.compile.random_weights import BERT, DEBERTA, VOCABULARY, bert_weights, deberta_weights

ITEMS = random_items(24, longest=12, vocabulary=VOCABULARY)


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    config = replace(BERT, hidden_size=48)
    return build_bert_embedder(bert_weights(config), config)


def test_auto_is_int8_where_a_cpu_is_fast_at_it_and_a_choice_is_kept() -> None:
    is_better = is_int8_fast() and choose_device("auto") == "cpu"
    assert choose_precision("auto") == ("int8_rows" if is_better else "fp32")
    assert choose_precision("fp32") == "fp32"
    assert choose_precision("int8_rows") == "int8_rows"


@pytest.mark.skipif(not is_int8_fast(), reason="without VNNI the sums of ONNX Runtime's 8-bit kernels saturate")
def test_eight_bits_give_nearly_the_same_embedding(model: onnx.ModelProto) -> None:
    found, expected = (GraphRunner(graph).run_alone(ITEMS) for graph in (quantize_rows(model), model))
    assert (found * expected).sum(axis=1).min() > 0.97  # cosines: both have norm 1
    assert np.abs(found - expected).max() > 0  # or nothing was quantized


def test_every_large_matrix_is_replaced_and_none_is_kept(model: onnx.ModelProto) -> None:
    quantized = quantize_rows(model)
    matrices = [
        tensor.name for tensor in quantized.graph.initializer if len(tensor.dims) == 2 and tensor.data_type == 1
    ]
    assert [name for name in matrices if name.startswith("layer.")] == []
    assert {"MatMul", "Gemm"} & {node.op_type for node in quantized.graph.node} == set()


def test_a_scale_for_each_row_leaves_neighbours_alone_and_one_for_the_batch_does_not(
    model: onnx.ModelProto, tmp_path: Path
) -> None:
    equally_long = [ids[:6] for ids in random_items(60, longest=30, vocabulary=VOCABULARY) if len(ids) >= 6]
    assert neighbour_delta(GraphRunner(quantize_rows(model)), equally_long) < 1e-6
    default_type = {"DefaultTensorType": onnx.TensorProto.FLOAT}
    quantize_dynamic(model, tmp_path / "model.onnx", op_types_to_quantize=["MatMul"], extra_options=default_type)
    assert neighbour_delta(GraphRunner(onnx.load(tmp_path / "model.onnx")), equally_long) > 1e-4


def test_padding_does_not_flip_a_rounding_of_deberta() -> None:
    """A difference in the last bit before a rounding would be a thousandth behind it."""
    config = replace(DEBERTA, hidden_size=192)
    weights = deberta_weights(config)
    for name in weights:
        if "query_proj" in name:
            weights[name] *= np.float32(0.05)  # attention that spreads, or nothing ever moves
    items = random_items(200, longest=24, vocabulary=VOCABULARY)
    quantized = GraphRunner(quantize_rows(build_deberta_encoder(weights, config)))
    assert neighbour_delta(quantized, items) == 0.0


def test_a_matrix_that_came_from_int8_is_stored_without_loss() -> None:
    step, random = np.float32(0.013), np.random.default_rng(0)
    weight = (random.integers(-127, 128, size=(32, 40)) * step).astype(np.float32)
    stored = {tensor.name: tensor for tensor in quantize_rows(_product(weight)).graph.initializer}
    integers = onnx.numpy_helper.to_array(stored["quantized/product.int8"])
    scale = onnx.numpy_helper.to_array(stored["quantized/product.scale"])
    np.testing.assert_allclose(integers * scale, weight, rtol=1e-6)


def _product(weight: np.typing.NDArray[np.float32]) -> onnx.ModelProto:
    """A graph that multiplies the ids themselves, as floats."""
    graph = GraphBuilder("product")
    rows = graph.node("Cast", graph.input("input_ids", ["batch", weight.shape[0]]), to=onnx.TensorProto.FLOAT)
    product = graph.node("MatMul", rows, graph.weight("weight", weight), name="product")
    return graph.build(product, "logits", ["batch", weight.shape[1]])
