from typing import Any

import numpy as np
import pytest

from inference.compile.compiler import clean_graph, write_graph
from inference.compile.errors import UnsupportedModelError, WeightsError
from inference.compile.passes import append_normalization, append_pooling, fold_constants, free_dimensions, keep_output
from tests.unit.inference.compile.exported_graph import FIXED_LENGTH, TABLE, exported_encoder
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import (
    BERT,
    DEBERTA,
    bert_weights,
    classifier_weights,
    deberta_weights,
)
from tests.unit.inference.compile.reference import bert_embedding

ITEMS = random_items(5, longest=2 * FIXED_LENGTH, vocabulary=len(TABLE))
BERT_CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "hidden_size": BERT.hidden_size,
    "num_hidden_layers": BERT.layer_count,
    "num_attention_heads": BERT.head_count,
    "layer_norm_eps": BERT.layer_norm_eps,
}
DEBERTA_CONFIG: dict[str, Any] = {
    "model_type": "deberta-v2",
    "hidden_size": DEBERTA.hidden_size,
    "num_hidden_layers": DEBERTA.layer_count,
    "num_attention_heads": DEBERTA.head_count,
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
    compiled = write_graph(BERT_CONFIG, bert_weights(), "mean")
    expected = [bert_embedding(bert_weights(), BERT, ids) for ids in ITEMS]
    np.testing.assert_allclose(GraphRunner(compiled.model).run(ITEMS), expected, atol=2e-6)
    assert (compiled.writer, compiled.inputs) == ("bert", ("input_ids", "attention_mask"))


def test_a_deberta_classifier_keeps_its_own_head() -> None:
    compiled = write_graph(DEBERTA_CONFIG, classifier_weights(labels=3), None)
    assert compiled.writer == "deberta-v2"
    assert GraphRunner(compiled.model).run(ITEMS).shape == (len(ITEMS), 3)


def test_an_encoder_without_a_head_is_refused() -> None:
    with pytest.raises(WeightsError, match="give it a head"):
        write_graph(DEBERTA_CONFIG, deberta_weights(), None)


def test_an_exported_graph_is_kept_cleaned_and_pooled() -> None:
    compiled = clean_graph(exported_encoder(), "mean")
    means = np.array([TABLE[ids].mean(axis=0) for ids in ITEMS])
    expected = means / np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(GraphRunner(compiled.model).run(ITEMS), expected, atol=1e-6)
    assert compiled.writer == "exported"


def test_an_unknown_architecture_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedModelError, match="unheard-of"):
        write_graph({"model_type": "unheard-of"}, bert_weights(), "mean")


def test_an_exported_graph_without_logits_is_no_classifier() -> None:
    with pytest.raises(UnsupportedModelError, match="no output 'logits'"):
        clean_graph(exported_encoder(), None)


def test_a_graph_of_fixed_shape_takes_any_batch_and_length() -> None:
    freed = keep_output(free_dimensions(exported_encoder()), "last_hidden_state")
    states = GraphRunner(freed).run(ITEMS)
    for ids, found in zip(ITEMS, states, strict=True):
        np.testing.assert_allclose(found[: len(ids)], 2 * TABLE[ids])


def test_an_output_that_is_not_kept_takes_its_nodes_along() -> None:
    kept = keep_output(exported_encoder(), "last_hidden_state")
    assert [output.name for output in kept.graph.output] == ["last_hidden_state"]
    assert {node.op_type for node in kept.graph.node} == {"Gather", "Add", "Mul"}
    assert {tensor.name for tensor in kept.graph.initializer} == {"one", "table"}


def test_a_kept_output_can_be_renamed() -> None:
    kept = keep_output(exported_encoder(), "pooler_output", renamed="embedding")
    ids = [ITEMS[0][:1] * FIXED_LENGTH]
    np.testing.assert_allclose(GraphRunner(kept).run(ids)[0], 2 * TABLE[ids[0][0]])
    assert [output.name for output in kept.graph.output] == ["embedding"]


def test_an_output_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnsupportedModelError, match="last_hidden_state, pooler_output"):
        keep_output(exported_encoder(), "logits")


def test_constants_are_folded_and_results_stay() -> None:
    model = keep_output(free_dimensions(exported_encoder()), "last_hidden_state")
    folded = fold_constants(model)
    assert [node.op_type for node in folded.graph.node] == ["Gather", "Mul"]
    np.testing.assert_array_equal(GraphRunner(folded).run(ITEMS), GraphRunner(model).run(ITEMS))


def test_the_mean_is_taken_over_tokens_and_not_over_padding() -> None:
    pooled = append_pooling(keep_output(free_dimensions(exported_encoder()), "last_hidden_state"), "mean")
    expected = [2 * TABLE[ids].mean(axis=0) for ids in ITEMS]
    np.testing.assert_allclose(GraphRunner(pooled).run(ITEMS), expected, atol=1e-6)


def test_the_first_token_can_be_the_embedding() -> None:
    pooled = append_pooling(keep_output(free_dimensions(exported_encoder()), "last_hidden_state"), "cls")
    np.testing.assert_allclose(GraphRunner(pooled).run(ITEMS), 2 * TABLE[[ids[0] for ids in ITEMS]])


def test_normalizing_gives_length_one_and_twice_is_once() -> None:
    pooled = append_pooling(keep_output(free_dimensions(exported_encoder()), "last_hidden_state"), "mean")
    once = append_normalization(pooled)
    found = GraphRunner(once).run(ITEMS)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-6)
    assert [output.name for output in once.graph.output] == ["embedding"]
    assert found.shape == (len(ITEMS), TABLE.shape[1])
