"""Takes the handlers of generated services, frames them, and offers them to gRPC as one table.

One OpenTelemetry span for each RPC: the root of its trace, or a child of the caller's span.

Attributes after https://opentelemetry.io/docs/specs/semconv/rpc/grpc/. A `traceparent` in the metadata is honoured.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import grpc
from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from inference.errors import ShuttingDownError
from server.errors import StartingError
from server.rpc.admission import Context
from server.rpc.calls import CallRunner, Check, RawHandler
from server.rpc.record import current_call
from server.rpc.wire import NO_LIMIT, tolerant

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"  # a string: generic for the type checker alone


class HandlerTable(grpc.GenericRpcHandler):
    """All methods of the server in one dictionary.

    Stands in for the server in the generated `add_XServicer_to_server`, so that servicers stay plain generated classes.
    """

    def __init__(
        self, runner: CallRunner | None, *, limits: Mapping[str, int] | None = None, is_traced: bool = False
    ) -> None:
        """Makes an empty table; with a runner it is closed until `open`.

        Args:
            runner: frames the handlers. None: they stay as they are.
            limits: bytes of a message, by service.
            is_traced: gives every call a span.
        """
        self._runner = runner
        self._limits = limits or {}
        self._is_traced = is_traced
        self.checks: dict[str, Check] = {}  # by RPC: what may refuse its calls before their message is read
        self._handlers: dict[str, Handler] = {}
        self._is_open = runner is None
        self._closed = _refusal(runner, "starting", StartingError) if runner else None

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Handler]) -> None:
        """Wraps and keeps the handlers of one service."""
        for method, handler in handlers.items():
            max_bytes = self._limits.get(service, NO_LIMIT)
            self._handlers[f"/{service}/{method}"] = self._wrapped(f"{service}/{method}", handler, max_bytes)

    def add_generic_rpc_handlers(self, handlers: object) -> None:
        """Ignores them: generated code offers the same handlers a second time, for old servers."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "Handler | None":
        """Finds the handler of one call."""
        return self.find(handler_call_details.method)

    def find(self, method: str) -> "Handler | None":
        """Finds a handler by the path of its method."""
        return self._handlers.get(method) if self._is_open else self._closed

    def behavior(self, method: str) -> RawHandler:
        """Returns what runs a method, for what is not gRPC: it takes a context, and gives bytes."""

        async def call(request: object, context: Context) -> bytes | None:
            handler = self.find(method)
            run = cast(RawHandler, handler and (handler.stream_unary or handler.stream_stream))
            return await run(request, context)

        return call

    def open(self) -> None:
        """Lets calls through to the handlers that were added; before, all are UNAVAILABLE."""
        self._is_open = True

    def close(self) -> None:
        """Refuses new calls, as UNAVAILABLE; those in flight go on."""
        if self._runner is not None:
            self._is_open = False
            self._closed = _refusal(self._runner, "stopping", ShuttingDownError)

    def _wrapped(self, rpc: str, handler: Handler, max_bytes: int) -> Handler:
        """Returns a handler of bytes. To gRPC every method takes a stream: else it would read before we are asked."""
        runner = self._runner
        if runner is None:
            return handler
        inner: Any = handler.unary_unary or handler.unary_stream or handler.stream_stream
        unchecked: Any = handler.request_deserializer
        parse = tolerant(unchecked, type(unchecked(b"")), max_bytes)
        if handler.request_streaming:
            behavior = runner.stream(rpc, inner, parse)
        elif handler.response_streaming:
            behavior = runner.server_stream(rpc, inner, parse)
        else:
            behavior = runner.unary(rpc, inner, parse, self.checks.get(rpc))
        if self._is_traced:
            behavior = in_span(rpc, behavior)
        if handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(behavior)
        return grpc.stream_unary_rpc_method_handler(behavior)


def _refusal(runner: CallRunner, name: str, make_error: Callable[[], Exception]) -> Handler:
    behavior: Any = runner.refusing(name, make_error)
    return grpc.stream_stream_rpc_method_handler(behavior)


_tracer = trace.get_tracer("precis.server")
_propagator = TraceContextTextMapPropagator()

# For these the conventions blame the server; the other codes are answers to the caller.
_SERVER_ERRORS = {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}


def in_span(rpc: str, handler: RawHandler) -> RawHandler:
    """Wraps what CallRunner makes of a handler: all that the call does is part of its trace."""
    attributes = {"rpc.system.name": "grpc", "rpc.method": rpc}

    async def call(request: object, context: Context) -> bytes | None:
        metadata = context.invocation_metadata() or ()
        said = {key: value for key, value in metadata if isinstance(value, str) and key in _propagator.fields}
        parent = _propagator.extract(said)
        with _tracer.start_as_current_span(
            rpc, parent, SpanKind.SERVER, attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                return await handler(request, context)
            finally:
                record = current_call()  # by its id its log line is found
                span.set_attributes({"rpc.response.status_code": record.code, "precis.call_id": record.call_id})
                if record.code in _SERVER_ERRORS:
                    span.set_status(Status(StatusCode.ERROR))

    return call


def name_session(summary_id: str) -> None:
    """Puts the present call among those of its summary; trace viewers show them together."""
    trace.get_current_span().set_attributes({"session.id": summary_id, "precis.summary_id": summary_id})
