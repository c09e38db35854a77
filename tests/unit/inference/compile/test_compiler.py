from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from inference.compile.bert import Pooling
from inference.compile.errors import UnsupportedModelError, WeightsError
from inference.compile.export import write_graph
from inference.compile.passes import clean_graph
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import (
    BERT,
    DEBERTA,
    bert_config,
    bert_weights,
    classifier_weights,
    deberta_weights,
)
from tests.unit.inference.compile.reference import bert_embedding

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


ITEMS = random_items(5, longest=2 * FIXED_LENGTH, vocabulary=len(TABLE))
DEBERTA_CONFIG: dict[str, Any] = {
    **bert_config(),  # the two are of one size
    "model_type": "deberta-v2",
    "layer_norm_eps": DEBERTA.layer_norm_eps,
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_buckets": DEBERTA.position_buckets,
    "max_relative_positions": DEBERTA.max_relative_positions,
    "position_biased_input": False,
}


def test_a_bert_checkpoint_is_written_from_its_weights() -> None:
    written = write_graph(bert_config(), bert_weights(), "mean")
    expected = [bert_embedding(bert_weights(), BERT, ids) for ids in ITEMS]
    np.testing.assert_allclose(GraphRunner(written).run(ITEMS), expected, atol=2e-6)


def test_a_deberta_classifier_keeps_its_own_head() -> None:
    written = write_graph(DEBERTA_CONFIG, classifier_weights(labels=3), None)
    assert GraphRunner(written).run(ITEMS).shape == (len(ITEMS), 3)


def test_what_cannot_be_compiled_is_refused_by_name() -> None:
    with pytest.raises(WeightsError, match="give it a head"):
        write_graph(DEBERTA_CONFIG, deberta_weights(), None)
    with pytest.raises(UnsupportedModelError, match="unheard-of"):
        write_graph({"model_type": "unheard-of"}, bert_weights(), "mean")
    with pytest.raises(UnsupportedModelError, match="no output 'logits', only last_hidden_state, pooler_output"):
        clean_graph(exported_encoder(), None)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_an_exported_graph_is_freed_of_its_shape_folded_and_pooled(pooling: Pooling) -> None:
    cleaned = clean_graph(exported_encoder(), pooling)
    states = [TABLE[ids].mean(axis=0) if pooling == "mean" else TABLE[ids[0]] for ids in ITEMS]
    expected = states / np.linalg.norm(states, axis=1, keepdims=True)
    runner, many = GraphRunner(cleaned), [ids * 9 for ids in ITEMS]
    np.testing.assert_allclose(runner.run(ITEMS), expected, atol=1e-6)
    np.testing.assert_array_equal(runner.run(many), runner.run_alone(many))  # whatever the company
    assert [output.name for output in cleaned.graph.output] == ["embedding"]
    assert "Add" not in {node.op_type for node in cleaned.graph.node}  # of two constants


def test_what_an_exporter_has_pooled_is_kept_under_our_name() -> None:
    exported = exported_encoder()
    exported.graph.output[1].name = exported.graph.node[-1].output[0] = "sentence_embedding"
    largest = np.array([TABLE[ids[:1]].max(axis=0) for ids in ITEMS])
    expected = largest / np.linalg.norm(largest, axis=1, keepdims=True)
    cleaned = clean_graph(exported, "mean")
    np.testing.assert_allclose(GraphRunner(cleaned).run([ids[:1] for ids in ITEMS]), expected, atol=1e-6)
    assert [output.name for output in cleaned.graph.output] == ["embedding"]
