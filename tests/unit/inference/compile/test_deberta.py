import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from inference.compile.config import DEBERTA_V3_XSMALL, DebertaConfig
from inference.compile.deberta import DenseLayer, build_deberta_classifier, build_deberta_encoder, pooled_head
from inference.compile.errors import WeightsError
from inference.compile.relative import bucket_rows
from inference.compile.weights import QuantizedTable
from tests.unit.inference.compile.graph_runner import GraphRunner, random_items
from tests.unit.inference.compile.random_weights import (
    DEBERTA,
    POSITIONS,
    VOCABULARY,
    classifier_weights,
    deberta_weights,
)
from tests.unit.inference.compile.reference import bucket_of, deberta_first_token, gelu

ITEMS = random_items(8, longest=POSITIONS, vocabulary=VOCABULARY)
VARIANTS = {
    "v3": DEBERTA,
    "own position projections": replace(DEBERTA, shares_attention_key=False),
    "only content to position": replace(DEBERTA, has_position_to_content=False),
    "only position to content": replace(DEBERTA, has_content_to_position=False),
    "no relative positions": replace(DEBERTA, has_content_to_position=False, has_position_to_content=False),
    "no buckets": replace(DEBERTA, position_buckets=0),
    "raw relative embeddings": replace(DEBERTA, normalizes_relative_embeddings=False),
    "absolute positions": replace(DEBERTA, has_absolute_positions=True),
}


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS.keys())
def test_the_first_token_equals_the_plain_computation(config: DebertaConfig) -> None:
    weights = deberta_weights(config)
    expected = [deberta_first_token(weights, config, ids) for ids in ITEMS]
    found = GraphRunner(build_deberta_encoder(weights, config)).run(ITEMS)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_the_first_token_does_not_depend_on_padding_or_company() -> None:
    runner = GraphRunner(build_deberta_encoder(deberta_weights(), DEBERTA))
    alone = np.concatenate([runner.run([ids]) for ids in ITEMS])
    np.testing.assert_allclose(runner.run(ITEMS), alone, atol=5e-6)
    np.testing.assert_allclose(runner.run(ITEMS, length=3 * POSITIONS), alone, atol=5e-6)


@pytest.mark.parametrize("length", [1, 3 * DEBERTA.max_relative_positions])
def test_a_text_of_one_token_and_one_longer_than_all_distances_are_computed(length: int) -> None:
    ids = np.random.default_rng(5).integers(0, VOCABULARY, size=length).tolist()
    weights = deberta_weights()
    found = GraphRunner(build_deberta_encoder(weights, DEBERTA)).run([ids])[0]
    np.testing.assert_allclose(found, deberta_first_token(weights, DEBERTA, ids), atol=2e-5)


def test_token_types_and_narrow_embeddings_are_read() -> None:
    config = replace(DEBERTA, token_type_count=2, has_absolute_positions=True)
    weights = deberta_weights(config, embedding_size=16)
    ids, types = [3, 8, 9, 2, 2], [0, 0, 1, 1, 1]
    found = GraphRunner(build_deberta_encoder(weights, config)).run([ids], token_types=types)[0]
    np.testing.assert_allclose(found, deberta_first_token(weights, config, ids, types), atol=2e-5)


def test_the_head_of_a_checkpoint_is_pooler_and_classifier() -> None:
    weights = classifier_weights()
    model = build_deberta_classifier(weights, DEBERTA, pooled_head(weights, "gelu"))
    first = np.array([deberta_first_token(deberta_weights(), DEBERTA, ids) for ids in ITEMS])
    pooled = gelu(first @ weights["pooler.dense.weight"].T + weights["pooler.dense.bias"])
    expected = pooled @ weights["classifier.weight"].T + weights["classifier.bias"]
    np.testing.assert_allclose(GraphRunner(model).run(ITEMS), expected, atol=5e-5)


def test_a_word_table_in_bytes_stays_bytes_and_gives_the_same_numbers() -> None:
    values = np.random.default_rng(1).integers(0, 256, size=(VOCABULARY, 24), dtype=np.uint8)
    table = QuantizedTable(values, np.float32(0.02), 120)
    name = "embeddings.word_embeddings.weight"
    head = (DenseLayer(np.eye(24, 3, dtype=np.float32), np.zeros(3, np.float32)),)
    small = build_deberta_classifier(deberta_weights() | {name: table}, DEBERTA, head)
    large = build_deberta_classifier(deberta_weights() | {name: table.dequantize()}, DEBERTA, head)
    np.testing.assert_array_equal(GraphRunner(small).run(ITEMS), GraphRunner(large).run(ITEMS))
    assert len(large.SerializeToString()) - len(small.SerializeToString()) > 2 * values.size


def test_a_missing_weight_is_named() -> None:
    weights = deberta_weights()
    del weights["encoder.layer.1.output.dense.weight"]
    with pytest.raises(WeightsError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        build_deberta_encoder(weights, DEBERTA)


@pytest.mark.parametrize("config", [DEBERTA, DEBERTA_V3_XSMALL], ids=["tiny", "xsmall"])
def test_every_distance_has_the_row_that_the_definition_gives(config: DebertaConfig) -> None:
    limit = config.max_relative_positions
    expected = [bucket_of(distance, config) for distance in range(-limit, limit + 1)]
    assert bucket_rows(config).tolist() == expected


_COMPILE = """
from dataclasses import replace
from hashlib import sha256
import numpy as np
from inference.compile.config import DEBERTA_V3_XSMALL
from inference.compile.deberta import build_deberta_classifier
from inference.compile.deberta import DenseLayer
from tests.unit.inference.compile.random_weights import deberta_weights
config = replace(DEBERTA_V3_XSMALL, layer_count=2)
head = DenseLayer(np.ones((config.hidden_size, 3), np.float32), np.zeros(3, np.float32))
print(sha256(build_deberta_classifier(deberta_weights(config), config, (head,)).SerializeToString()).hexdigest())
"""


def _compiled(**environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", _COMPILE], env=os.environ | environment, check=True, capture_output=True, text=True
    ).stdout


def test_processors_of_two_kinds_compile_the_same_graph() -> None:
    assert _compiled() == _compiled(OPENBLAS_CORETYPE="Prescott"), "sums of two kernels of OpenBLAS"
