"""grpc.health.v1 tells the truth about the models, and watches end with the server."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import httpx
from grpc import StatusCode
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from precis.calls import SERVICES, SUMMARIZE
from precis.v1.inference_pb2 import EmbedRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.app import App
from server.settings import Settings
from tests.integration.conftest import Connect, Start
from tests.integration.support.gate import Gate
from tests.integration.support.rich_errors import error_of, reason_of, retry_delay_s
from tests.integration.support.untyped_stubs import health_stub

SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


async def statuses(call: AsyncIterator[HealthCheckResponse]) -> list[int]:
    """Collects a watch until it ends."""
    return [response.status async for response in call]


async def test_every_service_and_the_whole_serve_and_another_is_unknown(channel: grpc.aio.Channel) -> None:
    stub = health_stub(channel)
    for service in ("", *SERVICES):
        assert (await stub.Check(HealthCheckRequest(service=service))).status == SERVING
    unknown = HealthCheckRequest(service="precis.v1.Nothing")
    assert (await error_of(stub.Check(unknown))).code() is StatusCode.NOT_FOUND
    watch = stub.Watch(unknown)
    assert (await anext(aiter(watch))).status == HealthCheckResponse.SERVICE_UNKNOWN
    watch.cancel()


async def test_a_dead_worker_flips_health_and_its_restart_flips_it_back(
    app: App, channel: grpc.aio.Channel, gate: Gate
) -> None:
    watch = aiter(health_stub(channel).Watch(HealthCheckRequest(service=SERVICES[0])))
    assert (await anext(watch)).status == SERVING
    gate.is_broken = True
    call = InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w1"]))
    assert (await anext(watch)).status == NOT_SERVING
    gate.is_broken = False
    while (await anext(watch)).status != SERVING:
        pass
    assert await call.code() in (StatusCode.OK, StatusCode.UNAVAILABLE)
    assert (await InferenceServiceStub(channel).Embed(EmbedRequest(texts=["w2"]))).results


async def test_summaries_without_their_database_do_not_serve_until_it_is_back(
    connected: Connect, tmp_path: Path
) -> None:
    folder, elsewhere = tmp_path / "summaries", tmp_path / "elsewhere"
    async with connected(summary_storage={"directory": folder, "check_s": 0.01}) as (_, channel):
        watch = aiter(health_stub(channel).Watch(HealthCheckRequest(service=SUMMARIZE.full_name)))
        assert (await anext(watch)).status == SERVING
        await asyncio.to_thread(folder.rename, elsewhere)
        assert (await anext(watch)).status == NOT_SERVING
        for service in ("", *SERVICES):
            status = (await health_stub(channel).Check(HealthCheckRequest(service=service))).status
            assert (status == SERVING) == (service != SUMMARIZE.full_name)
        await asyncio.to_thread(elsewhere.rename, folder)
        assert (await anext(watch)).status == SERVING


class SlowStart:
    """A backend that does not open until it is told to."""

    def __init__(self, gate: Gate) -> None:
        self.is_loading = asyncio.Event()
        self.may_load = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._gate = gate

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as the gate's
        self._loop.call_soon_threadsafe(self.is_loading.set)
        assert self.may_load.wait(60)
        return self._gate.open_backend(*args, **options)


async def test_a_server_that_starts_says_so_to_probes_and_to_calls(tiny_settings: dict[str, Any], gate: Gate) -> None:
    slow = SlowStart(gate)
    app = App(Settings(**tiny_settings, http={"enabled": True, "port": 0}), open_backend=slow)
    starting = asyncio.create_task(app.__aenter__())
    await slow.is_loading.wait()
    async with grpc.aio.insecure_channel(app.address) as channel, httpx.AsyncClient() as client:
        watch = aiter(health_stub(channel).Watch(HealthCheckRequest()))
        assert (await anext(watch)).status == NOT_SERVING
        stub = InferenceServiceStub(channel)
        error = await error_of(stub.Embed(EmbedRequest(texts=["w1"])))
        assert (error.code(), reason_of(error)) == (StatusCode.UNAVAILABLE, "STARTING")
        assert 1 <= retry_delay_s(error) < 2
        for method, path in (("GET", "/health"), ("GET", "/v1/models")):
            answer = await client.request(method, f"http://127.0.0.1:{app.http_port}{path}")
            assert answer.status_code == 503
        slow.may_load.set()
        await starting
        assert (await anext(watch)).status == SERVING
        assert (await stub.Embed(EmbedRequest(texts=["w1"]))).results
        await app.__aexit__(None, None, None)


async def test_a_start_that_is_given_up_leaves_the_port(tiny_settings: dict[str, Any], gate: Gate) -> None:
    slow = SlowStart(gate)
    app = App(Settings(**tiny_settings), open_backend=slow)
    starting = asyncio.create_task(app.__aenter__())
    await slow.is_loading.wait()
    starting.cancel()
    slow.may_load.set()
    await asyncio.wait({starting})
    async with grpc.aio.insecure_channel(app.address) as channel:
        await error_of(health_stub(channel).Check(HealthCheckRequest()))


async def test_a_watcher_that_leaves_takes_no_other_with_it_and_a_stop_waits_for_none(start: Start) -> None:
    async with start(listen={"grace_s": 3600}) as app:
        channel = grpc.aio.insecure_channel(app.address)
        leaving, *watches = (health_stub(channel).Watch(HealthCheckRequest()) for _ in range(4))
        answers = [aiter(watch) for watch in watches]
        assert [(await anext(one)).status for one in (aiter(leaving), *answers)] == [SERVING] * 4
        leaving.cancel()
        assert await leaving.code() is StatusCode.CANCELLED
    assert [await statuses(one) for one in answers] == [[NOT_SERVING]] * 3
    await channel.close()
