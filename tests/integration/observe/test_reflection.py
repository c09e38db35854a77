"""Clients without .proto files can find out what there is."""

from typing import Any

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse
from precis.calls import SERVICES

from server.observe.health import REFLECTION_SERVICES
from server.oip.servicer import SERVICE as OPEN_INFERENCE
from tests.integration.conftest import Start
from tests.integration.support.untyped_stubs import reflection_stub


async def ask(channel: grpc.aio.Channel, version: str, request: ServerReflectionRequest) -> ServerReflectionResponse:
    """Asks one question. The messages of both versions are the same on the wire."""
    stream: Any = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=ServerReflectionRequest.SerializeToString,
        response_deserializer=ServerReflectionResponse.FromString,
    )
    [response] = [response async for response in stream(iter([request]))]
    assert isinstance(response, ServerReflectionResponse)
    return response


async def files_of(channel: grpc.aio.Channel, version: str, symbol: str) -> dict[str, FileDescriptorProto]:
    """Returns the described files by name."""
    response = await ask(channel, version, ServerReflectionRequest(file_containing_symbol=symbol))
    files = [FileDescriptorProto.FromString(data) for data in response.file_descriptor_response.file_descriptor_proto]
    return {file.name: file for file in files}


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
async def test_reflection_lists_the_services_and_describes_them_and_itself(
    channel: grpc.aio.Channel, version: str
) -> None:
    response = await ask(channel, version, ServerReflectionRequest(list_services=""))
    names = {service.name for service in response.list_services_response.service}
    assert names == {*SERVICES, OPEN_INFERENCE, "grpc.health.v1.Health", *REFLECTION_SERVICES}
    files = await files_of(channel, version, SERVICES[0])
    assert "precis/v1/common.proto" in files
    assert {name for file in files.values() for name in file.dependency} <= files.keys()
    [file] = (await files_of(channel, version, f"grpc.reflection.{version}.ServerReflection")).values()
    [method] = file.service[0].method
    assert file.package == f"grpc.reflection.{version}"
    assert method.input_type == f".grpc.reflection.{version}.ServerReflectionRequest"


async def test_a_question_that_is_none_is_refused_as_such(channel: grpc.aio.Channel) -> None:
    method: Any = channel.stream_stream(f"/{REFLECTION_SERVICES[0]}/ServerReflectionInfo")
    assert await method(iter([b"\xff"])).code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_an_open_reflection_stream_does_not_hold_up_a_stop(start: Start) -> None:
    async with start(listen={"grace_s": 3600}) as app:
        channel = grpc.aio.insecure_channel(app.address)
        call = reflection_stub(channel).ServerReflectionInfo()
        await call.write(ServerReflectionRequest(list_services=""))
        assert (await call.read()).HasField("list_services_response")
    assert await call.read() is grpc.aio.EOF
    await channel.close()
