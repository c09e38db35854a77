"""What happens around every call: its id, admission, errors, one log line, metrics.

One hand-written wrapper around each handler does it all. A chain of grpc.aio interceptor objects would cost a coroutine
for each of them in every call; this costs a few microseconds, because whatever does not change between calls is bound
when the server starts.
"""

import asyncio
import itertools
import logging
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
from grpc.aio import AbortError, ServicerContext

from server.errors import InvalidRequestError, TooManyCallsError, rule_for
from server.observe.metrics import CallMetrics, MethodMetrics
from server.rpc.auth import KeyRing
from server.rpc.status import has_passed, to_status
from server.rpc.wire import MalformedRequest

Context = ServicerContext[Any, Any]
UnaryHandler = Callable[[Any, Context], Awaitable[Any]]
StreamHandler = Callable[[Any, Context], AsyncGenerator[Any, None]]

RETRY_AFTER_S = 1.0  # calls take tens of milliseconds: by then the crowd has gone
LINE = "id=%s rpc=%s code=%s ms=%.1f queue_ms=%.1f items=%d peer=%s"
OK = grpc.StatusCode.OK.name

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class CallRecord:
    """What the log line says about one call. Servicers fill in the two before the last.

    Attributes:
        call_id: unique among the calls of all server processes.
        started_s: `time.monotonic` when the request had been read.
        queue_ms: how long the call's items waited for a worker.
        item_count: texts or pairs of the request, or responses of a stream.
    """

    call_id: str
    started_s: float
    queue_ms: float = 0.0
    item_count: int = 0
    code: str = "OK"


_current: ContextVar[CallRecord] = ContextVar("current_call")


def current_call() -> CallRecord:
    """Returns the record of the call that the running task serves."""
    return _current.get()


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """What every call is subject to.

    Attributes:
        max_concurrent_calls: more are refused.
        ok_call_sample: one of N successful calls gets a log line; 0: none.
        keys: who may call; None: anybody.
    """

    max_concurrent_calls: int
    ok_call_sample: int = 1
    keys: KeyRing | None = None


class CallRunner:
    """Runs the handlers of all services inside the same frame."""

    def __init__(self, policy: CallPolicy, metrics: CallMetrics) -> None:
        self._policy = policy
        self._metrics = metrics
        self._call_ids = _call_ids()
        self._in_flight = 0
        self._ok_count = 0
        metrics.watch_in_flight(lambda: self._in_flight)

    def unary(self, rpc: str, handler: UnaryHandler) -> UnaryHandler:
        """Wraps a handler that returns one response."""
        metrics = self._metrics.method(rpc)

        async def call(request: object, context: Context) -> object:
            record = self._enter()
            code = OK
            try:
                self._admit(request, context)
                return await handler(request, context)
            except BaseException as error:  # noqa: BLE001  _end raises it or the abort
                code = _code_of(error, context)
                await _end(error, context, record.call_id)
            finally:
                self._leave(record, code, metrics, context)

        return call

    def stream(self, rpc: str, handler: StreamHandler) -> UnaryHandler:
        """Wraps a handler that yields responses.

        Writing them here, and not through grpc.aio's own loop over the generator, means that a client that leaves
        closes the generator at once instead of when it is garbage collected.
        """
        metrics = self._metrics.method(rpc)

        async def call(request: object, context: Context) -> None:
            record = self._enter()
            code = OK
            try:
                self._admit(request, context)
                async with aclosing(handler(request, context)) as responses:
                    async for response in responses:
                        await context.write(response)
                        record.item_count += 1
            except BaseException as error:  # noqa: BLE001  _end raises it or the abort
                code = _code_of(error, context)
                await _end(error, context, record.call_id)
            finally:
                self._leave(record, code, metrics, context)

        return call

    def _enter(self) -> CallRecord:
        record = CallRecord(next(self._call_ids), time.monotonic())
        _current.set(record)  # grpc.aio runs every call in a task of its own, hence in its own context
        self._in_flight += 1
        return record

    def _admit(self, request: object, context: Context) -> None:
        if self._policy.keys is not None:
            self._policy.keys.check(context.invocation_metadata())
        if self._in_flight > self._policy.max_concurrent_calls:
            raise TooManyCallsError(self._policy.max_concurrent_calls, retry_after_s=RETRY_AFTER_S)
        if type(request) is MalformedRequest:
            raise InvalidRequestError([request.violation])

    def _leave(self, record: CallRecord, code: str, metrics: MethodMetrics, context: Context) -> None:
        self._in_flight -= 1
        record.code = code
        seconds = time.monotonic() - record.started_s
        metrics.observe(code, seconds)
        if self._is_logged(code) and logger.isEnabledFor(logging.INFO):
            queue_ms, items, peer = record.queue_ms, record.item_count, context.peer()
            logger.info(LINE, record.call_id, metrics.rpc, code, seconds * 1e3, queue_ms, items, peer)

    def _is_logged(self, code: str) -> bool:
        if code != OK:
            return True
        self._ok_count += 1
        sample = self._policy.ok_call_sample
        return sample > 0 and self._ok_count % sample == 0


def _call_ids() -> Iterator[str]:
    """Yields ids: a random part for the process, then a count. 20 times cheaper than a UUID for each call."""
    process = os.urandom(4).hex()
    return (f"{process}-{number:x}" for number in itertools.count(1))


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


async def _end(error: BaseException, context: Context, call_id: str) -> NoReturn:
    """Ends a call that failed: sends the status, or passes the error on."""
    if _is_passed_on(error):
        raise error
    await context.abort_with_status(to_status(error, call_id))
