"""SIGHUP makes a running server read its keys again."""

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
from grpc import StatusCode
from precis.v1.evaluate_pb2 import EvaluateStreamRequest
from precis.v1.evaluate_pb2_grpc import EvaluateServiceStub
from precis.v1.inference_pb2 import ListModelsRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from tests.integration.evaluate.evaluations import evaluate_request
from tests.integration.support.rich_errors import bearer, error_of
from tests.integration.support.server_process import gated_server


async def code_with(address: str, key: str) -> StatusCode:
    """Calls with a bearer key."""
    async with grpc.aio.insecure_channel(address) as channel:
        return await InferenceServiceStub(channel).ListModels(ListModelsRequest(), metadata=bearer(key)).code()


async def test_a_hangup_takes_the_new_keys(tiny_models: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("old-key\n", encoding="utf-8")
    item = EvaluateStreamRequest(id="1", request=evaluate_request(1))
    async with gated_server(tiny_models, AUTH__KEYS_FILE=keys) as server, AsyncExitStack() as opened:
        address = await server.line()
        assert await code_with(address, "old-key") is StatusCode.OK
        channel = await opened.enter_async_context(grpc.aio.insecure_channel(address))
        stream = EvaluateServiceStub(channel).EvaluateStream(metadata=bearer("old-key"))
        await stream.write(item)
        assert await stream.read()
        await asyncio.to_thread(keys.write_text, "new-key\n", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        await server.logged("event=reloaded")
        assert await code_with(address, "old-key") is StatusCode.UNAUTHENTICATED
        await stream.write(item)
        assert (await error_of(stream.read())).code() is StatusCode.UNAUTHENTICATED
        assert await code_with(address, "new-key") is StatusCode.OK
        await asyncio.to_thread(keys.unlink)
        server.process.send_signal(signal.SIGHUP)
        await server.logged("event=reload_failed")
        assert await code_with(address, "new-key") is StatusCode.OK
        server.process.send_signal(signal.SIGTERM)
        assert await server.ended() == 0
