"""Answers of the engine become messages without losing a bit."""

import numpy as np
import pytest
from google.protobuf.wrappers_pb2 import Int64Value
from precis.v1 import common_pb2

from inference.errors import PoisonedItemError
from inference.front_doors import EmbeddingBatch, EntailmentBatch, InferenceTimings
from server.services.inference import to_embed_response, to_entail_response, varint

MODEL = common_pb2.ModelIdentity(name="tiny", revision="1", sha256="0" * 64)


@pytest.mark.parametrize("number", [1, 127, 128, 300, 1536, 16_383, 16_384, 1 << 31])
def test_numbers_are_encoded_as_protobuf_does(number: int) -> None:
    assert varint(number) == Int64Value(value=number).SerializeToString()[1:]  # behind the field's key


@pytest.mark.parametrize("dimension", [1, 31, 32, 384, 4096])
def test_vectors_arrive_bit_by_bit(dimension: int) -> None:
    values = np.random.default_rng(dimension).normal(size=(3, dimension)).astype(np.float32)
    batch = EmbeddingBatch(values, {}, (5, 6, 7), (False, True, False), InferenceTimings(0.25, 1.5), 2)
    response = to_embed_response(batch, MODEL, "call-1")
    received = np.array([result.embedding.values for result in response.results], np.float32)
    assert received.tobytes() == values.tobytes()
    assert [result.embedding.token_count for result in response.results] == [5, 6, 7]
    assert [result.embedding.truncated for result in response.results] == [False, True, False]
    assert response.model == MODEL
    assert response.timings.queue.ToTimedelta().total_seconds() == 0.25
    assert response.timings.compute.ToTimedelta().total_seconds() == 1.5
    assert response.timings.cache_hit_count == 2


def test_a_failed_text_is_an_error_at_its_place() -> None:
    values = np.ones((2, 4), np.float32)
    values[0] = np.nan
    batch = EmbeddingBatch(values, {0: PoisonedItemError()}, (3, 3), (False, False), InferenceTimings(0, 0), 0)
    response = to_embed_response(batch, MODEL, "call-1")
    assert [result.WhichOneof("result") for result in response.results] == ["error", "embedding"]
    assert response.results[0].error.field == "texts[0]"


def test_probabilities_keep_their_names() -> None:
    values = np.array([[0.75, 0.125, 0.125], [np.nan] * 3], np.float32)
    batch = EntailmentBatch(values, {1: PoisonedItemError()}, (9, 4), (True, False), InferenceTimings(0, 0), 0)
    response = to_entail_response(batch, MODEL, "call-1")
    scores = response.results[0].scores
    assert (scores.entailment, scores.neutral, scores.contradiction) == (0.75, 0.125, 0.125)
    assert (scores.token_count, scores.truncated) == (9, True)
    assert response.results[1].error.field == "pairs[1]"
