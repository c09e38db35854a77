"""One path: an HTTP request in, one RPC through the frame around every call, its answer or a problem out."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import grpc
from grpc.aio import EOF
from starlette.types import Receive, Scope, Send

from inference.errors import PoisonedItemError, ShuttingDownError
from server.errors import ServerError, refusal
from server.http.json_messages import dumps
from server.http.paths import Exchange, Path
from server.http.problem import MEDIA_TYPE, Problem, plain_problem, to_problem
from server.rpc.calls import RawHandler
from server.rpc.connections import as_grpc_writes_it
from server.rpc.record import current_call
from server.rpc.status import to_status
from server.rpc.streams import end

logger = logging.getLogger(__name__)
T = TypeVar("T")

TIMEOUT_HEADER = "x-request-timeout"


class CallEndpoint:
    """An ASGI application for one path.

    Args:
        max_timeout_s: after which a call ends at the latest; a stream may take as long as it does.
    """

    def __init__(self, path: Path, behavior: RawHandler, *, max_body_bytes: int, max_timeout_s: float) -> None:
        self._path = path
        self._behavior = behavior
        self._max_body_bytes = max_body_bytes
        self._max_timeout_s = None if path.rpc.server_streaming else max_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; ends it as soon as its caller has left."""
        exchange = self._path.exchange(scope)
        answer = HttpAnswer(send, exchange)
        most = self._max_body_bytes
        context = HttpContext(scope, receive, to_request=exchange.request, write=answer.event, max_body_bytes=most)
        work = asyncio.ensure_future(self._work(context, answer, exchange))
        left = asyncio.ensure_future(context.left())
        try:
            await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
        except asyncio.CancelledError:  # the server stops, its grace is over; uvicorn would take it for a fault of ours
            if not work.done():
                await end(work)
                await answer.fail(to_problem(to_status(ShuttingDownError(), ""), exchange.rename))
        finally:
            await end(work, left)
            context.done()

    async def _work(self, context: "HttpContext", answer: "HttpAnswer", exchange: Exchange) -> None:
        """Runs the call and sends what comes of it."""
        call_id = ""
        try:
            context.set_timeout(self._max_timeout_s)
            async with asyncio.timeout(context.time_remaining()):
                data = await self._behavior(None, context)  # type: ignore[arg-type]  # as much of it as is used
            call_id = current_call().call_id
            sending = answer.end() if data is None else answer.body(data)
            del data  # what is made of it is held while the caller reads, and counts as much
            await sending
            return
        except AbortedError as error:
            problem = to_problem(error.status, exchange.rename)
        except (ServerError, PoisonedItemError) as error:  # of a header, or of what the answer says
            problem = to_problem(to_status(error, call_id), exchange.rename)
        except TimeoutError:
            problem = plain_problem(grpc.StatusCode.DEADLINE_EXCEEDED, "the time for this request is over")
        except Exception:
            logger.exception("event=unknown_error protocol=http")
            problem = plain_problem(grpc.StatusCode.INTERNAL, "internal error; the server's log has the cause")
        await answer.fail(problem)


class AbortedError(Exception):
    """The call has ended with a status."""

    def __init__(self, status: grpc.Status) -> None:
        super().__init__(status.details)
        self.status = status


