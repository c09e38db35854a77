from __future__ import annotations

from typing import Any

import pytest

from inference.compile.config import DEBERTA_V3_XSMALL, BertConfig, DebertaConfig
from inference.compile.errors import UnsupportedModelError

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


def test_deberta_v3_is_read_from_its_config() -> None:
    assert DebertaConfig.from_huggingface(XSMALL) == DEBERTA_V3_XSMALL


def test_a_list_of_position_types_means_the_same_as_a_string() -> None:
    assert DebertaConfig.from_huggingface(XSMALL | {"pos_att_type": ["c2p", "p2c"]}) == DEBERTA_V3_XSMALL


def test_without_relative_attention_the_score_has_one_term() -> None:
    assert DebertaConfig.from_huggingface(XSMALL | {"relative_attention": False}).score_terms == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("model_type", "deberta"), ("conv_kernel_size", 3), ("hidden_act", "swish"), ("pos_att_type", "c2p|p2p")],
)
def test_an_option_without_a_writer_is_refused_by_name(option: str, value: object) -> None:
    with pytest.raises(UnsupportedModelError, match=str(value).split("|")[-1]):
        DebertaConfig.from_huggingface(XSMALL | {option: value})


def test_a_bert_with_relative_positions_is_refused() -> None:
    config = {"model_type": "bert", "position_embedding_type": "relative_key"}
    with pytest.raises(UnsupportedModelError, match="relative_key"):
        BertConfig.from_huggingface(config)
