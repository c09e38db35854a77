"""Reads what a failed call carries besides its code."""

from collections.abc import AsyncIterable, Awaitable
from typing import Any, TypeVar

import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError

M = TypeVar("M", bound=Message)


async def error_of(call: Awaitable[Any] | AsyncIterable[Any]) -> AioRpcError:
    """Waits for a call, or reads its stream; it must fail."""
    with pytest.raises(AioRpcError) as caught:
        await (_read(call) if isinstance(call, AsyncIterable) else call)
    return caught.value


async def _read(stream: AsyncIterable[Any]) -> None:
    async for _ in stream:
        pass


async def assert_refused(call: Awaitable[Any] | AsyncIterable[Any], *fields: str) -> None:
    """Expects that a call is refused for fields of its request, with words that quote none of its text."""
    error = await error_of(call)
    assert (error.code(), fields_of(error)) == (StatusCode.INVALID_ARGUMENT, list(fields))
    assert "expected" in str(error.details())
    assert len(str(error.details())) < 500


def details_of(error: AioRpcError, into: M) -> M:
    """Returns the detail of one kind. Raises LookupError when the status has none."""
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            for packed in status_pb2.Status.FromString(value).details:
                if packed.Unpack(into):
                    return into
    raise LookupError(f"no {into.DESCRIPTOR.name} in {error.code()}: {error.details()}")


def fields_of(error: AioRpcError) -> list[str]:
    """Lists the fields that a BadRequest blames."""
    return [violation.field for violation in details_of(error, error_details_pb2.BadRequest()).field_violations]


def reason_of(error: AioRpcError) -> str:
    """Returns the word that programs know the error by."""
    return str(details_of(error, error_details_pb2.ErrorInfo()).reason)


def retry_delay_s(error: AioRpcError) -> float:
    """Returns after how long the call shall be tried again."""
    delay = details_of(error, error_details_pb2.RetryInfo()).retry_delay
    return float(delay.seconds + delay.nanos / 1e9)


def bearer(key: str) -> list[tuple[str, str]]:
    """Returns the metadata of a caller with a key."""
    return [("authorization", f"Bearer {key}")]
