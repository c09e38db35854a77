"""EvaluateStream: many items, answered as they finish, whatever happens to some of them."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from grpc import StatusCode
from grpc_health.v1.health_pb2 import HealthCheckRequest
from precis.v1 import evaluate_pb2 as pb
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub

from server.app import App
from tests.integration.conftest import Connect
from tests.integration.evaluate.evaluations import evaluate_request
from tests.integration.evaluate.load import full_queue, no_pending_items, small_queue
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.server_process import ServerProcess, gated_server
from tests.integration.support.untyped_stubs import health_stub

Call = grpc.aio.StreamStreamCall[pb.EvaluateStreamRequest, pb.EvaluateStreamResponse]
STREAM = "/precis.v1.EvaluateService/EvaluateStream"


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> EvaluateServiceStub:
    return EvaluateServiceStub(channel)


def item(seed: int, item_id: str | None = None) -> pb.EvaluateStreamRequest:
    return pb.EvaluateStreamRequest(id=str(seed) if item_id is None else item_id, request=evaluate_request(seed))


async def test_every_item_is_answered_once_as_if_it_were_alone(stub: EvaluateServiceStub) -> None:
    responses = [one async for one in stub.EvaluateStream(item(seed) for seed in range(40))]
    assert sorted(response.index for response in responses) == list(range(40))
    assert all(response.id == str(response.index) for response in responses)
    alone = await stub.Evaluate(evaluate_request(17))
    [streamed] = [response.response for response in responses if response.index == 17]
    assert streamed.loss == pytest.approx(alone.loss, abs=1e-6)


async def test_an_item_that_is_no_utf8_is_answered_by_its_id(channel: grpc.aio.Channel) -> None:
    good = item(1, "good").SerializeToString()
    bad = item(2, "bad")
    bad.request.generated.text = "PLACE"
    broken = bad.SerializeToString().replace(b"PLACE", b"\xff\xfe\xfd\xfc\xfb")

    async def messages() -> AsyncIterator[bytes]:
        for message in (good, broken, b"\xff", good):
            yield message

    stream: Any = channel.stream_stream(STREAM)  # of bytes, which the stubs do not foresee
    parse = pb.EvaluateStreamResponse.FromString
    responses = {one.index: one for one in [parse(message) async for message in stream(messages())]}
    assert [responses[index].id for index in range(4)] == ["good", "bad", "", "good"]
    assert responses[1].error.field == "generated.text"
    assert responses[2].error.code == code_pb2.INVALID_ARGUMENT
    assert responses[3].HasField("response")  # ids may repeat: the index tells them apart


async def test_a_full_queue_is_waited_for(connected: Connect, gate: Gate) -> None:
    async with connected(inference=small_queue(100)) as (app, channel):
        gate.close()
        async with full_queue(app, channel, 100):
            call = EvaluateServiceStub(channel).EvaluateStream(item(seed) for seed in range(10))
            read = asyncio.ensure_future(results_of(call))
            while (await scrape(app))["precis_refused_calls_total,embedding"] == 0:
                pass
            gate.open()
        assert await read == ["response"] * 10


async def test_a_queue_that_stays_full_is_an_error_of_the_item(connected: Connect, gate: Gate) -> None:
    async with connected(inference=small_queue(100), services={"max_queue_wait_s": 0}) as (app, channel):
        gate.close()
        async with full_queue(app, channel, 100):
            call = EvaluateServiceStub(channel).EvaluateStream(iter([item(0)]))
            [response] = [one async for one in call]
            gate.open()
        assert response.error.code == code_pb2.RESOURCE_EXHAUSTED
        assert response.error.HasField("retry_delay")


async def results_of(call: Call) -> list[str | None]:
    return [response.WhichOneof("result") async for response in call]


async def test_a_client_that_leaves_takes_all_its_work_along(app: App, stub: EvaluateServiceStub, gate: Gate) -> None:
    gate.close()
    call = stub.EvaluateStream(item(seed) for seed in range(50))
    await gate.visited()
    with log_lines() as lines:
        call.cancel()
        await lines.wait_for("EvaluateService/EvaluateStream", "code=CANCELLED")
    gate.open()
    await no_pending_items(app)
    assert (await scrape(app))["precis_calls_in_flight"] == 0


async def accepted_items(server: ServerProcess, stub: EvaluateServiceStub, *, has_more: bool = True) -> Call:
    """Opens a stream whose items 0 and 1 have been read and stand before the gate.

    Without `has_more` the client also says that these are all, before it waits for the answer that proves the reading.
    """
    await server.command("close")
    call: Call = stub.EvaluateStream()
    for seed in range(2):
        await call.write(item(seed))
    quick = item(2)
    quick.request.generated.text = ""  # answered without a model, and read after the others
    await call.write(quick)
    if not has_more:
        await call.done_writing()
    assert (await answer_of(call)).index == 2
    return call


async def answer_of(call: Call) -> pb.EvaluateStreamResponse:
    """Reads one answer; there must be one."""
    answer = await call.read()
    assert isinstance(answer, pb.EvaluateStreamResponse)
    return answer


@pytest.mark.parametrize(
    ("has_more", "code"), [(True, StatusCode.UNAVAILABLE), (False, StatusCode.OK)], ids=["more to come", "all sent"]
)
async def test_a_stopping_server_answers_what_it_has_read(
    tiny_models: Path, *, has_more: bool, code: StatusCode
) -> None:
    async with gated_server(tiny_models) as server:
        async with grpc.aio.insecure_channel(await server.line()) as channel:
            call = await accepted_items(server, EvaluateServiceStub(channel), has_more=has_more)
            await health_stub(channel).Check(HealthCheckRequest())  # read behind the end of the requests
            server.process.send_signal(signal.SIGTERM)
            await server.logged("event=stopping")
            await server.command("open")
            answers = [await answer_of(call), await answer_of(call)]
            assert sorted(answer.id for answer in answers) == ["0", "1"]
            assert all(answer.HasField("response") for answer in answers)
            assert await call.code() is code
        assert await server.ended() == 0
