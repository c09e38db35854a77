"""What the frame around handlers does with handlers that misbehave and clients that leave."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2
from grpc import StatusCode
from grpc.aio import Channel

from inference.errors import QueueFullError
from server.observe.metrics import CallMetrics, new_registry
from server.rpc.admission import Context
from server.rpc.calls import CallRunner
from server.rpc.handlers import HandlerTable
from server.rpc.record import current_call
from tests.fakes import listening
from tests.integration.support.log_lines import log_lines
from tests.integration.support.rich_errors import details_of, error_of, reason_of, retry_delay_s

Unary = Callable[[Any, Context], Awaitable[StringValue]]
Stream = Callable[[Any, Context], AsyncGenerator[StringValue, None]]

LISTEN = listening(max_send=10_000)
LARGEST = "x" * (10_000 - 3)  # a tag and the length go before it


@asynccontextmanager
async def channel_to(*, unary: Unary | None = None, stream: Stream | None = None) -> AsyncIterator[Channel]:
    """A server with the methods test.Test/Unary and test.Test/Stream inside the frame, and a channel to it."""
    maker: Any = grpc
    parse, write = StringValue.FromString, StringValue.SerializeToString
    table = HandlerTable(CallRunner(LISTEN, CallMetrics(new_registry())))
    table.add_registered_method_handlers(
        "test.Test",
        {
            "Unary": maker.unary_unary_rpc_method_handler(unary, parse, write),
            "Stream": maker.stream_stream_rpc_method_handler(stream, parse, write),
        },
    )
    table.open()
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((table,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


async def call_unary(channel: Channel, data: bytes = b"") -> StringValue:
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, StringValue] = channel.unary_unary(
        "/test.Test/Unary", response_deserializer=StringValue.FromString
    )
    return await call(data)


def call_stream(channel: Channel) -> Any:  # noqa: ANN401 - a call
    stream: Any = channel.stream_stream("/test.Test/Stream", response_deserializer=StringValue.FromString)
    return stream()


async def test_an_unknown_error_is_internal_without_its_text_and_logged_under_its_id() -> None:
    async def broken(request: StringValue, context: Context) -> StringValue:
        raise ValueError("the user's secret")

    with log_lines() as lines:
        async with channel_to(unary=broken) as channel:
            error = await error_of(call_unary(channel))
        assert error.code() is StatusCode.INTERNAL
        assert "secret" not in repr(error)
        call_id = details_of(error, error_details_pb2.RequestInfo()).request_id
        assert await lines.wait_for("event=unknown_error", f"id={call_id}")


async def test_a_cancellation_that_no_client_asked_for_is_an_error_and_not_silence() -> None:
    async def broken(request: StringValue, context: Context) -> StringValue:
        lost: asyncio.Future[StringValue] = asyncio.get_running_loop().create_future()
        lost.cancel()
        return await lost

    async with channel_to(unary=broken) as channel:
        assert (await error_of(call_unary(channel))).code() is StatusCode.INTERNAL


async def test_an_abort_by_the_handler_keeps_its_code() -> None:
    async def aborting(request: StringValue, context: Context) -> StringValue:
        await context.abort(StatusCode.NOT_FOUND, "nothing of that name")

    with log_lines() as lines:
        async with channel_to(unary=aborting) as channel:
            assert (await error_of(call_unary(channel))).code() is StatusCode.NOT_FOUND
        await lines.wait_for("rpc=test.Test/Unary", "code=NOT_FOUND")


async def test_an_error_ends_a_stream_behind_what_was_sent() -> None:
    async def failing(requests: AsyncIterator[StringValue], context: Context) -> AsyncGenerator[StringValue, None]:
        yield StringValue(value="first")
        raise QueueFullError(0.5)

    async with channel_to(stream=failing) as channel:
        call = call_stream(channel)
        assert (await call.read()).value == "first"
        error = await error_of(call.read())
    assert (error.code(), retry_delay_s(error)) == (StatusCode.RESOURCE_EXHAUSTED, 0.5)


async def test_a_response_that_is_too_large_is_refused_with_what_to_do_and_logged_as_it_is_told() -> None:
    async def echo(request: StringValue, context: Context) -> StringValue:
        return request

    async def growing(requests: AsyncIterator[StringValue], context: Context) -> AsyncGenerator[StringValue, None]:
        yield StringValue(value=LARGEST)
        yield StringValue(value=LARGEST + "x")

    with log_lines() as lines:
        async with channel_to(unary=echo, stream=growing) as channel:
            assert (await call_unary(channel, StringValue(value=LARGEST).SerializeToString())).value == LARGEST
            call = call_stream(channel)
            assert (await call.read()).value == LARGEST
            too_large = call_unary(channel, StringValue(value=LARGEST + "x").SerializeToString())
            for error in (await error_of(too_large), await error_of(call.read())):
                assert (error.code(), reason_of(error)) == (StatusCode.RESOURCE_EXHAUSTED, "RESPONSE_TOO_LARGE")
                assert "`view`" in (error.details() or "")
        for rpc in ("Unary", "Stream"):
            await lines.wait_for(f"rpc=test.Test/{rpc}", "code=RESOURCE_EXHAUSTED")


async def test_a_client_that_leaves_closes_the_handlers_generator_at_once() -> None:
    closed = asyncio.Event()

    async def endless(requests: AsyncIterator[StringValue], context: Context) -> AsyncGenerator[StringValue, None]:
        try:
            while True:
                yield StringValue(value="x" * 1000)
        finally:
            closed.set()

    with log_lines() as lines:
        async with channel_to(stream=endless) as channel:
            call = call_stream(channel)
            await call.read()
            call.cancel()
            await closed.wait()
            line = await lines.wait_for("rpc=test.Test/Stream", "code=CANCELLED")
    assert "items=0" not in line.split()


async def test_every_call_has_a_record_of_its_own() -> None:
    started = asyncio.Event()

    async def recording(request: StringValue, context: Context) -> StringValue:
        first = current_call()
        if request.value == "wait":
            await started.wait()
        else:
            started.set()
        assert current_call() is first
        return StringValue(value=first.call_id)

    async with channel_to(unary=recording) as channel:
        waiting = asyncio.ensure_future(call_unary(channel, StringValue(value="wait").SerializeToString()))
        other = await call_unary(channel)
        assert (await waiting).value != other.value


async def test_an_unknown_method_is_unimplemented() -> None:
    async with channel_to() as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/test.Test/Nothing")
        assert (await error_of(call(b""))).code() is StatusCode.UNIMPLEMENTED
