"""JudgeBatch: many items, answered as they finish, whatever happens to some of them."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError
from grpc_health.v1.health_pb2 import HealthCheckRequest
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.app import App
from tests.integration.conftest import Start
from tests.integration.evaluate.load import full_queue, no_pending_items, pending_items, small_queue
from tests.integration.judge.judge_requests import judge_request, lasting
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape
from tests.integration.support.server_process import ServerProcess, server_process
from tests.integration.support.untyped_stubs import health_stub

Call = grpc.aio.StreamStreamCall[pb.JudgeBatchRequest, pb.JudgeBatchResponse]
STREAM = "/precis.v1.JudgeService/JudgeBatch"
INVALID = code_pb2.INVALID_ARGUMENT


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> JudgeServiceStub:
    return JudgeServiceStub(channel)


def item(seed: int, item_id: str | None = None, **fields: Any) -> pb.JudgeBatchRequest:  # noqa: ANN401
    request = judge_request(seed, **{"frameworks": [], "view": 0, **fields})
    return pb.JudgeBatchRequest(id=str(seed) if item_id is None else item_id, request=request)


async def stream_of(items: list[pb.JudgeBatchRequest]) -> AsyncIterator[pb.JudgeBatchRequest]:
    for one in items:
        yield one


async def answers(stub: JudgeServiceStub, items: list[pb.JudgeBatchRequest]) -> dict[int, pb.JudgeBatchResponse]:
    return {response.index: response async for response in stub.JudgeBatch(stream_of(items))}


async def test_every_item_is_answered_once_as_if_it_were_alone(stub: JudgeServiceStub) -> None:
    responses = await answers(stub, [item(seed) for seed in range(20)])
    assert sorted(responses) == list(range(20))
    assert all(response.id == str(index) for index, response in responses.items())
    alone = await stub.Judge(item(7).request)
    assert lasting(responses[7].response.result) == lasting(alone.result)


async def test_an_item_has_the_view_that_it_asks_for(stub: JudgeServiceStub) -> None:
    views = (common_pb2.RESULT_VIEW_SCORES, common_pb2.RESULT_VIEW_CLAIMS, common_pb2.RESULT_VIEW_FULL)
    responses = await answers(stub, [item(0, view=view) for view in views])
    sizes = [responses[index].ByteSize() for index in range(3)]
    assert sizes == sorted(sizes)
    assert [responses[index].response.result.HasField("evidence") for index in range(3)] == [False, True, True]
    hashes = {responses[index].response.result.request_hash for index in range(3)}
    assert len(hashes) == 1


async def test_no_items_are_no_answers(stub: JudgeServiceStub) -> None:
    assert await answers(stub, []) == {}


async def test_a_bad_item_is_one_error_and_does_not_end_the_stream(stub: JudgeServiceStub) -> None:
    bad = [item(1, summary=" \n"), pb.JudgeBatchRequest(id="empty"), item(3, "x" * 257), item(4, view=9)]
    responses = await answers(stub, [item(0), *bad, item(5)])
    assert [responses[index].WhichOneof("outcome") for index in range(6)] == ["response", *4 * ["error"], "response"]
    errors = [responses[index].error for index in range(1, 5)]
    assert [error.field for error in errors] == ["summary", "source", "id", "view"]
    assert {error.code for error in errors} == {INVALID}


async def test_an_item_that_is_no_utf8_is_answered_by_its_id(channel: grpc.aio.Channel) -> None:
    good = item(1, "good").SerializeToString()
    broken = item(2, "bad", summary="PLACE").SerializeToString().replace(b"PLACE", b"\xff\xfe\xfd\xfc\xfb")

    async def messages() -> AsyncIterator[bytes]:
        for message in (good, broken, b"\xff", good):
            yield message

    stream: Any = channel.stream_stream(STREAM)  # of bytes, which the stubs do not foresee
    parse = pb.JudgeBatchResponse.FromString
    responses = {one.index: one for one in [parse(message) async for message in stream(messages())]}
    assert [responses[index].id for index in range(4)] == ["good", "bad", "", "good"]
    assert (responses[1].error.field, responses[1].error.code) == ("summary", INVALID)
    assert responses[2].error.code == INVALID
    assert responses[3].HasField("response")


async def test_a_quick_item_does_not_wait_for_a_slow_one(stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    quick = item(1, "quick", summary=" ")  # refused without a model
    responses = aiter(stub.JudgeBatch(stream_of([item(0, "slow"), quick])))
    assert (await anext(responses)).id == "quick"
    gate.open()
    assert (await anext(responses)).id == "slow"


async def test_a_full_queue_is_waited_for(start: Start, gate: Gate) -> None:
    async with start(inference=small_queue(100)) as app, grpc.aio.insecure_channel(app.address) as channel:
        gate.close()
        async with full_queue(app, channel, 100):
            read = asyncio.ensure_future(answers(JudgeServiceStub(channel), [item(seed) for seed in range(4)]))
            while (await scrape(app))["precis_refused_calls_total,embedding"] == 0:
                pass
            gate.open()
        assert [one.WhichOneof("outcome") for one in (await read).values()] == ["response"] * 4


async def test_a_queue_that_stays_full_is_an_error_of_the_item(start: Start, gate: Gate) -> None:
    async with (
        start(inference=small_queue(100), services={"max_queue_wait_s": 0}) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        gate.close()
        async with full_queue(app, channel, 100):
            [response] = (await answers(JudgeServiceStub(channel), [item(0)])).values()
            gate.open()
        assert response.error.code == code_pb2.RESOURCE_EXHAUSTED
        assert response.error.HasField("retry_delay")


async def test_a_stream_works_on_a_bounded_number_of_items(start: Start, gate: Gate) -> None:
    async with start(services={"max_stream_items": 2}) as app, grpc.aio.insecure_channel(app.address) as channel:
        stub = JudgeServiceStub(channel)
        gate.close()
        read = asyncio.ensure_future(answers(stub, [item(seed) for seed in range(12)]))
        while await pending_items(app, "embedding") == 0:
            pass
        for _ in range(3):  # the server has time for more
            assert await stub.Judge(judge_request(summary=" ")).code() is StatusCode.INVALID_ARGUMENT
        two = await pending_items(app, "embedding")
        await asyncio.gather(*(stub.Judge(judge_request(summary=" ")).code() for _ in range(8)))
        assert await pending_items(app, "embedding") == two
        gate.open()
        assert len(await read) == 12


async def test_judgements_and_items_are_counted_and_logged(app: App, stub: JudgeServiceStub) -> None:
    before = await scrape(app)
    with log_lines() as lines:
        await answers(stub, [item(200), item(201), item(202, summary=" ")])
        line = await lines.wait_for("JudgeService/JudgeBatch", "code=OK")
        one = await stub.Judge(item(203).request)  # as large as each of the two
        await lines.wait_for("JudgeService/Judge ", f"items={_items_of(line) // 2}")
    assert one.result.frameworks
    after = await scrape(app)
    name = "precis_judgements_total,false"
    assert after[name] - before.get(name, 0) == 3


async def test_a_client_that_leaves_takes_all_its_work_along(app: App, stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    call = stub.JudgeBatch(stream_of([item(seed) for seed in range(30)]))
    await gate.visited()
    with log_lines() as lines:
        call.cancel()
        await lines.wait_for("JudgeService/JudgeBatch", "code=CANCELLED")
    gate.open()
    await no_pending_items(app)
    assert (await scrape(app))["precis_calls_in_flight"] == 0


async def test_a_deadline_ends_the_stream(stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    call = stub.JudgeBatch(stream_of([item(seed) for seed in range(3)]), timeout=0.2)
    with pytest.raises(AioRpcError) as caught:
        _ = [one async for one in call]
    assert caught.value.code() is StatusCode.DEADLINE_EXCEEDED


async def accepted_items(server: ServerProcess, stub: JudgeServiceStub, *, has_more: bool) -> Call:
    """Opens a stream whose items 0 and 1 have been read and stand before the gate."""
    await server.command("close")
    call: Call = stub.JudgeBatch()
    for one in (item(0), item(1), item(2, summary=" ")):  # the last is answered without a model
        await call.write(one)
    if not has_more:
        await call.done_writing()
    assert (await answer_of(call)).index == 2
    return call


async def answer_of(call: Call) -> pb.JudgeBatchResponse:
    """Reads one answer; there must be one."""
    answer = await call.read()
    assert isinstance(answer, pb.JudgeBatchResponse)
    return answer


@pytest.mark.parametrize(
    ("has_more", "code"), [(True, StatusCode.UNAVAILABLE), (False, StatusCode.OK)], ids=["more to come", "all sent"]
)
async def test_a_stopping_server_answers_what_it_has_read(
    tiny_models: Path, tmp_path: Path, *, has_more: bool, code: StatusCode
) -> None:
    settings = {"LISTEN__GRACE_S": "3600", "INFERENCE__RUNTIME__WARMUP_S": "0.05", "METRICS__ENABLED": "false"}
    async with server_process(
        "tests.integration.support.gated_server",
        MODELS_DIR=tiny_models,
        LISTEN__PORT="0",
        SUMMARY_STORAGE__DIRECTORY=tmp_path,
        **settings,
    ) as server:
        async with grpc.aio.insecure_channel(await server.line()) as channel:
            call = await accepted_items(server, JudgeServiceStub(channel), has_more=has_more)
            await health_stub(channel).Check(HealthCheckRequest())  # read behind the end of the requests
            server.process.send_signal(signal.SIGTERM)
            await server.logged("event=stopping")
            await server.command("open")
            read = [await answer_of(call), await answer_of(call)]
            assert sorted(answer.id for answer in read) == ["0", "1"]
            assert all(answer.HasField("response") for answer in read)
            assert await call.code() is code
        assert await server.ended() == 0


def _items_of(line: str) -> int:
    return int(line.partition("items=")[2].split()[0])
