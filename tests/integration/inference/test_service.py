"""InferenceService through a real stub and a real server."""

import numpy as np
import pytest
from grpc import StatusCode
from grpc.aio import Channel
from precis.v1 import common_pb2, inference_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.support.gate import POISON
from tests.integration.support.rich_errors import assert_refused
from tests.unit.inference.tiny_models import DIMENSION


@pytest.fixture
def stub(channel: Channel) -> InferenceServiceStub:
    return InferenceServiceStub(channel)


def pair(premise: str, hypothesis: str) -> inference_pb2.TextPair:
    return inference_pb2.TextPair(premise=premise, hypothesis=hypothesis)


async def test_embed_returns_one_unit_vector_for_each_text_in_order(stub: InferenceServiceStub) -> None:
    response = await stub.Embed(inference_pb2.EmbedRequest(texts=["w1 w2 w3", "w4", "w1 w2 w3"]))
    vectors = np.array([result.embedding.values for result in response.results])
    assert vectors.shape == (3, DIMENSION)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (vectors[0] == vectors[2]).all()
    assert not np.allclose(vectors[0], vectors[1])
    assert [result.embedding.token_count for result in response.results] == [5, 3, 5]
    assert len(response.model.sha256) == 64


async def test_a_poisoned_item_fails_alone(stub: InferenceServiceStub) -> None:
    response = await stub.Embed(inference_pb2.EmbedRequest(texts=["w1", f"w2 {POISON}", "w3"]))
    assert [result.WhichOneof("result") for result in response.results] == ["embedding", "error", "embedding"]
    error = response.results[1].error
    assert error.code == StatusCode.INTERNAL.value[0]
    assert error.field == "texts[1]"
    assert "poisoned" not in error.message  # the cause is for the log


async def test_each_wrong_field_is_named(stub: InferenceServiceStub) -> None:
    await assert_refused(stub.Embed(inference_pb2.EmbedRequest(texts=["w1 " * 3_500_000])), "texts[0]")  # 10.5 MB
    pairs = [pair("w1", "w2")] * 10_001
    await assert_refused(stub.Entail(inference_pb2.EntailRequest(pairs=pairs)), "pairs")
    blank = inference_pb2.EntailRequest(pairs=[pair("w1", "w2"), pair("", "")])
    await assert_refused(stub.Entail(blank), "pairs[1].premise", "pairs[1].hypothesis")


async def test_ten_thousand_pairs_are_answered(stub: InferenceServiceStub) -> None:
    pairs = [pair(f"w{index % 190}", f"w{index // 190 % 190}") for index in range(10_000)]
    response = await stub.Entail(inference_pb2.EntailRequest(pairs=pairs, priority=common_pb2.PRIORITY_BULK))
    assert len(response.results) == 10_000
    assert all(result.WhichOneof("result") == "scores" for result in response.results)
