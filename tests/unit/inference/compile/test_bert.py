from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inference.compile.bert import Pooling, build_bert_embedder
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import BERT, POSITIONS, VOCABULARY, bert_weights
from tests.unit.inference.compile.reference import bert_embedding

ITEMS = random_items(12, longest=POSITIONS, vocabulary=VOCABULARY)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_an_embedding_equals_the_plain_computation(pooling: Pooling) -> None:
    runner = GraphRunner(build_bert_embedder(bert_weights(), BERT, pooling=pooling))
    expected = [bert_embedding(bert_weights(), BERT, ids, pooling=pooling) for ids in ITEMS]
    np.testing.assert_allclose(runner.run(ITEMS), expected, atol=2e-6)


@pytest.mark.parametrize("padding", range(5))  # sums that go four by four move when their end does
def test_an_embedding_does_not_depend_on_padding_or_company(padding: int) -> None:
    runner = GraphRunner(build_bert_embedder(bert_weights(), BERT))
    fitting = [ids[: POSITIONS - padding] for ids in ITEMS]
    alone = np.concatenate([runner.run([ids]) for ids in fitting])
    longest = max(map(len, fitting))
    np.testing.assert_array_equal(runner.run(fitting, length=longest + padding), alone)


def test_another_activation_is_written_as_configured() -> None:
    config = replace(BERT, activation="relu")
    runner = GraphRunner(build_bert_embedder(bert_weights(), config))
    expected = [bert_embedding(bert_weights(), config, ids) for ids in ITEMS[:3]]
    np.testing.assert_allclose(runner.run(ITEMS[:3]), expected, atol=2e-6)
