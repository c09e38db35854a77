"""InferenceService through a real stub and a real server."""

import numpy as np
import pytest
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError, Channel, UnaryUnaryMultiCallable
from precis.v1 import common_pb2, inference_pb2
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.support.gate import POISON
from tests.integration.support.rich_errors import details_of, fields_of
from tests.unit.inference.tiny_models import DIMENSION, MAX_TOKENS


@pytest.fixture
def stub(channel: Channel) -> InferenceServiceStub:
    return InferenceServiceStub(channel)


def pair(premise: str, hypothesis: str) -> inference_pb2.TextPair:
    return inference_pb2.TextPair(premise=premise, hypothesis=hypothesis)


def raw_embed(channel: Channel) -> UnaryUnaryMultiCallable[bytes, bytes]:
    """Calls Embed without a serializer: the bytes go out as they are."""
    return channel.unary_unary("/precis.v1.InferenceService/Embed")


async def test_embed_returns_one_unit_vector_for_each_text_in_order(stub: InferenceServiceStub) -> None:
    response = await stub.Embed(inference_pb2.EmbedRequest(texts=["w1 w2 w3", "w4", "w1 w2 w3"]))
    vectors = np.array([result.embedding.values for result in response.results])
    assert vectors.shape == (3, DIMENSION)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (vectors[0] == vectors[2]).all()
    assert not np.allclose(vectors[0], vectors[1])
    assert [result.embedding.token_count for result in response.results] == [5, 3, 5]
    assert len(response.model.sha256) == 64


async def test_the_vector_of_a_text_does_not_depend_on_its_company(stub: InferenceServiceStub) -> None:
    alone = await stub.Embed(inference_pb2.EmbedRequest(texts=["w7 w8"]))
    texts = ["w7 w8", *(f"w{number} " * (number % 9 + 1) for number in range(40))]
    together = await stub.Embed(inference_pb2.EmbedRequest(texts=texts))
    assert alone.results[0].embedding.values == together.results[0].embedding.values


async def test_entail_returns_three_probabilities_for_each_pair(stub: InferenceServiceStub) -> None:
    request = inference_pb2.EntailRequest(pairs=[pair("w1 w2", "w3"), pair("w3", "w1 w2")])
    response = await stub.Entail(request)
    scores = np.array([
        (result.scores.entailment, result.scores.neutral, result.scores.contradiction) for result in response.results
    ])  # fmt: skip
    assert ((scores >= 0) & (scores <= 1)).all()
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-6)
    assert [result.scores.token_count for result in response.results] == [6, 6]


async def test_a_text_that_is_too_long_for_the_model_is_cut_and_says_so(stub: InferenceServiceStub) -> None:
    response = await stub.Embed(inference_pb2.EmbedRequest(texts=["w1 " * MAX_TOKENS, "w1"]))
    assert [result.embedding.truncated for result in response.results] == [True, False]
    assert response.results[0].embedding.token_count == MAX_TOKENS


async def test_the_same_text_again_is_answered_from_the_cache(stub: InferenceServiceStub) -> None:
    request = inference_pb2.EmbedRequest(texts=["w5 w6"])
    first = await stub.Embed(request)
    second = await stub.Embed(request)
    assert (first.timings.cache_hit_count, second.timings.cache_hit_count) == (0, 1)
    assert first.results == second.results


async def test_a_poisoned_item_fails_alone(stub: InferenceServiceStub) -> None:
    response = await stub.Embed(inference_pb2.EmbedRequest(texts=["w1", f"w2 {POISON}", "w3"]))
    assert [result.WhichOneof("result") for result in response.results] == ["embedding", "error", "embedding"]
    error = response.results[1].error
    assert error.code == StatusCode.INTERNAL.value[0]
    assert error.field == "texts[1]"
    assert "poisoned" not in error.message  # the cause is for the log


