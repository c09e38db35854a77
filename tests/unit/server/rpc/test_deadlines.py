"""Deadlines that passed, and clients that left."""

import asyncio

import grpc
import pytest

from server.rpc.status import has_passed, rounding_s


@pytest.mark.parametrize(
    ("timeout_s", "remaining_s"),
    [
        (0.05, 0.004),  # the reset came a little before our clock was there
        (0.3, 0.0),
        (0.3, -0.1),
        (0.3, 0.015),
        (2.24, 0.006),  # 2.2341 s
        (12.4, 0.06),  # 12.34 s
        (61.1, 0.09),  # 61.01 s
        (124, 0.55),  # 123.45 s
        (4010, 9.5),  # 4000.5 s
    ],
)
def test_a_call_that_was_cancelled_at_its_deadline_has_met_it(timeout_s: float, remaining_s: float) -> None:
    assert has_passed(remaining_s, timeout_s - remaining_s)


@pytest.mark.parametrize(
    ("timeout_s", "remaining_s"),
    [(0.03, 0.02), (0.1, 0.045), (0.3, 0.03), (1.0, 0.04), (9.0, 0.05), (30, 0.4), (30, 29.9), (90, 0.5), (9000, 50)],
)
def test_a_client_that_leaves_before_has_cancelled(timeout_s: float, remaining_s: float) -> None:
    assert not has_passed(remaining_s, timeout_s - remaining_s)


async def test_grpc_rounds_timeouts_up_by_no_more_than_we_think() -> None:
    """Asks the library itself, whose encoding may change."""
    seen: asyncio.Queue[float] = asyncio.Queue()

    async def tell(_: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        seen.put_nowait(context.time_remaining())
        return b""

    server = grpc.aio.server()
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {"Tell": grpc.unary_unary_rpc_method_handler(tell)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Deadline", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/test.Deadline/Tell")
            for timeout_s in (1.503, 9.999, 10.01, 12.34, 61.01, 99.95, 123.45, 999.5, 1000.5, 4000.5, 86_399.0):
                await call(b"", timeout=timeout_s)
                told_s = await seen.get()
                assert told_s - timeout_s <= rounding_s(told_s), timeout_s
    finally:
        await server.stop(None)
