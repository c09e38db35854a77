"""What happens around every call: its id, admission, errors, one log line, metrics.

One wrapper around each handler does it all, and costs a few microseconds: what does not change between calls is bound
at the start. Interceptors of grpc.aio would cost a coroutine each in every call.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any

import grpc
from grpc.aio import EOF, AbortError
from opentelemetry import trace
from precis.v1.common_pb2 import ItemError

from server.config import ListenConfig, QuotaConfig
from server.errors import (
    ResponseTooLargeError,
    UnauthenticatedError,
    refusal,
    rule_for,
)
from server.observe.log import Repeats
from server.observe.metrics import CallMetrics, Observe
from server.rpc.admission import MIB, CallAdmission, Context, Place, host_of
from server.rpc.auth import Caller, KeyRing
from server.rpc.quota import Quotas
from server.rpc.record import CallRecord, begin, current_call, new_call_id, serving
from server.rpc.status import has_passed, to_item_error, to_status
from server.rpc.wire import readable

UnaryHandler = Callable[[Any, Context], Awaitable[Any]]
StreamHandler = Callable[[Any, Context], AsyncGenerator[Any, None]]
RawHandler = Callable[[Any, Context], Awaitable[bytes | None]]
Parse = Callable[[bytes], object]
Check = Callable[[Context], None]

LINE = "id=%s rpc=%s code=%s ms=%.1f queue_ms=%.1f items=%d peer=%s caller=%s"
OK = grpc.StatusCode.OK.name

logger = logging.getLogger(__name__)


class CallRunner:
    """Runs the handlers of all services inside the same frame.

    Messages are bytes here. A caller without a key or a place is refused before its message is read. A message that is
    too large is refused before it is parsed, an answer before gRPC refuses it. An answer counts until its client has
    taken it.
    """

    def __init__(
        self,
        listen: ListenConfig,
        metrics: CallMetrics,
        *,
        keys: KeyRing | None = None,
        quotas: Mapping[str, QuotaConfig] | None = None,
        ok_call_sample: int = 1,
    ) -> None:
        """Takes the bounds; who may call, None: anybody; and of how many successful calls one gets a log line."""
        self._listen = listen
        self._metrics = metrics
        self._ok_call_sample = ok_call_sample
        self._admission = CallAdmission(listen, keys, Quotas(quotas) if quotas else None)
        self.is_busy = self._admission.is_busy
        self._ok_count = 0
        self._refusals = Repeats()
        self._unknown_key = to_status(UnauthenticatedError(), "")
        metrics.watch(lambda: self._admission.calls.used, lambda: self._admission.unsent.used)

    @contextmanager
    def on_behalf(self, tenant: str) -> Iterator[None]:
        """Runs what an earlier call submitted: at its tenant's cost, and never refused, for that call was let in."""
        caller = Caller(tenant=tenant, share=tenant)
        quota = self._admission.quota_of(caller)
        record = CallRecord(new_call_id(), time.monotonic(), caller, quota, asks_model=True, is_background=True)
        with serving(record):
            yield

    def unary(self, rpc: str, handler: UnaryHandler, parse: Parse, check: Check | None = None) -> RawHandler:
        """Wraps a handler that takes one message and returns one; `check` may refuse before the message is read."""

        async def answer(place: Place, context: Context) -> bytes:
            if check is not None:
                check(context)
            request = await _first(place, context, parse, self._listen.body_timeout_s)
            raw = self._bytes_of(await handler(request, context))
            place.hold(context, len(raw))
            return raw

        return self._framed(rpc, answer)

    def server_stream(self, rpc: str, handler: StreamHandler, parse: Parse) -> RawHandler:
        """Wraps a handler that takes one message and yields responses."""

        async def answer(place: Place, context: Context) -> None:
            request = await _first(place, context, parse, self._listen.body_timeout_s)
            await self._write_all(place, handler(request, context), context)

        return self._framed(rpc, answer)

    def stream(self, rpc: str, handler: StreamHandler, parse: Parse) -> RawHandler:
        """Wraps a handler that takes a stream of messages and yields responses."""

        async def answer(place: Place, context: Context) -> None:
            async with aclosing(_messages(place, context, parse, self._listen.idle_timeout_s)) as messages:
                await self._write_all(place, handler(messages, context), context)

        return self._framed(rpc, answer)

    def refusing(self, rpc: str, make_error: Callable[[], Exception]) -> RawHandler:
        """Makes a handler that ends every call of a caller who may call, before its message is read."""

        async def answer(_place: Place, _context: Context) -> None:
            raise make_error()

        return self._framed(rpc, answer)

    async def _write_all(self, place: Place, responses: AsyncGenerator[Any, None], context: Context) -> None:
        """Writes responses as fast as the client takes them. Raises RequestTimeoutError.

        A client that leaves closes the generator at once. grpc.aio's own loop over the generator would leave that to
        garbage collection.
        """
        has_begun = False
        async with aclosing(responses):
            async for response in responses:
                if not has_begun:  # as part of a message that waits, the headers would leave no way to end it
                    await context.send_initial_metadata(())
                    has_begun = True
                await place.write(context, self._bytes_of(response), self._listen.idle_timeout_s)
                current_call().item_count += 1

    def _bytes_of(self, response: Any) -> bytes:  # noqa: ANN401 - a message of any type
        """Returns a response, or in place of an item's that is too large its error. Raises ResponseTooLargeError.

        gRPC would end the call, with the neighbours of the item, and log it as an error nobody foresaw.
        """
        raw: bytes = response.SerializeToString()
        most = self._listen.max_send_mib * MIB
        if len(raw) <= most:
            return raw
        error = ResponseTooLargeError(len(raw), most)
        if not isinstance(getattr(response, "error", None), ItemError):
            raise error
        response.error.CopyFrom(to_item_error(error, current_call().call_id))  # takes the place of its outcome
        return bytes(response.SerializeToString())

    def _framed(self, rpc: str, answer: Callable[[Place, Context], Awaitable[bytes | None]]) -> RawHandler:
        observe = self._metrics.method(rpc)

        async def call(_: object, context: Context) -> bytes | None:
            # grpc.aio runs every call in a task of its own, hence in its own context.
            record = begin(CallRecord(new_call_id(), time.monotonic()))
            code, status = OK, None
            try:
                record.caller = self._admission.caller_of(context)
                record.quota = self._admission.quota_of(record.caller)
                with self._admission.enter(record.caller, record.quota, context.peer()) as place:
                    record.place = place
                    return await answer(place, context)
            except BaseException as error:
                code = _code_of(error, context)
                if _is_passed_on(error):
                    raise
                if isinstance(error, UnauthenticatedError):
                    record.caller, status = Caller(error.key), self._unknown_key
                else:
                    status = to_status(error, record.call_id)
            finally:
                self._leave(rpc, record, code, observe, context)
            # Outside of `except`: gRPC keeps the error of the abort, and with its context it would keep the request.
            return await context.abort_with_status(status)

        return call

    def _leave(self, rpc: str, record: CallRecord, code: str, observe: Observe, context: Context) -> None:
        record.code = code
        record.charge()
        seconds = time.monotonic() - record.started_s
        span = trace.get_current_span().get_span_context()
        observe(code, seconds, f"{span.trace_id:032x}" if span.trace_flags.sampled else None)
        if record.caller.key and record.caller.tenant and record.item_count:
            self._metrics.waited(record.caller.key, record.queue_ms / 1e3)
        if logger.isEnabledFor(logging.INFO) and self._is_logged(rpc, code, record.caller, context.peer()):
            queue_ms, items, peer = record.queue_ms, record.item_count, context.peer()
            key = record.caller.key or "-"
            logger.info(LINE, record.call_id, rpc, code, seconds * 1e3, queue_ms, items, peer, key)

    def _is_logged(self, rpc: str, code: str, caller: Caller, peer: str) -> bool:
        if code == OK:
            self._ok_count += 1
            return self._ok_call_sample > 0 and self._ok_count % self._ok_call_sample == 0
        is_common = code in {"UNAUTHENTICATED", "RESOURCE_EXHAUSTED"}  # as many as a crowd likes
        return not is_common or self._refusals.is_new(code, rpc, caller.key if caller.tenant else host_of(peer))


