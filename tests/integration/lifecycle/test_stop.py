"""SIGTERM drains: what is in flight is finished, nothing new is taken, and a second signal cuts it short."""

import asyncio
import signal
from pathlib import Path

import grpc
import pytest
from grpc import StatusCode
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from precis.v1.inference_pb2 import EmbedRequest, ListModelsRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.conftest import Start
from tests.integration.support.server_process import ServerProcess, gated_server
from tests.integration.support.untyped_stubs import health_stub


async def blocked_call(server: ServerProcess, channel: grpc.aio.Channel) -> "asyncio.Future[StatusCode]":
    """Starts a call that stands before the gate."""
    await server.command("close")
    call = asyncio.ensure_future(InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1"])).code())
    await server.command("visited")
    return call


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
async def test_a_signal_finishes_what_is_in_flight_and_refuses_the_rest(tiny_models: Path, name: str) -> None:
    async with gated_server(tiny_models) as server:
        address = await server.line()
        async with grpc.aio.insecure_channel(address) as channel, grpc.aio.insecure_channel(address) as newcomer:
            watch = aiter(health_stub(channel).Watch(HealthCheckRequest()))
            assert (await anext(watch)).status == HealthCheckResponse.SERVING
            call = await blocked_call(server, channel)
            server.process.send_signal(signal.Signals[name])
            assert [answer.status async for answer in watch] == [HealthCheckResponse.NOT_SERVING]
            refused = InferenceServiceStub(newcomer).Embed(EmbedRequest(texts=["w2"]))
            assert await refused.code() is StatusCode.UNAVAILABLE
            assert not call.done()
            await server.command("open")
            assert await call is StatusCode.OK
        assert await server.ended() == 0
    events = [line.split("event=")[1].split()[0] for line in server.errors if "event=" in line]
    told = ["signal", "stopping", "stopped"]
    assert [event for event in events if event in told] == told


@pytest.mark.parametrize("is_impatient", [True, False], ids=["second signal", "end of the grace"])
async def test_a_drain_is_cut_short(tiny_models: Path, *, is_impatient: bool) -> None:
    grace_s = "3600" if is_impatient else "0.05"
    async with gated_server(tiny_models, LISTEN__GRACE_S=grace_s) as server:
        async with grpc.aio.insecure_channel(await server.line()) as channel:
            call = await blocked_call(server, channel)
            server.process.send_signal(signal.SIGTERM)
            if is_impatient:
                await server.logged("event=stopping")
                server.process.send_signal(signal.SIGTERM)
                await server.logged("effect=cut_short")
            assert await call in (StatusCode.UNAVAILABLE, StatusCode.CANCELLED)
            await server.command("open")  # a forward pass cannot be ended from outside
        assert await server.ended() == 0


async def test_a_signal_while_the_models_load_ends_the_start(tiny_models: Path) -> None:
    async with gated_server(tiny_models, "closed") as server:
        await server.command("visited")
        server.process.send_signal(signal.SIGTERM)
        await server.logged("effect=stop")
        await server.command("open")  # the model that is being loaded is loaded; the next one is not
        assert await server.ended() == 0
    assert any("event=stopped_while_starting" in line for line in server.errors)


async def test_clients_that_go_on_calling_hear_that_the_server_stops(start: Start) -> None:
    ends: list[str] = []
    called = [asyncio.Event() for _ in range(20)]

    async def call_on(address: str, called: asyncio.Event) -> None:
        async with grpc.aio.insecure_channel(address, options=[("grpc.enable_retries", 0)]) as channel:
            stub = InferenceServiceStub(channel)
            while True:
                call = stub.ListModels(ListModelsRequest())
                if await call.code() is not StatusCode.OK:
                    ends.append(str(await call.details()))
                    return
                called.set()

    async with start() as app:
        clients = [asyncio.create_task(call_on(app.address, one)) for one in called]
        await asyncio.gather(*(one.wait() for one in called))
        await app.__aexit__(None, None, None)
        await asyncio.gather(*clients)
    assert sum("shutting down" in end for end in ends) > 10
