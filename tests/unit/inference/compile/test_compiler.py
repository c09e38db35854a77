from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inference.compile.compiler import Checkpoint, compile_embedder, compile_nli
from inference.compile.errors import UnsupportedModelError, WeightsError
from inference.compile.head import DenseLayer
from tests.unit.inference.compile.exported_graph import TABLE, exported_encoder
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import (
    BERT,
    DEBERTA,
    bert_weights,
    classifier_weights,
    deberta_weights,
)
from tests.unit.inference.compile.reference import bert_embedding, deberta_first_token

ITEMS = random_items(4, longest=10, vocabulary=50)
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
UNKNOWN_CONFIG = {"model_type": "unheard-of"}


def test_a_bert_checkpoint_is_written_from_its_weights() -> None:
    compiled = compile_embedder(Checkpoint(BERT_CONFIG, bert_weights()), pooling="mean", normalize=True)
    expected = [bert_embedding(bert_weights(), BERT, ids) for ids in ITEMS]
    np.testing.assert_allclose(GraphRunner(compiled.model).run(ITEMS), expected, atol=2e-6)
    assert (compiled.writer, compiled.width, compiled.inputs) == (
        "bert",
        BERT.hidden_size,
        ("input_ids", "attention_mask"),
    )


def test_a_deberta_classifier_keeps_its_own_head() -> None:
    compiled = compile_nli(Checkpoint(DEBERTA_CONFIG, classifier_weights(labels=3)))
    assert (compiled.writer, compiled.width) == ("deberta-v2", 3)
    assert GraphRunner(compiled.model).run(ITEMS).shape == (len(ITEMS), 3)


def test_a_deberta_encoder_takes_a_head_of_ours() -> None:
    head = (DenseLayer(np.eye(DEBERTA.hidden_size, 3, dtype=np.float32), np.zeros(3, np.float32)),)
    compiled = compile_nli(Checkpoint(DEBERTA_CONFIG, deberta_weights()), head=head)
    expected = [deberta_first_token(deberta_weights(), DEBERTA, ids)[:3] for ids in ITEMS]
    np.testing.assert_allclose(GraphRunner(compiled.model).run(ITEMS), expected, atol=2e-5)


def test_an_encoder_without_a_head_is_refused() -> None:
    with pytest.raises(WeightsError, match="give it a head"):
        compile_nli(Checkpoint(DEBERTA_CONFIG, deberta_weights()))


def test_an_unknown_architecture_keeps_its_exported_graph_cleaned_and_pooled() -> None:
    checkpoint = Checkpoint(UNKNOWN_CONFIG, {}, exported_encoder())
    compiled = compile_embedder(checkpoint, pooling="mean", normalize=True)
    means = np.array([TABLE[ids].mean(axis=0) for ids in ITEMS])
    expected = means / np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(GraphRunner(compiled.model).run(ITEMS), expected, atol=1e-6)
    assert compiled.writer == "exported"
    assert "unheard-of" in compiled.reason


def test_an_unknown_architecture_without_a_graph_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedModelError, match="unheard-of"):
        compile_embedder(Checkpoint(UNKNOWN_CONFIG, bert_weights()), pooling="mean", normalize=True)


def test_an_exported_graph_without_logits_is_no_classifier() -> None:
    with pytest.raises(UnsupportedModelError, match="no output 'logits'"):
        compile_nli(Checkpoint(UNKNOWN_CONFIG, {}, exported_encoder()))
