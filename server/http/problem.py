"""Statuses of calls as problem details for HTTP (RFC 9457), with the field names of the contract."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from precis.rich_status import parse_status

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
    told = parse_status(status.code, str(status.details), status.trailing_metadata or ())
    problem = plain_problem(told.code, told.message)
    if told.reason:
        problem.body.update(reason=told.reason, **({"request_id": told.request_id} if told.request_id else {}))
    if told.violations:  # the status names the RPC's own fields
        fields = [{"field": rename(one.field), "description": one.description} for one in told.violations]
        problem.body["detail"] = "; ".join(f"{one['field']}: {one['description']}" for one in fields)
        problem.body["violations"] = fields
    if told.retry_delay_s is not None:
        problem.body["retry_after_s"] = told.retry_delay_s
        problem.headers["Retry-After"] = str(max(1, math.ceil(told.retry_delay_s)))
    if told.code is grpc.StatusCode.UNAUTHENTICATED:
        problem.headers["WWW-Authenticate"] = "Bearer"
    return problem
