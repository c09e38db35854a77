"""Every way a call can fail is one line that says what to do, and an exit code."""

from pathlib import Path

import pytest
from grpc import StatusCode
from precis.errors import PrecisError, error_of
from precis.rich_status import FieldViolation, RichStatus

from server.cli.connection import new_client, server_errors
from server.cli.errors import CliError, InputError
from server.cli.options import Connection

HERE = Connection("10.0.0.1:1")
A_FILE = Path(__file__)


def failed(code: StatusCode, details: str) -> PrecisError:
    """A failure that gRPC itself reports."""
    return error_of(RichStatus(code, details, is_from_server=False))


def answered(code: StatusCode, details: str, *fields: str, reason: str = "SOME") -> PrecisError:
    """A failure that the server reports, with the fields it blames."""
    violations = tuple(FieldViolation(field, "wrong") for field in fields)
    return error_of(RichStatus(code, details, reason=reason, violations=violations))


@pytest.mark.parametrize(
    ("error", "exit_code", "parts"),
    [
        (failed(StatusCode.UNAVAILABLE, "failed to connect"), 3, ["cannot reach 10.0.0.1:1", "`precis serve`"]),
        (failed(StatusCode.UNAVAILABLE, "x: Socket closed"), 3, ["cannot reach 10.0.0.1:1", "wants TLS", "--tls-ca"]),
        (failed(StatusCode.UNAVAILABLE, "x: WRONG_VERSION_NUMBER: x"), 2, ["speaks plaintext", "leave out --tls-ca"]),
        (failed(StatusCode.UNAVAILABLE, "Failed parsing HTTP/2 (x)"), 2, ["write HOST:PORT", "metrics"]),
        (failed(StatusCode.DEADLINE_EXCEEDED, "x"), 3, ["10.0.0.1:1", "--timeout"]),
        (failed(StatusCode.RESOURCE_EXHAUSTED, "larger than max (9 vs. 8)"), 2, ["so large a message", "(9 vs. 8)"]),
        (failed(StatusCode.UNIMPLEMENTED, "x"), 4, ["does not offer this call"]),
        (answered(StatusCode.UNAVAILABLE, "shutting down"), 3, ["shutting down", "try later"]),
        (answered(StatusCode.RESOURCE_EXHAUSTED, "queue is full"), 3, ["queue is full", "try later"]),
        (answered(StatusCode.INVALID_ARGUMENT, "no", "a.b", "c[1]"), 2, ["a.b: wrong; c[1]: wrong"]),
        (answered(StatusCode.UNAUTHENTICATED, "send the metadata"), 2, ["wants an API key", "--api-key-file"]),
        (answered(StatusCode.INTERNAL, "id=7"), 4, ["INTERNAL: id=7"]),
        (answered(StatusCode.NOT_FOUND, "no", reason="UNKNOWN_SUMMARY"), 2, ["no", "`precis summaries list`"]),
    ],
    ids=lambda value: value.code.name if isinstance(value, PrecisError) else "",
)
def test_a_failed_call_says_what_to_do(error: PrecisError, exit_code: int, parts: list[str]) -> None:
    with pytest.raises(CliError) as caught, server_errors(HERE):
        raise error
    assert caught.value.exit_code == exit_code
    assert all(part in caught.value.message for part in parts)
    assert "\n" not in caught.value.message


def test_a_key_that_is_not_known_is_named() -> None:
    connection = Connection("10.0.0.1:1", api_key_file=A_FILE)
    with pytest.raises(InputError, match=f"does not know the API key in {A_FILE}"), server_errors(connection):
        raise answered(StatusCode.UNAUTHENTICATED, "no")


def test_the_place_begins_the_line() -> None:
    with pytest.raises(CliError) as caught, server_errors(HERE, "second.txt: "):
        raise answered(StatusCode.INVALID_ARGUMENT, "no", "generated.text")
    assert caught.value.message == "second.txt: generated.text: wrong"


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), server_errors(HERE):
        _ = 1 / 0


@pytest.mark.parametrize(
    "connection", [Connection(tls_cert=A_FILE), Connection(tls_ca=A_FILE, tls_key=A_FILE)], ids=["no CA", "no pair"]
)
async def test_half_of_the_tls_options_is_refused(connection: Connection) -> None:
    with pytest.raises(InputError, match="--tls-cert"):
        new_client(connection, 1.0)


@pytest.mark.parametrize(
    ("address", "slip"),
    [
        ("http://127.0.0.1:50051", "has http:// in front"),
        ("https://host:1/x", "has https:// in front"),
        ("localhost", "names no port"),
        ("host:", "names no port"),
        ("[::1]", "names no port"),
    ],
)
async def test_an_address_that_can_only_be_a_slip_is_refused(address: str, slip: str) -> None:
    with pytest.raises(InputError, match=f"{slip}: write HOST:PORT"):
        new_client(Connection(address), 1.0)


@pytest.mark.parametrize("address", ["localhost:50051", "[::1]:50051", "unix:/run/precis.sock", "dns:///host:1"])
async def test_every_name_that_grpc_resolves_is_taken(address: str) -> None:
    await new_client(Connection(address), 1.0).close()
