"""Takes the handlers of generated services, frames them, and offers them to gRPC as one table.

One OpenTelemetry span for each RPC: the root of its trace, or a child of the caller's span.

Attributes after https://opentelemetry.io/docs/specs/semconv/rpc/grpc/. A `traceparent` in the metadata is honoured.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import grpc
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from server.rpc.calls import CallRunner, Context, UnaryHandler, current_call
from server.rpc.wire import tolerant

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"  # a string: generic for the type checker alone


class HandlerTable(grpc.GenericRpcHandler):
    """All methods of the server in one dictionary.

    Stands in for the server in the generated `add_XServicer_to_server`, so that servicers stay plain generated classes.
    """

    def __init__(self, runner: CallRunner | None, *, is_traced: bool = False) -> None:
        """Takes handlers as they are when there is no runner; `is_traced` gives every call a span."""
        self._runner = runner
        self._is_traced = is_traced
        self._handlers: dict[str, Handler] = {}

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Handler]) -> None:
        """Wraps and keeps the handlers of one service."""
        for method, handler in handlers.items():
            self._handlers[f"/{service}/{method}"] = self._wrapped(f"{service}/{method}", handler)

    def add_generic_rpc_handlers(self, handlers: object) -> None:
        """Ignores them: generated code offers the same handlers a second time, for old servers."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "Handler | None":
        """Finds the handler of one call."""
        return self._handlers.get(handler_call_details.method)

    def _wrapped(self, rpc: str, handler: Handler) -> Handler:
        runner = self._runner
        if runner is None:
            return handler
        inner: Any = handler.unary_unary or handler.stream_unary or handler.unary_stream or handler.stream_stream
        behavior = runner.stream(rpc, inner) if handler.response_streaming else runner.unary(rpc, inner)
        if self._is_traced:
            behavior = in_span(rpc, behavior)
        return _maker_of(handler)(behavior, _tolerant(handler), handler.response_serializer)


def _maker_of(handler: Handler) -> Callable[..., Handler]:
    if handler.request_streaming:
        return (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )
    return grpc.unary_stream_rpc_method_handler if handler.response_streaming else grpc.unary_unary_rpc_method_handler


def _tolerant(handler: Handler) -> Callable[[bytes], object]:
    parse: Any = handler.request_deserializer
    return tolerant(parse, type(parse(b"")))


_tracer = trace.get_tracer("precis.server")
_propagator = TraceContextTextMapPropagator()

# For these the conventions blame the server; the other codes are answers to the caller.
_SERVER_ERRORS = {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}


def in_span(rpc: str, handler: UnaryHandler) -> UnaryHandler:
    """Wraps what CallRunner makes of a handler: all that the call does is part of its trace."""
    attributes = {"rpc.system.name": "grpc", "rpc.method": rpc}

    async def call(request: object, context: Context) -> object:
        parent = _propagator.extract(_headers(context))
        with _tracer.start_as_current_span(
            rpc,
            parent,
            SpanKind.SERVER,
            attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                return await handler(request, context)
            finally:
                _note_end(span)

    return call


def name_session(summary_id: str) -> None:
    """Puts the present call among those of its summary; trace viewers show them together."""
    trace.get_current_span().set_attributes({"session.id": summary_id, "precis.summary_id": summary_id})


def _headers(context: Context) -> dict[str, str]:
    """Returns what the caller said of its trace."""
    metadata = context.invocation_metadata() or ()
    return {key: value for key, value in metadata if isinstance(value, str) and key in _propagator.fields}


def _note_end(span: Span) -> None:
    """Adds how the call ended, and the id by which its log line is found."""
    record = current_call()
    span.set_attributes({"rpc.response.status_code": record.code, "precis.call_id": record.call_id})
    if record.code in _SERVER_ERRORS:
        span.set_status(Status(StatusCode.ERROR))
