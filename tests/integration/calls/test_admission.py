"""Who is let in: keys before bodies, places that idle clients cannot keep, shares, and bytes in both directions."""

import asyncio
import gc
import struct
import weakref
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc import StatusCode
from grpc.aio import AioRpcError, Channel
from grpc_health.v1.health_pb2 import HealthCheckRequest
from precis.v1.evaluate_pb2 import EvaluateStreamRequest
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from inference.errors import QueueFullError
from scripts.benchmarks.shared import http2
from server.config import ListenConfig
from server.observe.metrics import CallMetrics, new_registry
from server.rpc import listener
from server.rpc.calls import CallRunner
from tests.integration.conftest import Connect
from tests.integration.support.gate import Gate
from tests.integration.support.metrics_page import scrape
from tests.integration.support.raw_http2 import deaf_client
from tests.integration.support.rich_errors import bearer, error_of, reason_of, retry_delay_s
from tests.integration.support.untyped_stubs import health_stub

EMBED = "/precis.v1.InferenceService/Embed"
EVALUATE_STREAM = "/precis.v1.EvaluateService/EvaluateStream"
CHECK = "/grpc.health.v1.Health/Check"
ONE = EmbedRequest(texts=["w1 w2"])


def bodiless(channel: Channel, method: str = EMBED) -> Any:  # noqa: ANN401 - a call
    """Begins a call whose message never comes."""

    async def nothing() -> AsyncIterator[bytes]:
        await asyncio.get_running_loop().create_future()
        yield b""

    call: Any = channel.stream_unary(method)
    return call(nothing())


