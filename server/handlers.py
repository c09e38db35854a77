"""Takes the handlers of generated services, frames them, and offers them to gRPC as one table."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import grpc

from server.call_spans import in_span
from server.calls import CallRunner
from server.wire import tolerant

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