class HttpContext:
    """The context of one request, as far as the frame around every call, and servicers, ask for grpc.aio's.

    The request's body becomes the one message of the call.

    Args:
        to_request: turns the body into the bytes of the RPC's request. Raises InvalidRequestError.
        write: takes the bytes of each response of a stream.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        *,
        to_request: Callable[[bytes], bytes],
        write: Callable[[bytes], Awaitable[None]],
        max_body_bytes: int,
    ) -> None:
        self.write = write
        pairs = reversed(scope["headers"])  # of one name the first counts, as with gRPC
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
        self._has_body = scope["method"] == "POST"
        self._peer = as_grpc_writes_it(*(scope.get("client") or ("unknown", 0)))
        self._receive = receive
        self._to_request = to_request
        self._max_body_bytes = max_body_bytes
        self._deadline_s: float | None = None
        self._callbacks: list[Callable[[Any], None]] = []
        self._is_read = False
        self._has_left = False
        self._body_read = asyncio.Event()

    def invocation_metadata(self) -> Iterable[tuple[str, str]]:
        """Returns the headers."""
        return self.headers.items()

    def peer(self) -> str:
        """Returns the other end of the connection, as gRPC writes it."""
        return self._peer

    def time_remaining(self) -> float | None:
        """Returns the seconds until the call ends; None: it has no end."""
        return None if self._deadline_s is None else self._deadline_s - time.monotonic()

    async def send_initial_metadata(self, metadata: Iterable[tuple[str, str]]) -> None:
        """Does nothing: an answer has its headers when it begins."""

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

    def set_timeout(self, max_s: float | None) -> None:
        """Sets when the call ends: after `max_s`, or sooner if the caller says so. Raises InvalidRequestError."""
        limit_s = float("inf") if max_s is None else max_s
        if (asked := self.headers.get(TIMEOUT_HEADER)) is not None:
            try:
                wanted_s = float(asked)
            except ValueError:
                wanted_s = -1.0
            if not 0 < wanted_s < float("inf"):
                raise refusal(TIMEOUT_HEADER, "expected seconds, a number above 0")
            limit_s = min(wanted_s, limit_s)
        self._deadline_s = None if limit_s == float("inf") else time.monotonic() + limit_s

    async def read(self) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Returns the one message, then the end. Raises InvalidRequestError."""
        if self._is_read:
            return EOF
        self._is_read = True
        self._check_media_type()
        body = await self._body()
        return await _off_loop(len(body), partial(self._to_request, body))

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
                place.receive(len(parts[-1]), is_part=True)
            has_more = message.get("more_body", False)
        self._body_read.set()
        return b"".join(parts)


class HttpAnswer:
    """What one caller gets: a body in parts, or server-sent events begun with the first.

    JSON is made a part at a time, when the caller has taken the one before: it is four times as long as the message.
    """

    inline_bytes = 1 << 16  # of a message that is turned into JSON, or back, on the event loop: about a millisecond
    _events = "text/event-stream; charset=utf-8"

    def __init__(self, send: Send, exchange: Exchange) -> None:
        self._send = send
        self._exchange = exchange
        self._media_type = ""  # once it has begun

    async def body(self, data: bytes) -> None:
        """Sends the one message of a call. Raises ServerError or PoisonedItemError before anything is sent."""
        size, make = len(data), partial(self._exchange.response, data)
        del data
        parts = await _off_loop(size, make)
        del make
        while (part := await _off_loop(size, partial(next, parts, None))) is not None:
            await self._begin("application/json")
            await self._part(part)
        await self.end()

    async def event(self, data: bytes) -> None:
        """Sends one message of a stream, as fast as the client takes it."""
        parts = await _off_loop(len(data), partial(self._exchange.response, data))
        await self._event(self._exchange.event_name(data), b"".join(parts))

    async def end(self) -> None:
        """Ends the answer once it was taken, but for what the socket holds."""
        await self._begin(self._events)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def fail(self, problem: Problem) -> None:
        """Tells a problem: by a last event if there were others, else by a response with its own code."""
        whole = dumps({**problem.body, **self._exchange.explained(problem)})
        if self._media_type == self._events:
            await self._event("error", whole)
        elif self._media_type:
            return  # in the middle of a body: the connection is closed, and the client knows that a part is missing
        else:
            await self._begin(MEDIA_TYPE, problem.http_code, problem.headers)
            await self._part(whole)
        await self.end()

    async def _event(self, name: str, data: bytes) -> None:
        await self._begin(self._events)
        await self._part(b"event: " + name.encode() + b"\ndata: " + data + b"\n\n")  # JSON has no line break of its own

    async def _part(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _begin(self, media_type: str, code: int = 200, headers: dict[str, str] | None = None) -> None:
        if not self._media_type:
            self._media_type = media_type
            said = {"content-type": media_type, "cache-control": "no-store"} | self._exchange.headers | (headers or {})
            pairs = [(name.lower().encode(), value.encode()) for name, value in said.items()]
            await self._send({"type": "http.response.start", "status": code, "headers": pairs})


async def _off_loop(size: int, work: Callable[[], T]) -> T:
    """Does a small piece of work here, a large one in a thread: no other call waits for it."""
    return work() if size <= HttpAnswer.inline_bytes else await asyncio.to_thread(work)
