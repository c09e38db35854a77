"""Reads what a failed call carries besides its code."""

from typing import TypeVar

from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc.aio import AioRpcError

M = TypeVar("M", bound=Message)


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
