"""JudgeBatch: the views of its items, and what is counted.

What holds for every stream of items is tested with evaluations (tests/integration/evaluate/test_stream.py).
"""

from typing import Any

import grpc
import pytest
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.app import App
from tests.integration.judge.judge_requests import judge_request
from tests.integration.support.log_lines import log_lines
from tests.integration.support.metrics_page import scrape


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> JudgeServiceStub:
    return JudgeServiceStub(channel)


def item(seed: int, item_id: str | None = None, **fields: Any) -> pb.JudgeBatchRequest:  # noqa: ANN401
    request = judge_request(seed, **{"frameworks": [], "view": 0, **fields})
    return pb.JudgeBatchRequest(id=str(seed) if item_id is None else item_id, request=request)


async def answers(stub: JudgeServiceStub, items: list[pb.JudgeBatchRequest]) -> dict[int, pb.JudgeBatchResponse]:
    return {response.index: response async for response in stub.JudgeBatch(iter(items))}


async def test_an_item_has_the_view_that_it_asks_for(stub: JudgeServiceStub) -> None:
    views = (common_pb2.RESULT_VIEW_SCORES, common_pb2.RESULT_VIEW_CLAIMS, common_pb2.RESULT_VIEW_FULL)
    responses = await answers(stub, [item(0, view=view) for view in views])
    sizes = [responses[index].ByteSize() for index in range(3)]
    assert sizes == sorted(sizes)
    assert [responses[index].response.result.HasField("evidence") for index in range(3)] == [False, True, True]
    hashes = {responses[index].response.result.request_hash for index in range(3)}
    assert len(hashes) == 1


async def test_judgements_and_items_are_counted_and_logged(app: App, stub: JudgeServiceStub) -> None:
    before = await scrape(app)
    with log_lines() as lines:
        await answers(stub, [item(200), item(201), item(202, summary=" ")])
        line = await lines.wait_for("JudgeService/JudgeBatch", "code=OK")
        one = await stub.Judge(item(203).request)  # as large as each of the two
        await lines.wait_for("JudgeService/Judge ", f"items={int(line.partition('items=')[2].split()[0]) // 2}")
    assert one.result.frameworks
    after = await scrape(app)
    name = "precis_judgements_total,false"
    assert after[name] - before.get(name, 0) == 3
