"""Just enough HTTP/1.1 for a test endpoint: keep-alive, bodies with a length, chunked answers, and rude endings."""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import cast

_HEAD_END = b"\r\n\r\n"
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, read whole. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """One request and the connection on which it is answered."""

    def __init__(self, request: HttpRequest, connection: "HttpConnection") -> None:
        self.request = request
        self._connection = connection
        self._arrived_s = asyncio.get_running_loop().time()

    async def wait_for_age(self, age_s: float) -> None:
        """Waits until the request came in so long ago, its own handling included."""
        await asyncio.sleep(self._arrived_s + age_s - asyncio.get_running_loop().time())

    async def send(
        self,
        status: int,
        body: bytes,
        *,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Sends a whole answer."""
        lines = {"content-type": content_type, "content-length": str(len(body)), **(headers or {})}
        await self._connection.write(_head(status, lines) + body)

    async def send_json(self, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
        """Sends a JSON value."""
        await self.send(status, json.dumps(value).encode(), headers=headers)

    async def start_chunked(self, content_type: str, status: int = 200) -> None:
        """Begins an answer whose length is not known."""
        lines = {"content-type": content_type, "transfer-encoding": "chunked"}
        await self._connection.write(_head(status, lines))

    async def send_chunk(self, data: bytes) -> None:
        """Sends a piece of a chunked answer; waits while the client does not read."""
        await self._connection.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end_chunked(self) -> None:
        """Ends a chunked answer."""
        await self._connection.write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Ends the connection with RST, as a crashed server's kernel does."""
        self._connection.reset()


Handler = Callable[[Exchange], Awaitable[None]]


class HttpConnection(asyncio.Protocol):
    """One connection. A client that leaves cancels the handler of its request."""

    def __init__(self, handler: Handler, connections: "set[HttpConnection]") -> None:
        self._handler = handler
        self._connections = connections
        self._received = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are none by class
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._writable.set()
        self.lost.set()
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._answer_next()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def write(self, data: bytes) -> None:
        self._transport.write(data)
        await self._writable.wait()

    def reset(self) -> None:
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() then sends RST
        self._transport.abort()

    def close(self) -> None:
        self._transport.abort()

    def _answer_next(self) -> None:
        if self._task is None and (request := _take_request(self._received)) is not None:
            self._task = asyncio.get_running_loop().create_task(self._answer(Exchange(request, self)))

    async def _answer(self, exchange: Exchange) -> None:
        await self._handler(exchange)
        self._task = None
        self._answer_next()


def _take_request(received: bytearray) -> HttpRequest | None:
    """Takes one whole request off the front; None while it is incomplete."""
    end = received.find(_HEAD_END)
    if end < 0:
        return None
    first, *lines = received[:end].decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body_start = end + len(_HEAD_END)
    body_end = body_start + int(headers.get("content-length", "0"))
    if len(received) < body_end:
        return None
    method, path, _ = first.split(" ")
    request = HttpRequest(method, path, headers, bytes(received[body_start:body_end]))
    del received[:body_end]
    return request


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
