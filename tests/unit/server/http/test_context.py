"""A request: its body counts before anything is made of it, and the end of the server's grace ends it in words."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from server.errors import TooManyCallsError
from server.http.endpoint import CallEndpoint, HttpContext
from server.http.paths import PATHS
from server.rpc.admission import CallAdmission
from server.rpc.auth import NOBODY
from server.rpc.record import CallRecord, serving
from tests.fakes import listening

SCOPE: dict[str, Any] = {"headers": [(b"content-type", b"application/json")], "method": "POST", "client": ("host", 1)}


async def test_a_body_counts_before_it_is_parsed_and_what_it_becomes_counts_no_more_than_the_rest() -> None:
    admission = CallAdmission(listening(max_request=100))
    parts: list[dict[str, Any]] = [
        {"type": "http.request", "body": b"x" * 30, "more_body": True},
        {"type": "http.request", "body": b"x" * 30, "more_body": False},
    ]
    parsed: list[bytes] = []

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    def to_request(body: bytes) -> bytes:
        parsed.append(body)
        return body * 2

    async def read(place: Any) -> int:  # noqa: ANN401 - a Place
        with serving(CallRecord("id", 0.0, place=place)):
            context = HttpContext(SCOPE, receive, to_request=to_request, write=None, max_body_bytes=200)  # type: ignore[arg-type]  # unused
            return len(await context.read())

    body = list(parts)
    with admission.enter(NOBODY) as place:
        size = await read(place)
        place.receive_whole(size)  # alone, it may be larger than the bound
        with admission.enter(NOBODY) as other:
            parts[:] = body
            with pytest.raises(TooManyCallsError):
                await read(other)
    assert len(parsed) == 1
    parts[:] = body
    with admission.enter(NOBODY) as third:
        assert await read(third) == 120


async def test_a_request_that_outlives_the_grace_is_told_so() -> None:
    begun, sent = asyncio.Event(), list[Any]()

    async def forever(*_: object) -> bytes:
        begun.set()
        await asyncio.Event().wait()
        return b""

    async def receive() -> dict[str, Any]:
        return await asyncio.Event().wait()  # type: ignore[return-value]  # never

    async def send(message: object) -> None:
        sent.append(message)

    scope = {**SCOPE, "app": SimpleNamespace(state=SimpleNamespace(config=None))}
    endpoint = CallEndpoint(PATHS[0], forever, max_body_bytes=100, max_timeout_s=60)
    answering = asyncio.ensure_future(endpoint(scope, receive, send))
    await begun.wait()
    answering.cancel()
    await answering
    assert sent[0]["status"] == 503
    assert b"send the call to another server" in sent[1]["body"]
