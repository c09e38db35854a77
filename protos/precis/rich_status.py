"""Reads why a call failed: gRPC's code, and the rich status that a Precis server sends with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError

from precis.wire_messages import wire_message

_TRAILER = "grpc-status-details-bin"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field that the server refuses.

    Attributes:
        field: path in the request, for example `texts[3]`.
        description: what was expected and what was there.
    """

    field: str
    description: str


@dataclass(frozen=True, slots=True)
class RichStatus:
    """Why a call, or one item of it, failed.

    Attributes:
        code: canonical gRPC code.
        message: one sentence that says what to do.
        reason: stable word for programs, for example "QUEUE_FULL"; empty when none was sent.
        violations: fields that were refused.
        retry_delay_s: how long to wait before the same call may work; None when waiting does not help.
        request_id: the server's log has the call under it; empty when none was sent.
        is_from_server: False if gRPC itself made the error, on either side.
    """

    code: grpc.StatusCode
    message: str
    reason: str = ""
    violations: tuple[FieldViolation, ...] = ()
    retry_delay_s: float | None = None
    request_id: str = ""
    is_from_server: bool = True


def read_status(error: grpc.RpcError) -> RichStatus:
    """Returns all that a failed call tells."""
    trailers = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())  # pairs, sync or not
    return parse_status(error.code(), error.details() or "no details", trailers)


def parse_status(code: grpc.StatusCode, message: str, trailers: Iterable[tuple[str, str | bytes]]) -> RichStatus:
    """Returns all that the end of a call tells, whoever reads it."""
    for key, value in trailers:
        if key == _TRAILER and isinstance(value, bytes):
            try:
                return _parse(code, message, value)
            except DecodeError:
                break  # something between client and server wrote it
    return RichStatus(code, message, is_from_server=False)


def _parse(code: grpc.StatusCode, message: str, data: bytes) -> RichStatus:
    status = wire_message("Status").FromString(data)
    details = {detail.type_url.rpartition("/")[2]: detail.value for detail in status.details}

    def detail(name: str) -> Any:  # noqa: ANN401 - see wire_message
        return wire_message(name).FromString(details.get(f"google.rpc.{name}", b""))

    violations = detail("BadRequest").field_violations
    delay = detail("RetryInfo").retry_delay if "google.rpc.RetryInfo" in details else None
    return RichStatus(
        code,
        status.message or message,
        reason=detail("ErrorInfo").reason,
        violations=tuple(FieldViolation(violation.field, violation.description) for violation in violations),
        retry_delay_s=None if delay is None else delay.seconds + delay.nanos / 1e9,
        request_id=detail("RequestInfo").request_id,
    )
