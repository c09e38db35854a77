"""Errors of the server package, and the one table from all our errors to gRPC status codes.

    ServerError
    ├── InvalidRequestError(violations)   the request's fields break rules
    ├── UnauthenticatedError              no bearer key, or a wrong one
    ├── TooManyCallsError(retry_after_s)  more in flight than the server, or this caller's share, allows
    │   └── QuotaExceededError            more than the tenant's quota
    ├── RequestTimeoutError               a call whose message does not come
    ├── ResponseTooLargeError             more than one message may have
    ├── ModelNotLoadedError(role)         the server runs without the model that the call needs
    ├── UnservedModelError                no model has the name that the call asks for
    ├── NotOfferedError                   the RPC belongs to a protocol, and this server leaves it out
    ├── StartingError                     the server listens, and does not serve yet
    ├── NoWriterError                     the server runs without anything that could write a summary
    └── StartupError                      the server cannot start; one line for the operator
        └── SettingsError                 because of its settings

Data flow: bytes -> `rpc/wire` -> message -> `services/*_request` (InvalidRequestError, InvalidInputError) ->
`inference` and `pipeline` (their own errors). Then `rpc/calls` asks the table below, and `rpc/status` writes what the
client gets.
Messages of listed errors reach the client, so they name fields, limits and numbers, never a text. All else is INTERNAL.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grpc import StatusCode

from inference import errors as inference
from pipeline.errors import InvalidInputError
from pipeline.summarize import errors as summarize


class ServerError(Exception):
    """Base of every error that this package raises on purpose."""


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One broken rule of a request."""

    field: str  # path in the request, for example `texts[3]`
    description: str  # what was expected and what was there; never the caller's text


class InvalidRequestError(ServerError):
    """The request breaks one or more rules; `violations` is not empty."""

    def __init__(self, violations: Sequence[FieldViolation]) -> None:
        first, more = violations[0], len(violations) - 1
        rest = f" (and {more} more)" if more else ""
        super().__init__(f"{first.field}: {first.description}{rest}")
        self.violations = tuple(violations)


def refusal(field: str, description: str) -> InvalidRequestError:
    """Blames one field of a request."""
    return InvalidRequestError([FieldViolation(field, description)])


class UnauthenticatedError(ServerError):
    """The call carries no bearer key that the server knows.

    Attributes:
        key: the beginning of the digest of the key that it has, for the log; empty if it has none.
    """

    def __init__(self, key: str = "") -> None:
        super().__init__("send the metadata `authorization: Bearer <key>` with a key that this server knows")
        self.key = key


class TooManyCallsError(ServerError):
    """More is in flight, altogether or for this caller, than the server accepts."""

    def __init__(self, reason: str, *, retry_after_s: float) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class QuotaExceededError(TooManyCallsError):
    """A tenant has used more than its quota."""

    def __init__(self, quota: str, *, retry_after_s: float) -> None:
        super().__init__(f"the quota of {quota} is used up", retry_after_s=retry_after_s)


