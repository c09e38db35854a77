"""Bulk calls and retries of the client, against servers that do what a test wants."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from precis import AsyncClient, errors
from precis.v1 import common_pb2, judge_pb2

from tests.integration.cli.scripted_judge import scripted_judge, served
from tests.integration.client.either_client import Connect
from tests.integration.client.scripted_streams import JUDGE, scripted_batch


async def test_results_come_in_the_servers_order_and_a_bad_item_is_one_error(connect: Connect) -> None:
    whole = judge_pb2.JudgeBatchRequest(id="own", request=judge_pb2.JudgeRequest(source="s", summary="good"))
    async with scripted_batch() as (batch, address), connect(address) as client:
        assert await client.items("judge_batch", []) == []
        pairs = [("s", "good"), ("s", "bad"), whole]
        items = await client.items("judge_batch", pairs, frameworks=["ultra"], view="scores")
    assert [(item.index, item.id) for item in items] == [(2, "own"), (1, ""), (0, "")]
    assert items[0].result().hallucination == items[2].result().hallucination
    assert isinstance(items[1].error, errors.InvalidArgument)
    assert items[1].error.field == "summary"
    assert batch.requests[0].request.frameworks == [judge_pb2.JUDGE_FRAMEWORK_ULTRA]
    assert batch.requests[0].request.view == common_pb2.RESULT_VIEW_SCORES


async def test_a_server_that_stops_ends_the_batch_behind_what_it_judged(connect: Connect) -> None:
    async with scripted_batch() as (_, address), connect(address) as client:
        with pytest.raises(errors.Unavailable, match="the server is stopping"):
            await client.items("judge_batch", [("s", "gone"), ("s", "good")])


async def test_an_error_of_the_users_iterator_is_raised_behind_the_results_of_what_was_sent(connect: Connect) -> None:
    def pairs() -> Iterator[tuple[str, str]]:
        yield "s", "good"
        raise LookupError("the file has no more lines")

    async with scripted_batch() as (batch, address), connect(address) as client:
        with pytest.raises(LookupError, match="no more lines"):
            await client.items("judge_batch", pairs())
    assert len(batch.requests) == 1


async def test_items_may_come_from_an_asynchronous_iterator() -> None:
    async def pairs() -> AsyncIterator[tuple[str, str]]:
        for _ in range(2):
            await asyncio.sleep(0)
            yield "s", "good"

    async with scripted_batch() as (_, address), AsyncClient(address) as client:
        items = [item async for item in client.judge_batch(pairs())]
    assert [item.index for item in items] == [1, 0]


async def test_a_busy_server_is_asked_again_after_the_time_that_it_names_and_one_that_stops_by_the_service_config(
    connect: Connect,
) -> None:
    async with scripted_judge() as judge, connect(judge.address) as client:
        assert (await client.call("judge", "s", "busy")).claims
        with pytest.raises(errors.Unavailable, match="the server is stopping"):
            await client.call("judge", "s", "gone")
    assert (judge.seen["busy"], judge.seen["gone"]) == (3, 4)


async def test_what_is_no_precis_server_says_so(connect: Connect) -> None:
    async with served(JUDGE) as address, connect(address) as client:
        with pytest.raises(errors.Unimplemented):
            await client.call("models")
        with pytest.raises(errors.Unimplemented):
            await client.call("health")
