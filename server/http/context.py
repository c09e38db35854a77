"""One HTTP request as gRPC's context of a call."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from grpc.aio import EOF

from server.http.json_messages import refusal
from server.rpc.record import current_call
from server.rpc.relayed import RelayedContext

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Write = Callable[[bytes], Awaitable[None]]
ToRequest = Callable[[bytes], bytes]

TIMEOUT_HEADER = "x-request-timeout"
_SMALL = 1 << 16  # bytes that are read at once; more in a thread, for which no other call waits


class HttpContext(RelayedContext):
    """The context of one request; the request's body becomes the one message of the call.

    Args:
        scope: of ASGI.
        receive: of ASGI.
        to_request: turns the body into the bytes of the RPC's request. Raises InvalidRequestError.
        write: takes the bytes of each response of a stream.
        max_body_bytes: of the body.
    """

    def __init__(
        self,
        scope: Message,
        receive: Receive,
        *,
        to_request: ToRequest,
        write: Write,
        max_body_bytes: int,
    ) -> None:
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self._has_body = scope["method"] == "POST"
        host, port = scope.get("client") or ("unknown", 0)
        super().__init__(self.headers.items(), f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}")
        self._receive = receive
        self._to_request = to_request
        self._write = write
        self._max_body_bytes = max_body_bytes
        self._is_read = False
        self._body_read = asyncio.Event()

    def set_timeout(self, max_s: float | None) -> None:
        """Sets when the call ends: after `max_s`, or sooner if the caller says so. Raises InvalidRequestError."""
        asked = self.headers.get(TIMEOUT_HEADER)
        if asked is None:
            self.end_after(max_s)
            return
        try:
            wanted_s = float(asked)
        except ValueError:
            wanted_s = -1.0
        if not 0 < wanted_s < float("inf"):
            raise refusal(TIMEOUT_HEADER, "expected seconds, a number above 0")
        self.end_after(wanted_s if max_s is None else min(wanted_s, max_s))

    async def read(self) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Returns the one message, then the end. Raises InvalidRequestError."""
        if self._is_read:
            return EOF
        self._is_read = True
        self._check_media_type()
        body = await self._body()
        return self._to_request(body) if len(body) <= _SMALL else await asyncio.to_thread(self._to_request, body)

    async def write(self, data: bytes) -> None:
        """Sends one response of a stream."""
        await self._write(data)

    async def left(self) -> None:
        """Waits until the caller has gone."""
        await self._body_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._has_left = True

    def _check_media_type(self) -> None:
        """Refuses what a web page of anybody may send from a browser without asking. Raises InvalidRequestError."""
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self._has_body and media_type != "application/json":
            raise refusal("content-type", "expected application/json")

    async def _body(self) -> bytes:
        parts, size, has_more, place = [], 0, True, current_call().place
        while has_more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._body_read.set()
                raise refusal("", "expected a whole body, got a part of it")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body_bytes:
                limit_mib = self._max_body_bytes / (1 << 20)
                raise refusal("", f"expected at most {limit_mib:g} MiB in one request")
            if place is not None:  # counted before it becomes objects, which are larger
                place.receive_part(len(parts[-1]))
            has_more = message.get("more_body", False)
        self._body_read.set()
        return b"".join(parts)
