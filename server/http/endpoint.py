"""One path: an HTTP request in, one RPC through the frame around every call, its answer or a problem out."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import grpc
from google.protobuf.message import Message as ProtoMessage
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.errors import InvalidRequestError
from server.http.context import HttpContext
from server.http.exchanges import Exchange, MakeExchange
from server.http.problem import MEDIA_TYPE, Problem, ProblemError, plain_problem, to_problem
from server.rpc.calls import RawHandler
from server.rpc.relayed import AbortedError
from server.rpc.status import to_status

logger = logging.getLogger(__name__)

CANCELLED = plain_problem(grpc.StatusCode.CANCELLED, "the caller has left")


@dataclass(frozen=True, slots=True)
class Terms:
    """What one path offers.

    Attributes:
        make: makes the exchange of one request.
        event_name: names an event of a stream by the bytes of its message; None: there is one answer.
        max_body_bytes: of a request.
        max_timeout_s: after which a call ends at the latest; None: it may take as long as it does.
    """

    make: MakeExchange
    event_name: Callable[[bytes], str] | None
    max_body_bytes: int
    max_timeout_s: float | None


class CallEndpoint:
    """An ASGI application for one RPC."""

    def __init__(self, behavior: RawHandler, terms: Terms) -> None:
        self._behavior = behavior
        self._terms = terms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        exchange = self._terms.make()
        events = EventStream(send, exchange, self._terms.event_name)
        context = HttpContext(
            scope,
            receive,
            to_request=exchange.request,
            write=events.write,
            max_body_bytes=self._terms.max_body_bytes,
        )
        try:
            answer = await self._answer(context, exchange, events)
            await answer(scope, receive, send)
        finally:
            context.done()

    async def _answer(
        self, context: HttpContext, exchange: Exchange, events: "EventStream"
    ) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        """Runs the call and returns what is still to be sent."""
        try:
            context.set_timeout(self._terms.max_timeout_s)
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

    async def _run(self, context: HttpContext) -> bytes | None:
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


class EventStream:
    """Server-sent events of one request, begun with the first."""

    def __init__(self, send: Send, exchange: Exchange, event_name: Callable[[bytes], str] | None) -> None:
        self._send = send
        self._exchange = exchange
        self._event_name = event_name
        self._has_begun = False

    async def write(self, data: bytes) -> None:
        """Sends one message, as fast as the client takes it."""
        name = self._event_name(data) if self._event_name else "message"
        await self._event(name, self._exchange.response(data))

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


def event_name(message_type: type[ProtoMessage]) -> Callable[[bytes], str]:
    """Returns what names the events of a stream: the field of the oneof that is set."""

    def name(data: bytes) -> str:
        message = message_type.FromString(data)
        while not message.DESCRIPTOR.oneofs:
            [(_, message)] = message.ListFields()
        return message.WhichOneof(message.DESCRIPTOR.oneofs[0].name) or "message"

    return name
