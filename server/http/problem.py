"""Statuses of calls as problem details for HTTP (RFC 9457), with the field names of the contract."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2

MEDIA_TYPE = "application/problem+json"

HTTP_CODES: Mapping[grpc.StatusCode, int] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What a caller gets in place of an answer: an HTTP status, a body, and headers that belong to it."""

    http_code: int
    body: dict[str, Any]
    headers: dict[str, str]


def plain_problem(code: grpc.StatusCode, detail: str) -> Problem:
    """Makes a problem that has no more than a sentence."""
    number = HTTP_CODES.get(code, 500)
    body = {"type": "about:blank", "title": code.name, "status": number, "detail": detail}
    return Problem(number, body, {})


def to_problem(status: grpc.Status, rename: Callable[[str], str]) -> Problem:
    """Converts the status of a call; `rename` turns fields of the RPC into those of the HTTP request."""
    problem = plain_problem(status.code, str(status.details))
    for packed in _details(status):
        _add(problem, packed, rename)
    violations = problem.body.get("violations", [])
    if violations:  # the status names the RPC's own fields
        problem.body["detail"] = "; ".join(f"{one['field']}: {one['description']}" for one in violations)
    if problem.http_code == HTTP_CODES[grpc.StatusCode.UNAUTHENTICATED]:
        problem.headers["WWW-Authenticate"] = "Bearer"
    return problem


def _details(status: grpc.Status) -> list[AnyMessage]:
    for key, value in status.trailing_metadata or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            return list(status_pb2.Status.FromString(value).details)
    return []


def _add(problem: Problem, packed: AnyMessage, rename: Callable[[str], str]) -> None:
    """Adds what one detail of the rich status says."""
    info, fields, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    if packed.Unpack(info):
        problem.body["reason"] = info.reason
        problem.body["request_id"] = info.metadata["call_id"]
    elif packed.Unpack(fields):
        problem.body["violations"] = [
            {"field": rename(one.field), "description": one.description} for one in fields.field_violations
        ]
    elif packed.Unpack(retry):
        seconds = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
        problem.body["retry_after_s"] = seconds
        problem.headers["Retry-After"] = str(max(1, -int(-seconds // 1)))
