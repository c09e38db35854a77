"""Every RPC that names a summary, called by its owner and by a stranger with a key of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.message_factory import GetMessageClass
from grpc import StatusCode
from grpc.aio import AioRpcError, Channel
from precis.calls import SERVICES, SUMMARIZE
from precis.v1 import summarize_pb2 as pb
from precis.v1.summarize_pb2_grpc import SummarizeServiceStub

from tests.integration.conftest import Start
from tests.integration.summarize.summaries import bench, chunks, follow
from tests.integration.support.rich_errors import bearer

OWNER, STRANGER, SECOND_KEY = map(bearer, ("owner", "stranger", "second"))
BY_ID = {
    method.name: method
    for name in SERVICES
    for method in SUMMARIZE.file.pool.FindServiceByName(name).methods
    if "summary_id" in method.input_type.fields_by_name
}


async def made(
    stub: SummarizeServiceStub, key: list[tuple[str, str]], name: str = "invoice-1", size: int = 3
) -> pb.Summary:
    request = pb.SummarizeRequest(document=chunks(size), idempotency_key=name)
    call: Any = stub.Summarize(request, metadata=key)
    return (await follow(call)).summary


async def answer(channel: Channel, method: Any, summary_id: str, key: list[tuple[str, str]]) -> str:  # noqa: ANN401
    """Returns what one of BY_ID tells: its answers, or its status and message without the id."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    request = GetMessageClass(method.input_type)(summary_id=summary_id)
    response_type: Any = GetMessageClass(method.output_type)
    codec: Mapping[str, Any] = {
        "request_serializer": lambda message: message.SerializeToString(),
        "response_deserializer": response_type.FromString,
    }
    try:
        if method.server_streaming:
            stream: Any = channel.unary_stream(path, **codec)(request, metadata=key)
            return str([event async for event in stream])
        unary: Any = channel.unary_unary(path, **codec)
        return str(await unary(request, metadata=key))
    except AioRpcError as error:
        return f"{error.code()} {error.details()}".replace(summary_id, "ID")


def test_the_methods_that_name_a_summary_are_known() -> None:
    others = {"SubmitSummary", "WatchSummary", "DeleteSummary"}
    assert set(BY_ID) == {"ResumeSummary", "GetSummary", "CancelSummary"} | others


async def test_to_a_stranger_a_summary_is_one_that_never_was(start: Start, keys_file: Path) -> None:
    async with (
        bench(start, auth={"keys_file": keys_file}) as served,
        grpc.aio.insecure_channel(served.app.address) as channel,
    ):
        for name in sorted(BY_ID):
            summary = await made(served.stub, OWNER)  # another one if it was deleted
            foreign, unknown = [
                await answer(channel, BY_ID[name], summary_id, STRANGER)
                for summary_id in (summary.summary_id, uuid4().hex)
            ]
            assert foreign == unknown, name
            assert foreign.startswith(str(StatusCode.NOT_FOUND))
            for key in (OWNER, SECOND_KEY):
                summary = await made(served.stub, OWNER)
                own = await answer(channel, BY_ID[name], summary.summary_id, key)
                assert not own.startswith("StatusCode"), name
