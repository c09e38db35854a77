"""How a command reaches the server: the client, and every error of it as one line."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import grpc
from precis import AsyncClient, RetryPolicy, Tls, errors
from precis.calls import Call
from precis.local import AsyncClient as LocalClient
from precis.retry import DEFAULT_RETRY

from server.cli.errors import CliError, InputError, TryLaterError
from server.cli.options import DEFAULT_ADDRESS, Connection

INPUT_ERRORS = (
    errors.InvalidArgument,
    errors.MessageTooLarge,
    errors.NotFound,
    errors.AlreadyExists,
    errors.PermissionDenied,
    errors.Unauthenticated,
)
RETRY_ERRORS = (errors.Unavailable, errors.Overloaded, errors.DeadlineExceeded, errors.Aborted)

ONCE = RetryPolicy(max_attempts=1)
"""For what measures a server: a retry would hide a refusal in a longer wait."""

T = TypeVar("T")


class CommandClient(AsyncClient):
    """The client, which also sends calls that are built already: a command shows the whole answer."""

    width = 1  # servers behind it that work side by side
    flags = ""  # to add to a command so that it calls the same; begins with a space, or is empty

    async def send(self, call: Call[T]) -> T:
        """Sends a unary call. Raises PrecisError."""
        return await self._send(call, None)

    async def stream(self, call: Call[T]) -> AsyncGenerator[T, None]:
        """Sends a call that is answered by a stream, once. Closing the generator ends it. Raises PrecisError."""
        responses = self._open_stream(call, self._connection.timeout_s)
        try:
            async for data in responses:
                yield call.parse(data)
        except grpc.RpcError as error:
            raise errors.to_error(error) from error
        finally:
            responses.cancel()


class LocalCommandClient(CommandClient, LocalClient):
    """Calls a server of its own, in this process: no port, no keys, summaries in a folder that goes with it."""


@asynccontextmanager
async def open_client(
    connection: Connection,
    timeout_s: float,
    retry: RetryPolicy = DEFAULT_RETRY,
    *,
    local: Mapping[str, Any] | None = None,
) -> AsyncIterator[CommandClient]:
    """Opens a client for one command; errors of calls inside the block become CliErrors.

    Args:
        connection: how the server is reached.
        timeout_s: bounds each unary call.
        retry: how often failed calls are made again.
        local: settings of a server in this process, which is called instead; None for none.
    """
    with server_errors(connection):
        if local is not None:
            logging.getLogger().addHandler(logging.NullHandler())  # else its warnings stand between ours
        made = None if local is None else LocalCommandClient(local, timeout_s=timeout_s, retry=retry)
        async with made or new_client(connection, timeout_s, retry) as client:
            client.flags = "" if connection.address == DEFAULT_ADDRESS else f" --address {connection.address}"
            yield client


def new_client(connection: Connection, timeout_s: float, retry: RetryPolicy = DEFAULT_RETRY) -> CommandClient:
    """Builds the client. Raises InputError for an option that cannot be used."""
    check_address(connection.address)
    ca, cert, key = connection.tls_ca, connection.tls_cert, connection.tls_key
    if (cert is None) != (key is None) or (cert and ca is None):
        raise InputError("--tls-cert and --tls-key go together, and with --tls-ca: give all of them")
    tls = None if ca is None else Tls(ca, cert, key)
    try:
        return CommandClient(
            connection.address, api_key=connection.api_key_file, tls=tls, timeout_s=timeout_s, retry=retry
        )
    except OSError as error:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"--api-key-file {connection.api_key_file}: {error}") from error


def check_address(address: str) -> None:
    """Raises InputError for an address that can only be a slip; gRPC would look for a host of that name."""
    host, _, port = address.rpartition(":")
    is_name = (host.startswith("[") and host.endswith("]")) or (host and not set(host) & set(":/"))
    others = ("unix:", "unix-abstract:", "vsock:", "dns:", "ipv4:", "ipv6:", "xds:")  # that gRPC resolves
    if address.startswith(others) or (is_name and port.isdecimal()):
        return
    slip = f"has {address.partition('://')[0]}:// in front" if "://" in address else "names no port"
    raise InputError(f"--address {address} {slip}: write HOST:PORT, for example 127.0.0.1:50051")


@contextmanager
def server_errors(connection: Connection, place: str = "") -> Iterator[None]:
    """Turns a failed call into one line that says what to do; `place` begins the line when several could fail."""
    try:
        yield
    except errors.PrecisError as error:
        failure = to_cli_error(error, connection)
        failure.message = place + failure.message
        raise failure from error


def to_cli_error(error: errors.PrecisError, connection: Connection) -> CliError:
    """Chooses the message and the exit code for a failed call."""
    if not error.reason and (failure := transport_error(error, connection)):
        return failure
    if isinstance(error, errors.Unauthenticated):
        file = connection.api_key_file
        problem = (
            f"does not know the API key in {file}: name another file" if file else "wants an API key: name the file"
        )
        return InputError(f"{connection.address} {problem} with --api-key-file")
    message = "; ".join(f"{violation.field}: {violation.description}" for violation in error.violations) or str(error)
    message += ": `precis summaries list` shows those there are" if error.reason == "UNKNOWN_SUMMARY" else ""
    if isinstance(error, INPUT_ERRORS) or error.reason == "NOT_STARTED":  # of a server in this process
        return InputError(message)
    if isinstance(error, RETRY_ERRORS):
        return TryLaterError(f"{message} (try later)")
    return CliError(f"{error.code.name}: {message}")


def transport_error(error: errors.PrecisError, connection: Connection) -> CliError | None:
    """Says what to do about an error that gRPC itself makes, without the reason that each of this server's has."""
    address, details = connection.address, str(error)
    is_tls = connection.tls_ca is not None and any(word in details.upper() for word in ("SSL", "TLS", "HANDSHAKE"))
    failure: CliError | None = None
    match error:
        case errors.Unavailable() if "WRONG_VERSION_NUMBER" in details:
            failure = InputError(f"{address} speaks plaintext, not TLS: leave out --tls-ca, or name another port")
        case errors.Unavailable() if "security handshaker" in details:
            failure = InputError(f"--tls-ca {connection.tls_ca} holds no certificate in PEM")
        case errors.Unavailable() if is_tls:
            check = "check --tls-ca and the server's certificate"
            failure = TryLaterError(f"cannot reach {address} over TLS: {details}: {check}")
        case errors.Unavailable() if "Failed parsing HTTP/2" in details:
            other = "and not of its metrics or of a web server"
            failure = InputError(f"{address} does not speak gRPC: write HOST:PORT of the server, {other}")
        case errors.Unavailable():
            start = "start it with `precis serve`, or name another server with --address"
            tls = "; if it wants TLS, give --tls-ca" if "Socket closed" in details else ""
            failure = TryLaterError(f"cannot reach {address}: {start}{tls}")
        case errors.DeadlineExceeded():
            failure = TryLaterError(f"no answer from {address} in time: raise --timeout, or try later")
        case errors.MessageTooLarge():
            failure = InputError(f"{address} does not take so large a message, split the text: {details}")
        case errors.Unimplemented():
            failure = CliError(f"{address} does not offer this call: is it a Precis server of this version?")
    return failure
