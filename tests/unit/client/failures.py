"""Failed calls, with the trailers that a real server sends."""

import grpc
from google.protobuf.message import Message
from google.rpc import status_pb2
from grpc.aio import AioRpcError, Metadata
from precis import errors

TRAILER = "grpc-status-details-bin"


def answered(code: grpc.StatusCode, message: str, *details: Message) -> AioRpcError:
    """A failure that the server reports, with its details packed as grpcio-status packs them."""
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in details:
        status.details.add().Pack(detail)
    return failed(code, message, status.SerializeToString())


def failed(code: grpc.StatusCode, message: str | None, trailer: bytes | None = None) -> AioRpcError:
    """A failure with a trailer of any content; None: that of gRPC itself, which has none."""
    trailers = Metadata() if trailer is None else Metadata(("other", "text"), (TRAILER, trailer))
    return AioRpcError(code, Metadata(), trailers, message)


def broken() -> errors.PrecisError:
    """A connection that is gone."""
    return errors.to_error(failed(grpc.StatusCode.UNAVAILABLE, "socket closed"))
