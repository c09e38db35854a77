"""One path: an HTTP request in, one RPC through the frame around every call, its answer or a problem out."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from grpc.aio import EOF
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.errors import InvalidRequestError, refusal
from server.http.paths import Exchange, Path
from server.http.problem import MEDIA_TYPE, Problem, ProblemError, plain_problem, to_problem
from server.rpc.calls import RawHandler
from server.rpc.record import current_call
from server.rpc.relayed import AbortedError, RelayedContext
from server.rpc.status import to_status

logger = logging.getLogger(__name__)

TIMEOUT_HEADER = "x-request-timeout"
CANCELLED = plain_problem(grpc.StatusCode.CANCELLED, "the caller has left")


class CallEndpoint:
    """An ASGI application for one path.

    Args:
        path: what it takes and answers.
        behavior: the RPC.
        max_body_bytes: of a request.
        max_timeout_s: after which a call ends at the latest; a stream may take as long as it does.
    """

    def __init__(self, path: Path, behavior: RawHandler, *, max_body_bytes: int, max_timeout_s: float) -> None:
        self._path = path
        self._behavior = behavior
        self._max_body_bytes = max_body_bytes
        self._max_timeout_s = None if path.rpc.server_streaming else max_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        exchange = self._path.exchange()
        events = EventStream(send, exchange)
        context = HttpContext(
            scope,
            receive,
            to_request=exchange.request,
            write=events.write,
            max_body_bytes=self._max_body_bytes,
        )
        try:
            answer = await self._answer(context, exchange, events)
            await answer(scope, receive, send)
        finally:
            context.done()

    async def _answer(
        self, context: "HttpContext", exchange: Exchange, events: "EventStream"
    ) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        """Runs the call and returns what is still to be sent."""
        try:
            context.set_timeout(self._max_timeout_s)
            data = await self._run(context)
            if data is None:
                return events.end
            return Response(exchange.response(data), media_type="application/json")
        except AbortedError as error:
            problem = to_problem(error.status, exchange.rename)
        except ProblemError as error:
            problem = error.problem
        except InvalidRequestError as error:  # of a header
            problem = to_problem(to_status(error, ""), exchange.rename)
        except Exception:
            logger.exception("event=unknown_error protocol=http")
            problem = plain_problem(grpc.StatusCode.INTERNAL, "internal error; the server's log has the cause")
        return events.fail(problem)

    async def _run(self, context: "HttpContext") -> bytes | None:
        """Runs the call until it ends, its time is over, or the caller has left. Raises ProblemError."""
        work = asyncio.ensure_future(self._behavior(None, context))  # type: ignore[arg-type]  # as much of it as is used
        left = asyncio.ensure_future(context.left())
        try:
            await asyncio.wait({work, left}, timeout=context.time_remaining(), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            if left.done():
                raise ProblemError(CANCELLED)
            raise ProblemError(plain_problem(grpc.StatusCode.DEADLINE_EXCEEDED, "the time for this request is over"))
        finally:
            for task in (work, left):
                task.cancel()
            await asyncio.gather(work, left, return_exceptions=True)


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
        scope: Scope,
        receive: Receive,
        *,
        to_request: Callable[[bytes], bytes],
        write: Callable[[bytes], Awaitable[None]],
        max_body_bytes: int,
    ) -> None:
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self._has_body = scope["method"] == "POST"
        host, port = scope.get("client") or ("unknown", 0)
        peer = f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"
        super().__init__(self.headers.items(), peer, self._read, write)
        self._receive = receive
        self._to_request = to_request
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

    async def _read(self) -> Any:  # noqa: ANN401 - bytes, or gRPC's mark of the end
        """Returns the one message, then the end. Raises InvalidRequestError."""
        if self._is_read:
            return EOF
        self._is_read = True
        self._check_media_type()
        body = await self._body()
        if len(body) <= 1 << 16:
            return self._to_request(body)
        return await asyncio.to_thread(self._to_request, body)  # no other call waits for it

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


class EventStream:
    """Server-sent events of one request, begun with the first."""

    def __init__(self, send: Send, exchange: Exchange) -> None:
        self._send = send
        self._exchange = exchange
        self._has_begun = False

    async def write(self, data: bytes) -> None:
        """Sends one message, as fast as the client takes it."""
        await self._event(self._exchange.event_name(data), self._exchange.response(data))

    async def end(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
        """Ends the stream."""
        await self._begin()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def fail(self, problem: Problem) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        """Returns what tells a problem: a last event if there were others, else a response with its own code."""
        if not self._has_begun:
            return problem_response(problem)

        async def tell(scope: Scope, receive: Receive, send: Send) -> None:
            await self._event("error", problem.to_json())
            await self.end(scope, receive, send)

        return tell

    async def _event(self, name: str, data: bytes) -> None:
        await self._begin()
        body = b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"  # JSON has no line break of its own
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _begin(self) -> None:
        if not self._has_begun:
            self._has_begun = True
            headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})


def problem_response(problem: Problem) -> Response:
    """Returns a problem as a whole response."""
    return Response(problem.to_json(), problem.http_code, problem.headers, MEDIA_TYPE)
