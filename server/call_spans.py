"""One OpenTelemetry span for each RPC: the root of its trace, or a child of the caller's span.

Attributes after https://opentelemetry.io/docs/specs/semconv/rpc/grpc/. A `traceparent` in the metadata is honoured.
"""

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from server.calls import Context, UnaryHandler, current_call

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
