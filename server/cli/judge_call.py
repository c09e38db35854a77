"""One judgement: the request, the call, and whether its failure concerns this item alone."""

import asyncio
from collections.abc import Sequence

import grpc
from google.rpc import error_details_pb2
from grpc.aio import AioRpcError
from grpc_status import rpc_status
from precis.v1 import common_pb2
from precis.v1 import judge_pb2 as pb
from precis.v1.judge_pb2_grpc import JudgeServiceStub

from server.cli.connection import to_cli_error
from server.cli.judge_items import Item
from server.cli.judge_names import FRAMEWORKS
from server.cli.judge_options import JudgeRun
from server.cli.options import Connection

ITEM_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
}
"""Failures of one item. After any other, such as a server that is gone, the next item would fail as well."""

TRIES = 5  # of an item that a full queue refuses
RETRY_DELAY_S = 0.5  # when the server does not say


def to_request(item: Item, run: JudgeRun, priority: common_pb2.Priority.ValueType) -> pb.JudgeRequest:
    """Gives the request; what is not set is left to the server."""
    numbers = {choice: number for number, choice in FRAMEWORKS.items()}
    return pb.JudgeRequest(
        source=item.source,
        summary=item.summary,
        frameworks=[numbers[choice] for choice in run.frameworks],
        options=pb.JudgeOptions(use_language_model=run.use_language_model),
        priority=priority,
    )


async def judge_patiently(
    stub: JudgeServiceStub, request: pb.JudgeRequest, *, timeout_s: float, metadata: Sequence[tuple[str, str]]
) -> pb.JudgeResult:
    """Judges one item; waits and tries again when the server's queue is full. Raises AioRpcError."""
    for _ in range(TRIES - 1):
        try:
            return (await stub.Judge(request, timeout=timeout_s, metadata=metadata)).result
        except AioRpcError as error:
            delay_s = retry_delay_s(error)
            if delay_s is None:
                raise
        await asyncio.sleep(delay_s)
    return (await stub.Judge(request, timeout=timeout_s, metadata=metadata)).result


def retry_delay_s(error: AioRpcError) -> float | None:
    """Returns how long to wait before the same call may work; None when it would fail again."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # AioRpcError has the three methods it reads
    if status is None or error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        return None  # without a rich status it is the transport, for which the message is too large
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        if detail.Unpack(retry):
            return float(retry.retry_delay.ToTimedelta().total_seconds())
    return RETRY_DELAY_S


def to_item_error(error: AioRpcError, connection: Connection) -> common_pb2.ItemError:
    """Gives the error of one item. Raises CliError when the others would fail as well."""
    if error.code() not in ITEM_CODES:
        raise to_cli_error(error, connection) from error
    return common_pb2.ItemError(code=error.code().value[0], message=to_cli_error(error, connection).message)
