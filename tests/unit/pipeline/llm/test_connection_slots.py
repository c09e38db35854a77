"""Each request has a connection of its own, and connections are used again."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from pipeline.llm.http import ConnectionSlots
from tests.scripted_endpoint.script import Script
from tests.unit.pipeline.llm.models import bench, failing, request

REQUEST = httpx2.Request("POST", "http://endpoint/v1/chat/completions")


class OneConnection(httpx2.AsyncBaseTransport):
    """Answers, unless it is told to fail; refuses a second request while the first one's body is open."""

    def __init__(self, made: "list[OneConnection]") -> None:
        made.append(self)
        self.error: Exception | None = None
        self.requests = 0
        self.is_busy = self.is_closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert not self.is_busy
        self.requests += 1
        if self.error is not None:
            raise self.error
        self.is_busy = True
        return httpx2.Response(200, stream=Body(self))

    async def aclose(self) -> None:
        self.is_closed = True


class Body(httpx2.AsyncByteStream):
    """A body that frees its connection when it is closed."""

    def __init__(self, connection: OneConnection) -> None:
        self._connection = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"answer"

    async def aclose(self) -> None:
        self._connection.is_busy = False


def slots(*, keepalive_s: float = 60) -> tuple[ConnectionSlots, list[OneConnection]]:
    """A transport, and the connections that it has made."""
    made: list[OneConnection] = []
    return ConnectionSlots(lambda: OneConnection(made), keepalive_s=keepalive_s), made


async def test_as_many_connections_are_made_as_requests_are_in_flight() -> None:
    transport, made = slots()
    open_answers = [await transport.handle_async_request(REQUEST) for _ in range(3)]
    assert (transport.count, len(made)) == (3, 3)
    for answer in open_answers:
        assert await answer.aread() == b"answer"
        await answer.aclose()
    for _ in range(5):
        await (await transport.handle_async_request(REQUEST)).aclose()
    assert len(made) == 3
    assert sorted(one.requests for one in made) == [1, 1, 6]  # the one that was free last, so that others can expire


async def test_a_failed_request_gives_its_connection_back() -> None:
    transport, made = slots()
    await (await transport.handle_async_request(REQUEST)).aclose()
    made[0].error = httpx2.ReadError("cut")
    with pytest.raises(httpx2.ReadError):
        await transport.handle_async_request(REQUEST)
    made[0].error = None
    await (await transport.handle_async_request(REQUEST)).aclose()
    assert len(made) == 1


async def test_connections_that_nobody_needs_any_more_are_closed() -> None:
    transport, made = slots(keepalive_s=-1)  # over before it begins
    for answer in [await transport.handle_async_request(REQUEST) for _ in range(3)]:
        await answer.aclose()
    await (await transport.handle_async_request(REQUEST)).aclose()
    assert [one.is_closed for one in made] == [True, True, True, False]


async def test_closing_closes_busy_connections_too() -> None:
    transport, made = slots()
    answer = await transport.handle_async_request(REQUEST)
    await (await transport.handle_async_request(REQUEST)).aclose()
    await transport.aclose()
    await answer.aclose()
    assert [one.is_closed for one in made] == [True, True]
    assert transport.count == 0


async def test_a_crowd_of_calls_opens_one_connection_for_each_that_may_be_in_flight() -> None:
    async with bench(Script(latency_s=0.001), rates={"max_concurrency": 8}) as at:
        await asyncio.gather(*(at.model.complete(request(f"{n}")) for n in range(100)))
        assert at.scripted.connection_count == 8


async def test_calls_after_each_other_share_one_connection() -> None:
    async with bench(failing()) as at:
        for number in range(5):
            await at.model.complete(request(f"{number}"))
        assert at.scripted.connection_count == 1
