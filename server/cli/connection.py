"""How a command reaches the server: the channel, the call metadata, and every error as one line."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2
from grpc.aio import AioRpcError, Channel, insecure_channel, secure_channel
from grpc_status import rpc_status

from server.cli.errors import CliError, InputError, TryLaterError
from server.cli.options import Connection

MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # responses quote the evidence; the server has its own limit on requests

INPUT_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
}
RETRY_CODES = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
}


@asynccontextmanager
async def open_channel(connection: Connection) -> AsyncIterator[Channel]:
    """Opens a channel for one command; errors of calls inside the block become CliErrors."""
    async with new_channel(connection) as channel:
        with server_errors(connection):
            yield channel


def new_channel(connection: Connection) -> Channel:
    """Builds the channel. Raises InputError when a certificate cannot be read or used."""
    options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
    if connection.tls_ca is None:
        if connection.tls_cert or connection.tls_key:
            raise InputError("--tls-cert and --tls-key need --tls-ca")
        return insecure_channel(connection.address, options=options)
    if (connection.tls_cert is None) != (connection.tls_key is None):
        raise InputError("--tls-cert and --tls-key belong together: give both or none")
    key = read_bytes(connection.tls_key) if connection.tls_key else None
    chain = read_bytes(connection.tls_cert) if connection.tls_cert else None
    credentials = grpc.ssl_channel_credentials(read_bytes(connection.tls_ca), key, chain)
    return secure_channel(connection.address, credentials, options=options)


def call_metadata(connection: Connection) -> list[tuple[str, str]]:
    """Returns the metadata of a call: the API key when there is one. Raises InputError for an unusable file."""
    if connection.api_key_file is None:
        return []
    key = read_bytes(connection.api_key_file).decode("ascii", errors="replace").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise InputError(f"{connection.api_key_file} holds no API key: one line of printable ASCII is expected")
    return [("authorization", f"Bearer {key}")]


@contextmanager
def server_errors(connection: Connection, place: str = "") -> Iterator[None]:
    """Turns a failed call into one line that says what to do; `place` begins the line when several could fail."""
    try:
        yield
    except AioRpcError as error:
        failure = to_cli_error(error, connection)
        failure.message = place + failure.message
        raise failure from error


def to_cli_error(error: AioRpcError, connection: Connection) -> CliError:
    """Chooses the message and the exit code for a failed call."""
    code, details = error.code(), error.details() or "no details"
    answered = rpc_status.from_call(error) is not None  # type: ignore[arg-type] # AioRpcError has the three methods it reads
    if not answered and code in TRANSPORT_ERRORS:
        return TRANSPORT_ERRORS[code](connection, details)
    message = "; ".join(field_violations(error)) or details
    if code in INPUT_CODES:
        return InputError(message)
    if code in RETRY_CODES:
        return TryLaterError(f"{message} (try later)")
    return CliError(f"{code.name}: {message}")


def unreachable(connection: Connection, details: str) -> CliError:
    """Says why there is no connection, as far as gRPC tells."""
    address = connection.address
    if connection.tls_ca is not None and any(word in details.upper() for word in ("SSL", "TLS", "HANDSHAKE")):
        return TryLaterError(f"cannot reach {address} over TLS: {details}: check --tls-ca and the server's certificate")
    return TryLaterError(f"cannot reach {address}: start it with `precis serve`, or name another server with --address")


def too_late(connection: Connection, _: str) -> CliError:
    """Says that the time was too short."""
    return TryLaterError(f"no answer from {connection.address} in time: raise --timeout, or try later")


def too_large(connection: Connection, details: str) -> CliError:
    """Says that the transport refused a message; a full queue comes with a rich status instead."""
    return InputError(f"{connection.address} does not take so large a message: {details}")


def not_offered(connection: Connection, _: str) -> CliError:
    """Says that something else may listen there."""
    return CliError(f"{connection.address} does not offer this call: is it a Precis server of this version?")


TRANSPORT_ERRORS = {
    grpc.StatusCode.UNAVAILABLE: unreachable,
    grpc.StatusCode.DEADLINE_EXCEEDED: too_late,
    grpc.StatusCode.RESOURCE_EXHAUSTED: too_large,
    grpc.StatusCode.UNIMPLEMENTED: not_offered,
}
"""Errors that gRPC itself makes, without the rich status that this server's errors carry."""


def field_violations(error: AioRpcError) -> list[str]:
    """Lists the fields that the server refused, as "path: what was expected"."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type] # as above
    if status is None:
        return []
    return [line for detail in status.details for line in violations_of(detail)]


def violations_of(detail: AnyMessage) -> list[str]:
    """Reads one error detail; anything but a BadRequest has no violations."""
    bad_request = error_details_pb2.BadRequest()
    if not detail.Unpack(bad_request):
        return []
    return [f"{violation.field}: {violation.description}" for violation in bad_request.field_violations]


def read_bytes(path: Path) -> bytes:
    """Reads a small file that an option names. Raises InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
