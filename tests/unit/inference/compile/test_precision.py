from __future__ import annotations

import numpy as np
import onnx
import pytest

from inference.compile.bert import build_bert_embedder
from inference.compile.deberta import build_deberta_classifier
from inference.compile.errors import CompileError, VerificationError
from inference.compile.graph import GraphBuilder
from inference.compile.head import pooled_head
from inference.compile.precision import LoadedGraph, choose_precision, compare, neighbour_delta
from tests.unit.inference.compile.encoded_items import encoded
from tests.unit.inference.compile.graph_runner import random_items
from tests.unit.inference.compile.random_weights import BERT, DEBERTA, VOCABULARY, bert_weights, classifier_weights

ROWS = encoded(random_items(30, longest=20, vocabulary=VOCABULARY))


def test_dynamic_int8_is_measured_and_never_chosen() -> None:
    choice = choose_precision(build_bert_embedder(bert_weights(), BERT), ROWS, candidates=["int8_batch"])
    by_name = {measured.precision: measured for measured in choice.measurements}
    assert choice.chosen == "fp32"
    assert not by_name["int8_batch"].is_batch_invariant
    assert by_name["fp32"].is_batch_invariant
    assert by_name["int8_batch"].items_per_s > 0


def test_the_chosen_model_is_the_measured_one() -> None:
    choice = choose_precision(build_bert_embedder(bert_weights(), BERT), ROWS)
    chosen = next(measured for measured in choice.measurements if measured.precision == choice.chosen)
    assert choice.model.ByteSize() == chosen.size_bytes


def test_a_classifier_is_judged_by_its_decisions() -> None:
    weights = classifier_weights()
    model = build_deberta_classifier(weights, DEBERTA, pooled_head(weights, "gelu"))
    choice = choose_precision(model, ROWS, candidates=["int8_weights"])
    assert all(measured.is_classifier for measured in choice.measurements)
    assert choice.measurements[0].agreement.decision_agreement == 1.0


def test_a_graph_whose_rows_meet_is_refused() -> None:
    with pytest.raises(VerificationError, match="neighbours"):
        choose_precision(_batch_mean(), ROWS, candidates=["fp32"])


def test_the_delta_of_a_graph_whose_rows_meet_is_seen() -> None:
    assert neighbour_delta(LoadedGraph(_batch_mean()), ROWS) > 1.0


def test_a_graph_that_cannot_be_loaded_is_refused_in_one_line() -> None:
    with pytest.raises(CompileError, match="refuses the graph") as caught:
        LoadedGraph(onnx.ModelProto())
    assert "\n" not in str(caught.value)


def test_agreement_counts_decisions_and_angles() -> None:
    reference = np.array([[1, 0, 0], [0, 1, 0]], np.float32)
    agreement = compare(np.array([[2, 0, 0], [1, 0, 0]], np.float32), reference)
    assert agreement.decision_agreement == 0.5
    assert agreement.max_difference == 1.0
    assert agreement.min_cosine == 0.0


def _batch_mean() -> onnx.ModelProto:
    """Answers with the mean of all ids of the batch: what no graph may do."""
    graph = GraphBuilder("mean")
    ids = graph.node("Cast", graph.input("input_ids", ["batch", "length"]), to=onnx.TensorProto.FLOAT)
    graph.input("attention_mask", ["batch", "length"])
    first = graph.node("Slice", ids, graph.ints(0), graph.ints(1), graph.ints(1))
    mean = graph.node("ReduceMean", first, graph.ints(0, 1))
    return graph.build(graph.node("Add", graph.node("Sub", first, first), mean), "logits", ["batch", 1])
