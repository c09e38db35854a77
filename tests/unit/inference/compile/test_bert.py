from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from inference.compile.bert import Pooling, build_bert_embedder
from inference.compile.config import DEBERTA_V3_XSMALL, Activation, BertConfig, DebertaConfig
from inference.compile.errors import UnsupportedModelError
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import BERT, POSITIONS, VOCABULARY, bert_weights
from tests.unit.inference.compile.reference import bert_embedding

ITEMS = random_items(12, longest=POSITIONS, vocabulary=VOCABULARY)


@pytest.mark.parametrize(("pooling", "activation"), [("mean", "gelu"), ("cls", "gelu"), ("mean", "relu")])
def test_an_embedding_equals_the_plain_computation(pooling: Pooling, activation: Activation) -> None:
    config = replace(BERT, activation=activation)
    runner = GraphRunner(build_bert_embedder(bert_weights(), config, pooling=pooling))
    expected = [bert_embedding(bert_weights(), config, ids, pooling=pooling) for ids in ITEMS]
    np.testing.assert_allclose(runner.run(ITEMS), expected, atol=2e-6)


@pytest.mark.parametrize("padding", range(5))  # sums that go four by four move when their end does
def test_an_embedding_does_not_depend_on_padding_or_company(padding: int) -> None:
    runner = GraphRunner(build_bert_embedder(bert_weights(), BERT))
    fitting = [ids[: POSITIONS - padding] for ids in ITEMS]
    alone = np.concatenate([runner.run([ids]) for ids in fitting])
    longest = max(map(len, fitting))
    np.testing.assert_array_equal(runner.run(fitting, length=longest + padding), alone)


XSMALL: dict[str, Any] = {  # config.json of microsoft/deberta-v3-xsmall, what matters of it
    "model_type": "deberta-v2",
    "hidden_size": 384,
    "intermediate_size": 1536,
    "num_hidden_layers": 12,
    "num_attention_heads": 6,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-7,
    "max_position_embeddings": 512,
    "max_relative_positions": -1,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": "p2c|c2p",
    "relative_attention": True,
    "position_biased_input": False,
    "type_vocab_size": 0,
}


@pytest.mark.parametrize("position_types", ["p2c|c2p", ["c2p", "p2c"]])
def test_deberta_v3_is_read_from_its_config(position_types: object) -> None:
    assert DebertaConfig.from_huggingface(XSMALL | {"pos_att_type": position_types}) == DEBERTA_V3_XSMALL
    assert DebertaConfig.from_huggingface(XSMALL | {"relative_attention": False}).score_terms == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("model_type", "deberta"), ("conv_kernel_size", 3), ("hidden_act", "swish"), ("pos_att_type", "c2p|p2p")],
)
def test_an_option_without_a_writer_is_refused_by_name(option: str, value: object) -> None:
    with pytest.raises(UnsupportedModelError, match=str(value).split("|")[-1]):
        DebertaConfig.from_huggingface(XSMALL | {option: value})
    bert = {"model_type": "bert", "position_embedding_type": "relative_key"}
    with pytest.raises(UnsupportedModelError, match="relative_key"):
        BertConfig.from_huggingface(bert)
