"""One HTTP request as gRPC's context of a call: what the frame around every call, and the servicers, ask of one.

So keys, places among the calls in flight, limits, deadlines, metrics and log lines are those of the RPCs themselves.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import grpc
from grpc.aio import EOF

from server.errors import FieldViolation, InvalidRequestError
from server.rpc.record import current_call

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Write = Callable[[bytes], Awaitable[None]]
ToRequest = Callable[[bytes], bytes]

TIMEOUT_HEADER = "x-request-timeout"
_SMALL = 1 << 16  # bytes that are read at once; more in a thread, for which no other call waits


class AbortedError(Exception):
    """The call has ended with a status."""

    def __init__(self, status: grpc.Status) -> None:
        super().__init__(status.details)
        self.status = status


class HttpContext:
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
        self._client = scope.get("client") or ("unknown", 0)
        self._receive = receive
        self._to_request = to_request
        self._write = write
        self._max_body_bytes = max_body_bytes
        self._deadline_s: float | None = None
        self._is_read = False
        self._body_read = asyncio.Event()
        self._callbacks: list[Callable[[Any], None]] = []
        self._has_left = False

    def set_timeout(self, max_s: float | None) -> None:
        """Sets when the call ends: after `max_s`, or sooner if the caller says so. Raises InvalidRequestError."""
        asked = self.headers.get(TIMEOUT_HEADER)
        if asked is None:
            seconds = max_s
        else:
            try:
                wanted_s = float(asked)
            except ValueError:
                wanted_s = -1.0
            if not 0 < wanted_s < float("inf"):
                raise InvalidRequestError([FieldViolation(TIMEOUT_HEADER, "expected seconds, a number above 0")])
            seconds = wanted_s if max_s is None else min(wanted_s, max_s)
        self._deadline_s = None if seconds is None else time.monotonic() + seconds

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """Returns the headers."""
        return tuple(self.headers.items())

    def peer(self) -> str:
        """Returns the other end of the connection as gRPC writes it."""
        host, port = self._client
        return f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"

    def time_remaining(self) -> float | None:
        """Returns the seconds until the call ends; None: it has no end."""
        return None if self._deadline_s is None else self._deadline_s - time.monotonic()

    def code(self) -> grpc.StatusCode:
        """Returns the status so far."""
        return grpc.StatusCode.CANCELLED if self._has_left else grpc.StatusCode.OK

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Calls back when the answer has been sent."""
        self._callbacks.append(callback)

    def done(self) -> None:
        """Tells those who wait that the answer has been sent, or never will be."""
        for callback in self._callbacks:
            callback(self)
        self._callbacks.clear()

    async def abort_with_status(self, status: grpc.Status) -> None:
        """Ends the call. Raises AbortedError."""
        raise AbortedError(status)

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
            raise InvalidRequestError([FieldViolation("content-type", "expected application/json")])

    async def _body(self) -> bytes:
        parts, size, has_more, place = [], 0, True, current_call().place
        while has_more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._body_read.set()
                raise InvalidRequestError([FieldViolation("", "expected a whole body, got a part of it")])
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body_bytes:
                limit_mib = self._max_body_bytes / (1 << 20)
                raise InvalidRequestError([FieldViolation("", f"expected at most {limit_mib:g} MiB in one request")])
            if place is not None:  # counted before it becomes objects, which are larger
                place.receive_part(len(parts[-1]))
            has_more = message.get("more_body", False)
        self._body_read.set()
        return b"".join(parts)