def _is_passed_on(error: BaseException) -> bool:
    """Tells whether an error must leave the handler as it is.

    grpc.aio cancels a call's task when its client has left or its deadline has passed, and answers nothing then. A
    CancelledError that comes from elsewhere (a bug below) is an unknown error: passed on, it would leave the client
    waiting for ever.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, AbortError) or not isinstance(error, Exception)


def _code_of(error: BaseException, context: Context) -> str:
    """Names the status that the call ends with, as the client sees it."""
    if not _is_passed_on(error):
        return rule_for(error).code.name
    if isinstance(error, asyncio.CancelledError):
        remaining_s: float | None = context.time_remaining()
        is_late = remaining_s is not None and has_passed(remaining_s, time.monotonic() - current_call().started_s)
        return (grpc.StatusCode.DEADLINE_EXCEEDED if is_late else grpc.StatusCode.CANCELLED).name
    code: object = context.code()
    return code.name if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN.name


async def _first(place: Place, context: Context, parse: Parse, timeout_s: float) -> object:
    """Returns the one message of a call. Raises RequestTimeoutError, TooManyCallsError or InvalidRequestError."""
    data = await place.read(context, timeout_s)
    if data is EOF:
        raise refusal("", "expected a message, got none")
    place.receive_whole(len(data))
    return readable(parse(data))


async def _messages(place: Place, context: Context, parse: Parse, timeout_s: float) -> AsyncGenerator[object, None]:
    """Yields what a client sends, as fast as its quota allows. Raises RequestTimeoutError or TooManyCallsError.

    A message counts until it is finished by whoever took it, else until the next is asked for.
    """
    while (data := await place.read(context, timeout_s)) is not EOF:
        place.receive(len(data))
        yield parse(data)
        place.finish(place.take())
        if (owed_s := current_call().charge()) > 0:
            await asyncio.sleep(owed_s)
