"""Evaluate: a real server with tiny models, through the real stub."""

import asyncio

import grpc
import pytest
from grpc import StatusCode
from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.conftest import Connect
from tests.integration.evaluate.evaluations import evaluate_request
from tests.integration.support.held_threads import held_threads


async def test_the_response_names_models_settings_and_times(channel: grpc.aio.Channel) -> None:
    response = await EvaluateServiceStub(channel).Evaluate(evaluate_request())
    assert [model.name for model in response.models] == ["tiny", "tiny"]
    assert all(len(model.sha256) == 64 for model in response.models)
    assert response.length.tokenizer == "tiny"
    assert response.applied_options.hit_threshold == 0.5
    assert response.nli.scored_pair_count > 0
    timings = response.timings
    phases = (timings.heuristics, timings.embedding, timings.nli, timings.aggregation)
    spent = sum(phase.ToMicroseconds() for phase in phases)
    assert spent == pytest.approx(timings.total.ToMicroseconds(), abs=len(phases))  # each is rounded


async def test_a_long_text_is_read_where_it_holds_up_no_other_call(channel: grpc.aio.Channel) -> None:
    request = evaluate_request(datum__entry__text="W1 w2 w3 w4 w5 w6 w7 w8 w9 . " * 3_000)
    request.options.precision_source = pb.PRECISION_SOURCE_SOURCE_TEXT
    with held_threads("precis-cpu") as held:
        long = asyncio.create_task(EvaluateServiceStub(channel).Evaluate(request).code())
        assert await held.reached_by(long)
        await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1"]))
        assert not long.done()
    assert await long is StatusCode.OK


async def test_without_the_nli_model_the_call_says_so(connected: Connect) -> None:
    inference = {"runtime": {"warmup_s": 0.05, "workers": 1}, "roles": ["embedding"]}
    async with connected(inference=inference) as (_, channel):
        assert await EvaluateServiceStub(channel).Evaluate(evaluate_request()).code() is StatusCode.FAILED_PRECONDITION