class RequestTimeoutError(ServerError):
    """A client began a call, and sent nothing more, or took nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the client sent or took nothing for {seconds:.3g} s")


class ResponseTooLargeError(ServerError):
    """A response that is larger than this server sends; the same request gives it again."""

    def __init__(self, size: int, most: int) -> None:
        mib = 1 << 20
        super().__init__(
            f"the response has {size / mib:.1f} MiB, more than the {most / mib:g} of listen.max_send_mib; "
            "ask for a smaller `view`, or send less at once"
        )


class ModelNotLoadedError(ServerError):
    """The settings leave out the model that the call needs."""

    def __init__(self, role: str) -> None:
        super().__init__(
            f"this server runs without the {role} model; its operator can add it to PRECIS_INFERENCE__ROLES"
        )
        self.role = role


class UnservedModelError(ServerError):
    """No model has the name and version that the call asks for."""


class NotOfferedError(ServerError):
    """The RPC belongs to a protocol that this server speaks, and is one of those that it leaves out."""


class StartingError(ServerError):
    """The server listens, and what answers calls is not there yet."""

    def __init__(self) -> None:
        self.retry_after_s = 1.0 + random.random() / 2  # noqa: S311 - models load in seconds; not all come back at once
        super().__init__("the server is starting and loads its models; try again soon, or another server")


class NoWriterError(ServerError):
    """The settings name no language model and leave out a model of the extractive writer."""

    def __init__(self) -> None:
        super().__init__(
            "this server has nothing to write summaries with; its operator can set PRECIS_LLM__BASE_URL and "
            "PRECIS_LLM__MODEL, or add the models embedding and nli to PRECIS_INFERENCE__ROLES"
        )


class StartupError(ServerError):
    """The server cannot start. The message is one line that says what to do."""


class SettingsError(StartupError):
    """A setting is unknown, has a wrong value, or its file cannot be read."""


@dataclass(frozen=True, slots=True)
class StatusRule:
    """How an error is told to a client. The reason is that of google.rpc.ErrorInfo: stable, for programs."""

    code: StatusCode
    reason: str


INTERNAL = StatusRule(StatusCode.INTERNAL, "INTERNAL")

STATUS_RULES: Mapping[type[Exception], StatusRule] = {
    InvalidRequestError: StatusRule(StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    InvalidInputError: StatusRule(StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    inference.ListTooLongError: StatusRule(StatusCode.INVALID_ARGUMENT, "LIST_TOO_LONG"),
    UnauthenticatedError: StatusRule(StatusCode.UNAUTHENTICATED, "UNKNOWN_KEY"),
    TooManyCallsError: StatusRule(StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_CALLS"),
    QuotaExceededError: StatusRule(StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED"),
    ResponseTooLargeError: StatusRule(StatusCode.RESOURCE_EXHAUSTED, "RESPONSE_TOO_LARGE"),
    RequestTimeoutError: StatusRule(StatusCode.DEADLINE_EXCEEDED, "REQUEST_TIMEOUT"),
    ModelNotLoadedError: StatusRule(StatusCode.FAILED_PRECONDITION, "MODEL_NOT_LOADED"),
    UnservedModelError: StatusRule(StatusCode.NOT_FOUND, "UNKNOWN_MODEL"),
    NotOfferedError: StatusRule(StatusCode.UNIMPLEMENTED, "NOT_OFFERED"),
    inference.QueueFullError: StatusRule(StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL"),
    inference.DeadlineExpiredError: StatusRule(StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXPIRED"),
    StartingError: StatusRule(StatusCode.UNAVAILABLE, "STARTING"),
    inference.ShuttingDownError: StatusRule(StatusCode.UNAVAILABLE, "STOPPING"),
    inference.NoWorkerError: StatusRule(StatusCode.UNAVAILABLE, "NO_WORKER"),
    inference.WorkerDiedError: StatusRule(StatusCode.UNAVAILABLE, "WORKER_DIED"),
    inference.PoisonedItemError: StatusRule(StatusCode.INTERNAL, "ITEM_FAILED"),
    NoWriterError: StatusRule(StatusCode.FAILED_PRECONDITION, "NO_WRITER"),
    summarize.UnknownSummaryError: StatusRule(StatusCode.NOT_FOUND, "UNKNOWN_SUMMARY"),
    summarize.IdempotencyConflictError: StatusRule(StatusCode.ALREADY_EXISTS, "IDEMPOTENCY_CONFLICT"),
    summarize.JobQueueFullError: StatusRule(StatusCode.RESOURCE_EXHAUSTED, "JOB_QUEUE_FULL"),
    summarize.SummaryAsideError: StatusRule(StatusCode.UNAVAILABLE, "STOPPING"),
    summarize.SummaryRunningError: StatusRule(StatusCode.ABORTED, "SUMMARY_RUNNING"),
    summarize.LeaseLostError: StatusRule(StatusCode.ABORTED, "LEASE_LOST"),
    summarize.StorageFullError: StatusRule(StatusCode.RESOURCE_EXHAUSTED, "STORAGE_FULL"),
    summarize.DamagedSummaryError: StatusRule(StatusCode.DATA_LOSS, "SUMMARY_DAMAGED"),
    summarize.StorageError: StatusRule(StatusCode.UNAVAILABLE, "STORAGE_UNAVAILABLE"),
}


def rule_for(error: BaseException) -> StatusRule:
    """Finds the most specific rule for an error; INTERNAL when there is none."""
    return next((STATUS_RULES[kind] for kind in type(error).__mro__ if kind in STATUS_RULES), INTERNAL)


def violations_of(error: BaseException) -> tuple[FieldViolation, ...]:
    """Lists the fields that an error blames."""
    if isinstance(error, InvalidRequestError):
        return error.violations
    if isinstance(error, InvalidInputError):
        return (FieldViolation(error.field, f"expected {error.expected}, got {error.got}"),)
    return ()


def retry_after_s_of(error: BaseException) -> float | None:
    """Says how long the client should wait before it tries again; None when waiting does not help."""
    known: float | None = getattr(error, "retry_after_s", None)
    return None if rule_for(error) is INTERNAL else known
