"""Clients without .proto files can find out what there is."""

from collections.abc import AsyncIterator

import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse
from precis.calls import SERVICES

from tests.integration.conftest import Start
from tests.integration.untyped_stubs import reflection_stub


async def ask(channel: grpc.aio.Channel, request: ServerReflectionRequest) -> ServerReflectionResponse:
    """Asks one question."""

    async def requests() -> AsyncIterator[ServerReflectionRequest]:
        yield request

    stub = reflection_stub(channel)
    [response] = [response async for response in stub.ServerReflectionInfo(requests())]
    assert isinstance(response, ServerReflectionResponse)
    return response


async def test_reflection_lists_the_services(channel: grpc.aio.Channel) -> None:
    response = await ask(channel, ServerReflectionRequest(list_services=""))
    names = {service.name for service in response.list_services_response.service}
    assert names == {*SERVICES, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}


async def test_reflection_describes_a_service_with_all_its_imports(channel: grpc.aio.Channel) -> None:
    response = await ask(channel, ServerReflectionRequest(file_containing_symbol=SERVICES[0]))
    files = [FileDescriptorProto.FromString(data) for data in response.file_descriptor_response.file_descriptor_proto]
    names = {file.name for file in files}
    assert "precis/v1/common.proto" in names
    assert {name for file in files for name in file.dependency} <= names


async def test_an_open_reflection_stream_does_not_hold_up_a_stop(start: Start) -> None:
    async with start(listen={"grace_s": 3600}) as app:
        channel = grpc.aio.insecure_channel(app.address)
        call = reflection_stub(channel).ServerReflectionInfo()
        await call.write(ServerReflectionRequest(list_services=""))
        assert (await call.read()).HasField("list_services_response")
    assert await call.read() is grpc.aio.EOF
    await channel.close()
