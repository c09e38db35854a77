"""Every way a call can fail is one line that says what to do, and an exit code."""

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2
from grpc import StatusCode
from grpc.aio import AioRpcError, Metadata

from server.cli.connection import new_channel, server_errors
from server.cli.errors import CliError, InputError
from server.cli.options import Connection

HERE = Connection("10.0.0.1:1")


def failed(code: StatusCode, details: str) -> AioRpcError:
    """A failure that gRPC itself reports."""
    return AioRpcError(code, Metadata(), Metadata(), details)


def answered(code: StatusCode, details: str, *fields: str) -> AioRpcError:
    """A failure that the server reports, with the fields it blames."""
    status = status_pb2.Status(code=code.value[0], message=details)
    if fields:
        violations = [error_details_pb2.BadRequest.FieldViolation(field=field, description="wrong") for field in fields]
        packed = AnyMessage()
        packed.Pack(error_details_pb2.BadRequest(field_violations=violations))
        status.details.append(packed)
    return AioRpcError(code, Metadata(), Metadata(("grpc-status-details-bin", status.SerializeToString())), details)


@pytest.mark.parametrize(
    ("error", "exit_code", "parts"),
    [
        (failed(StatusCode.UNAVAILABLE, "failed to connect"), 3, ["cannot reach 10.0.0.1:1", "`precis serve`"]),
        (failed(StatusCode.DEADLINE_EXCEEDED, "x"), 3, ["10.0.0.1:1", "--timeout"]),
        (failed(StatusCode.RESOURCE_EXHAUSTED, "larger than max (9 vs. 8)"), 2, ["so large a message", "(9 vs. 8)"]),
        (failed(StatusCode.UNIMPLEMENTED, "x"), 4, ["does not offer this call"]),
        (answered(StatusCode.UNAVAILABLE, "shutting down"), 3, ["shutting down", "try later"]),
        (answered(StatusCode.RESOURCE_EXHAUSTED, "queue is full"), 3, ["queue is full", "try later"]),
        (answered(StatusCode.INVALID_ARGUMENT, "no", "a.b", "c[1]"), 2, ["a.b: wrong; c[1]: wrong"]),
        (answered(StatusCode.UNAUTHENTICATED, "send a key"), 2, ["send a key"]),
        (answered(StatusCode.INTERNAL, "id=7"), 4, ["INTERNAL: id=7"]),
    ],
    ids=lambda value: value.code().name if isinstance(value, AioRpcError) else "",
)
def test_a_failed_call_says_what_to_do(error: AioRpcError, exit_code: int, parts: list[str]) -> None:
    with pytest.raises(CliError) as caught, server_errors(HERE):
        raise error
    assert caught.value.exit_code == exit_code
    assert all(part in caught.value.message for part in parts)
    assert "\n" not in caught.value.message


def test_the_place_begins_the_line() -> None:
    with pytest.raises(CliError) as caught, server_errors(HERE, "second.txt: "):
        raise answered(StatusCode.INVALID_ARGUMENT, "no", "generated.text")
    assert caught.value.message == "second.txt: generated.text: wrong"


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), server_errors(HERE):
        _ = 1 / 0


@pytest.mark.parametrize(
    "connection",
    [Connection(tls_cert=grpc.__file__), Connection(tls_ca=grpc.__file__, tls_key=grpc.__file__)],  # type: ignore[arg-type]
    ids=["no CA", "no certificate"],
)
async def test_half_of_the_tls_options_is_refused(connection: Connection) -> None:
    with pytest.raises(InputError, match="--tls-cert"):
        new_channel(connection)
