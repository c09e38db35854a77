"""One port, several servers: only when asked for."""

import grpc
import pytest
from precis.v1.inference_pb2 import ListModelsRequest
from precis.v1.inference_pb2_grpc import InferenceServiceStub

from server.errors import StartupError
from tests.integration.conftest import Start


async def test_servers_that_share_a_port_take_over_from_each_other(start: Start) -> None:
    async with start(listen={"reuse_port": True}) as first:
        port = int(first.address.rpartition(":")[2])
        async with start(listen={"reuse_port": True, "port": port}) as second:
            assert second.address == first.address
            await first.__aexit__(None, None, None)
            async with grpc.aio.insecure_channel(second.address) as channel:
                assert (await InferenceServiceStub(channel).ListModels(ListModelsRequest())).models


@pytest.mark.parametrize("is_shared", [True, False])
async def test_a_port_is_not_shared_by_accident(start: Start, *, is_shared: bool) -> None:
    async with start(listen={"reuse_port": is_shared}) as first:
        port = int(first.address.rpartition(":")[2])
        with pytest.raises(StartupError, match="in use"):
            async with start(listen={"reuse_port": False, "port": port}):
                pass