async def test_calls_without_a_key_end_before_their_message_comes_and_share_a_line(
    connected: Connect, keys_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with connected(auth={"keys_file": keys_file}, listen={"body_timeout_s": 1000}) as (app, channel):
        for _ in range(20):
            assert (await error_of(bodiless(channel))).code() is StatusCode.UNAUTHENTICATED
        for key, code in (("wrong", StatusCode.UNAUTHENTICATED), ("owner", StatusCode.OK)):
            assert await InferenceServiceStub(channel).Embed(ONE, metadata=bearer(key)).code() is code
        assert await health_stub(channel).Check(HealthCheckRequest())
        assert (await scrape(app))[f"precis_calls_total,UNAUTHENTICATED,{EMBED[1:]}"] == 21
    assert caplog.text.count("code=UNAUTHENTICATED") == 1


async def test_a_full_queue_refuses_before_the_message_comes(connected: Connect, gate: Gate) -> None:
    async with connected(inference={"queue": {"max_queue_items": 1}}, listen={"body_timeout_s": 1000}) as (_, channel):
        gate.close()
        waiting = asyncio.ensure_future(InferenceServiceStub(channel).Embed(ONE))
        await gate.visited()
        error = await error_of(bodiless(channel))
        assert (error.code(), reason_of(error)) == (StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")
        gate.open()
        assert (await waiting).results


async def test_a_message_that_does_not_come_gives_its_place_back(connected: Connect) -> None:
    async with connected(listen={"body_timeout_s": 1, "max_concurrent_calls": 1}) as (_, channel):
        error = await error_of(bodiless(channel))
        assert error.code() is StatusCode.DEADLINE_EXCEEDED
        assert reason_of(error) == "REQUEST_TIMEOUT"
        assert (await InferenceServiceStub(channel).Embed(ONE)).results


async def test_idle_calls_are_refused_beyond_the_limit_and_health_checks_are_not(connected: Connect) -> None:
    async with connected(listen={"max_concurrent_calls": 4}) as (_, channel):
        calls = [bodiless(channel) for _ in range(40)]
        done, waiting = set[Any](), {asyncio.ensure_future(call) for call in calls}
        while len(waiting) > 4:
            ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= ended
        for refused in done:
            error = await error_of(refused)
            assert (error.code(), reason_of(error)) == (StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_CALLS")
            assert retry_delay_s(error) > 0
        assert await health_stub(channel).Check(HealthCheckRequest())
        for call in waiting:
            call.cancel()


async def test_health_watches_are_bounded_and_checks_are_not(connected: Connect) -> None:
    alone = [("grpc.use_local_subchannel_pool", 1)]
    async with connected() as (app, channel), AsyncExitStack() as stack:
        stub = health_stub(channel)
        others = [await stack.enter_async_context(grpc.aio.insecure_channel(app.address, alone)) for _ in range(4)]
        watches = [health_stub(others[i % 4]).Watch(HealthCheckRequest()) for i in range(256)]
        for watch in watches:
            await watch.read()
        refused = stub.Watch(HealthCheckRequest())
        assert (await error_of(refused.read())).code() is StatusCode.RESOURCE_EXHAUSTED
        assert await stub.Check(HealthCheckRequest())
        watches[0].cancel()
        async with asyncio.timeout(60):
            while await _is_refused(stub.Watch(HealthCheckRequest())):
                pass


async def _is_refused(watch: Any) -> bool:  # noqa: ANN401 - a call
    try:
        await watch.read()
    except AioRpcError:
        return True
    return False


async def test_checks_without_a_message_end_and_give_way_to_a_new_one(connected: Connect) -> None:
    async with connected() as (_, channel), asyncio.timeout(60):
        waiting = {asyncio.ensure_future(error_of(bodiless(channel, method=CHECK))) for _ in range(64)}
        while len(waiting) > 1:  # the last alone is waited for longer
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            assert {check.result().code() for check in done} == {StatusCode.DEADLINE_EXCEEDED}
        assert await health_stub(channel).Check(HealthCheckRequest())
        assert len(waiting) == 1
        assert (await waiting.pop()).code() is StatusCode.DEADLINE_EXCEEDED


async def test_a_connection_has_a_hundred_streams(connected: Connect) -> None:
    async with connected() as (app, _), asyncio.timeout(60):
        host, _, port = app.address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0, b""))
        size = int.from_bytes((await reader.readexactly(9))[:3], "big")
        settings = await reader.readexactly(size)
        told = dict(struct.unpack_from(">HI", settings, at) for at in range(0, size, 6))
        assert told[3] == 100  # SETTINGS_MAX_CONCURRENT_STREAMS
        writer.close()


@pytest.mark.parametrize("message", [b"\x0a\xff", b"\x0a\x80\x80\x08" + b"a" * (1 << 17)])
async def test_a_check_that_is_long_or_malformed_is_refused(connected: Connect, message: bytes) -> None:
    async with connected() as (_, channel):
        check: Any = channel.unary_unary(CHECK)
        assert (await error_of(check(message))).code() is StatusCode.INVALID_ARGUMENT


async def test_idle_connections_make_room_and_busy_ones_stay(connected: Connect, gate: Gate) -> None:
    async with connected(listen={"max_connections": 16}) as (app, channel), AsyncExitStack() as stack:
        gate.close()
        call = asyncio.ensure_future(InferenceServiceStub(channel).Embed(ONE))
        await gate.visited()
        for _ in range(64):
            await stack.enter_async_context(deaf_client(app.address))
        other = grpc.aio.insecure_channel(app.address, options=[("grpc.use_local_subchannel_pool", 1)])
        async with other, asyncio.timeout(30):
            assert await health_stub(other).Check(HealthCheckRequest(), wait_for_ready=True)
        gate.open()
        assert (await call).results


@pytest.mark.parametrize("bound", ["_IDLE_S", "_HANDSHAKE_S"])
async def test_an_idle_connection_ends(connected: Connect, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(listener, bound, 1)
    async with connected() as (app, _):
        host, _, port = app.address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        if bound == "_IDLE_S":
            writer.write(http2.PREFACE + http2.frame(http2.SETTINGS, 0, 0, b""))
        async with asyncio.timeout(15):
            await reader.read()  # until it is closed
        writer.close()


async def test_one_key_leaves_room_for_another(connected: Connect, keys_file: Path, gate: Gate) -> None:
    async with connected(auth={"keys_file": keys_file}, listen={"max_concurrent_calls": 8}) as (_, channel):
        stub = InferenceServiceStub(channel)
        gate.close()
        heavy = [asyncio.ensure_future(stub.Embed(ONE, metadata=bearer("owner"))) for _ in range(8)]
        refused: set[Any] = set()
        waiting: set[Any] = set(heavy)
        while len(waiting) > 4:
            ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            refused |= ended
        for call in refused:
            error = await error_of(call)
            assert error.code() is StatusCode.RESOURCE_EXHAUSTED
            assert 1 <= (retry_delay_s(error) or 0) <= 1.5
        light = asyncio.ensure_future(stub.Embed(ONE, metadata=bearer("stranger")))
        gate.open()
        assert (await light).results
        for call in waiting:
            assert (await call).results


async def test_who_takes_no_answers_gets_no_more_and_others_do(connected: Connect, keys_file: Path) -> None:
    many = EmbedRequest(texts=["w1"] * 4_000)
    async with connected(auth={"keys_file": keys_file}, listen={"max_unsent_mib": 1}) as (app, channel):
        stub = InferenceServiceStub(channel)
        answer = await stub.Embed(many, metadata=bearer("stranger"))
        sent = 8 * (1 << 20) // answer.ByteSize()  # of the budget, by calls that come in before any is answered
        async with asyncio.timeout(60):
            async with deaf_client(app.address) as deaf:
                for _ in range(sent):
                    await deaf.call(EMBED, many.SerializeToString(), "owner")
                while not await _is_full(stub, "owner") or (await scrape(app))["precis_calls_in_flight"]:
                    pass
                assert (await scrape(app))["precis_unsent_bytes"] <= 1 << 20
                assert (await stub.Embed(many, metadata=bearer("stranger"))).results
            while await _is_full(stub, "owner"):  # until the server has seen that the client is gone
                pass


async def _is_full(stub: InferenceServiceStub, key: str) -> bool:
    try:
        await stub.Embed(ONE, metadata=bearer(key))
    except AioRpcError as error:
        assert error.code() is StatusCode.RESOURCE_EXHAUSTED  # noqa: PT017 - polled
        assert retry_delay_s(error) > 0  # noqa: PT017
        return True
    return False


async def test_a_stream_that_nobody_reads_ends_while_its_client_stays(connected: Connect) -> None:
    item = EvaluateStreamRequest(id="1").SerializeToString()
    async with connected(listen={"idle_timeout_s": 1}) as (app, _), deaf_client(app.address) as deaf:
        await deaf.call(EVALUATE_STREAM, item)
        ended = f"precis_calls_total,DEADLINE_EXCEEDED,{EVALUATE_STREAM[1:]}"
        async with asyncio.timeout(60):
            while not (page := await scrape(app)).get(ended):
                pass
        assert page["precis_calls_in_flight"] == 0
        assert page["precis_unsent_bytes"] > 0  # gRPC keeps it until the client reads or goes


class Parsed:
    """A request that can be watched."""

    def __init__(self, _: bytes) -> None:
        kept.append(weakref.ref(self))


kept: list["weakref.ref[Parsed]"] = []


async def _are_freed(count: int) -> bool:
    await asyncio.sleep(0)
    return len(kept) == count and all(one() is None for one in kept)


async def test_a_refused_request_is_freed_without_the_garbage_collector() -> None:
    async def refuse(request: object, context: object) -> object:
        raise QueueFullError(0.5)

    runner = CallRunner(ListenConfig(), CallMetrics(new_registry()))
    maker: Any = grpc
    handler = maker.stream_unary_rpc_method_handler(runner.unary("test.Test/Refuse", refuse, Parsed))
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((maker.method_handlers_generic_handler("test.Test", {"Refuse": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    gc.disable()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            calls: Any = channel.unary_unary("/test.Test/Refuse")
            for _ in range(3):
                assert (await error_of(calls(b"x"))).code() is StatusCode.RESOURCE_EXHAUSTED
            async with asyncio.timeout(60):
                while not await _are_freed(3):
                    pass
    finally:
        gc.enable()
        kept.clear()
        await server.stop(None)
