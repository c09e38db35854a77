"""JudgeBatch: many items, answered as they finish, whatever happens to some of them.

What holds for every stream of items is tested with evaluations (tests/integration/evaluate/test_stream.py).
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.rpc import code_pb2
from grpc import StatusCode
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.app import App
from tests.integration.conftest import Start
from tests.integration.evaluate.load import no_pending_items, pending_items
from tests.integration.judge.judge_requests import judge_request, lasting
from tests.integration.support.gate import Gate
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape

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


async def test_a_bad_item_is_one_error_and_does_not_end_the_stream(stub: JudgeServiceStub) -> None:
    bad = [item(1, summary=" \n"), pb.JudgeBatchRequest(id="empty"), item(3, "x" * 257), item(4, view=9)]
    responses = await answers(stub, [item(0), *bad, item(5)])
    assert [responses[index].WhichOneof("outcome") for index in range(6)] == ["response", *4 * ["error"], "response"]
    errors = [responses[index].error for index in range(1, 5)]
    assert [error.field for error in errors] == ["summary", "source", "id", "view"]
    assert {error.code for error in errors} == {INVALID}


async def test_a_quick_item_does_not_wait_for_a_slow_one(stub: JudgeServiceStub, gate: Gate) -> None:
    gate.close()
    quick = item(1, "quick", summary=" ")  # refused without a model
    responses = aiter(stub.JudgeBatch(stream_of([item(0, "slow"), quick])))
    assert (await anext(responses)).id == "quick"
    gate.open()
    assert (await anext(responses)).id == "slow"


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


def _items_of(line: str) -> int:
    return int(line.partition("items=")[2].split()[0])