async def test_list_models_describes_both(stub: InferenceServiceStub) -> None:
    response = await stub.ListModels(inference_pb2.ListModelsRequest())
    models = {model.task: model for model in response.models}
    assert set(models) == {inference_pb2.MODEL_TASK_NLI, inference_pb2.MODEL_TASK_EMBEDDING}
    embedder = models[inference_pb2.MODEL_TASK_EMBEDDING]
    assert (embedder.dimension, embedder.max_tokens, embedder.ready) == (DIMENSION, MAX_TOKENS, True)
    assert embedder.execution_provider == "CPUExecutionProvider"
    assert models[inference_pb2.MODEL_TASK_NLI].dimension == 0


@pytest.mark.parametrize(
    ("request_", "fields"),
    [
        (inference_pb2.EmbedRequest(), ["texts"]),
        (inference_pb2.EmbedRequest(texts=["w1", "", "w2", " "]), ["texts[1]", "texts[3]"]),
        (inference_pb2.EmbedRequest(texts=["w1 " * 3_500_000]), ["texts[0]"]),  # 10.5 MB
        (inference_pb2.EmbedRequest(texts=["w1"], priority=9), ["priority"]),  # type: ignore[arg-type]
    ],
    ids=["no texts", "empty texts", "10 MB text", "unknown enum"],
)
async def test_embed_names_each_wrong_field(
    stub: InferenceServiceStub, request_: inference_pb2.EmbedRequest, fields: list[str]
) -> None:
    with pytest.raises(AioRpcError) as caught:
        await stub.Embed(request_)
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == fields


@pytest.mark.parametrize(
    ("pairs", "fields"),
    [
        ([], ["pairs"]),
        ([pair("w1", "w2")] * 10_001, ["pairs"]),
        ([pair("w1", "w2"), pair("", "")], ["pairs[1].premise", "pairs[1].hypothesis"]),
    ],
    ids=["no pairs", "10,001 pairs", "empty sides"],
)
async def test_entail_names_each_wrong_field(
    stub: InferenceServiceStub, pairs: list[inference_pb2.TextPair], fields: list[str]
) -> None:
    with pytest.raises(AioRpcError) as caught:
        await stub.Entail(inference_pb2.EntailRequest(pairs=pairs))
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == fields


async def test_ten_thousand_pairs_are_answered(stub: InferenceServiceStub) -> None:
    pairs = [pair(f"w{index % 190}", f"w{index // 190 % 190}") for index in range(10_000)]
    response = await stub.Entail(inference_pb2.EntailRequest(pairs=pairs, priority=common_pb2.PRIORITY_BULK))
    assert len(response.results) == 10_000
    assert all(result.WhichOneof("result") == "scores" for result in response.results)


async def test_invalid_utf8_is_the_callers_error_and_names_the_field(channel: Channel) -> None:
    embed = raw_embed(channel)
    with pytest.raises(AioRpcError) as caught:
        await embed(b"\x0a\x02ok\x0a\x04caf\xe9")
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT
    assert fields_of(caught.value) == ["texts[1]"]
    assert "UTF-8" in (caught.value.details() or "")


async def test_bytes_that_are_no_message_are_the_callers_error(channel: Channel) -> None:
    embed = raw_embed(channel)
    with pytest.raises(AioRpcError) as caught:
        await embed(b"\xff\xff\xff\xff")
    assert caught.value.code() is StatusCode.INVALID_ARGUMENT


async def test_an_error_carries_the_id_of_its_call(stub: InferenceServiceStub) -> None:
    with pytest.raises(AioRpcError) as caught:
        await stub.Embed(inference_pb2.EmbedRequest())
    request_info = details_of(caught.value, error_details_pb2.RequestInfo())
    error_info = details_of(caught.value, error_details_pb2.ErrorInfo())
    assert request_info.request_id
    assert (error_info.reason, error_info.domain) == ("INVALID_REQUEST", "precis")
