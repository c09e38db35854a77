"""InferenceService through a real stub and a real server."""

import pytest
from grpc import StatusCode
from grpc.aio import Channel
from precis.v1 import common_pb2, inference_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.support.gate import POISON
from tests.integration.support.rich_errors import assert_refused


@pytest.fixture
def stub(channel: Channel) -> InferenceServiceStub:
    return InferenceServiceStub(channel)


def pair(premise: str, hypothesis: str) -> inference_pb2.TextPair:
    return inference_pb2.TextPair(premise=premise, hypothesis=hypothesis)


async def test_a_poisoned_item_fails_alone(stub: InferenceServiceStub) -> None:
    response = await stub.Embed(inference_pb2.EmbedRequest(texts=["w1", f"w2 {POISON}", "w3"]))
    assert [result.WhichOneof("result") for result in response.results] == ["embedding", "error", "embedding"]
    error = response.results[1].error
    assert error.code == StatusCode.INTERNAL.value[0]
    assert error.field == "texts[1]"
    assert "poisoned" not in error.message  # the cause is for the log


async def test_ten_thousand_pairs_are_answered_and_no_more(stub: InferenceServiceStub) -> None:
    pairs = [pair(f"w{index % 190}", f"w{index // 190 % 190}") for index in range(10_000)]
    response = await stub.Entail(inference_pb2.EntailRequest(pairs=pairs, priority=common_pb2.PRIORITY_BULK))
    assert len(response.results) == 10_000
    assert all(result.WhichOneof("result") == "scores" for result in response.results)
    more = inference_pb2.EntailRequest(pairs=[*pairs, pair("w1", "w2")])
    await assert_refused(stub.Entail(more), "pairs")
