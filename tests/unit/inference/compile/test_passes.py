from __future__ import annotations

import numpy as np
import pytest

from inference.compile.errors import UnsupportedModelError
from inference.compile.passes import append_normalization, append_pooling, fold_constants, free_dimensions, keep_output
from tests.unit.inference.compile.exported_graph import FIXED_LENGTH, TABLE, exported_encoder
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items

ITEMS = random_items(5, longest=2 * FIXED_LENGTH, vocabulary=len(TABLE))


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
