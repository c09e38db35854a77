"""Errors that the client raises.

    PrecisError                  anything that kept a call from its result
    ├── InvalidArgument          a field breaks a rule: `field`, `expected`
    ├── MessageTooLarge          the request or the response is larger than one side accepts
    ├── Overloaded               the server is full: `retry_delay_s`
    ├── DeadlineExceeded         the time was too short
    ├── Unavailable              there is no server, or it is stopping
    ├── Unauthenticated          no API key, or a wrong one
    ├── PermissionDenied         the key does not allow this
    ├── NotFound                 no summary has this id
    ├── AlreadyExists            the idempotency key belongs to another request
    ├── Aborted                  the summary is running elsewhere: `retry_delay_s`
    ├── FailedPrecondition       the server runs without what the call needs
    ├── Unimplemented            the server does not offer the call
    ├── Cancelled                somebody cancelled the call
    ├── Internal                 an error of the server: its log has it under `request_id`
    ├── SummaryIncomplete        a summary ended before it was done: `summary`
    └── NoScore                  a metric could not be scored

Each has the `code`, the `reason` and the `request_id` that the server sent; without a valid key there is no id.
"""

from collections.abc import Mapping
from dataclasses import replace

import grpc

from precis.rich_status import FieldViolation, RichStatus, read_status
from precis.v1 import common_pb2, summarize_pb2


class PrecisError(Exception):
    """Base of every error that the client raises. Its text is one sentence that says what to do."""

    def __init__(self, status: RichStatus) -> None:
        super().__init__(status)
        self._status = status

    def __str__(self) -> str:
        return self._status.message

    @property
    def code(self) -> grpc.StatusCode:
        """Canonical gRPC code."""
        return self._status.code

    @property
    def reason(self) -> str:
        """Stable word for programs, for example "QUEUE_FULL"; empty when the server sent none."""
        return self._status.reason

    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """Fields that were refused, each with what was expected."""
        return self._status.violations

    @property
    def field(self) -> str:
        """Path of the first field that was refused, for example `texts[3]`; empty when no field is to blame."""
        return self.violations[0].field if self.violations else ""

    @property
    def expected(self) -> str:
        """What was expected of `field`, and what was there; empty when no field is to blame."""
        return self.violations[0].description if self.violations else ""

    @property
    def retry_delay_s(self) -> float | None:
        """How long to wait before the same call may work; None when the server names no time."""
        return self._status.retry_delay_s

    @property
    def request_id(self) -> str:
        """Name of the call in the server's log; empty when the call did not reach a server."""
        return self._status.request_id


class InvalidArgument(PrecisError):
    """A field of the request breaks a rule: `field` and `expected` say which."""


class MessageTooLarge(PrecisError):
    """The request is larger than the server accepts, or the response than it sends or than `max_message_bytes`."""


class Overloaded(PrecisError):
    """The server refuses for now: its queue is full. The client has tried again already, as often as it may."""


class DeadlineExceeded(PrecisError):
    """The call took longer than its `timeout_s`."""


class Unavailable(PrecisError):
    """No server answers there, or it is stopping. The client has tried again already, as often as it may."""


class Unauthenticated(PrecisError):
    """The server wants an API key, or another one."""


class PermissionDenied(PrecisError):
    """The server does not allow the call."""


class NotFound(PrecisError):
    """What the call names does not exist; a summary may have expired."""


class AlreadyExists(PrecisError):
    """The idempotency key belongs to another request."""


class Aborted(PrecisError):
    """Another reader, or another server, runs the summary now."""


class FailedPrecondition(PrecisError):
    """The server runs without what the call needs, for example a model."""


class Unimplemented(PrecisError):
    """What listens there does not offer the call."""


class Cancelled(PrecisError):
    """The call was cancelled before it had a result."""


class DataLoss(PrecisError):
    """What the server has stored of this summary cannot be read. Other summaries can."""


class Internal(PrecisError):
    """Something is wrong with the server, or with what lies between."""


class SummaryIncomplete(PrecisError):
    """A summary ended before it was done; it can be resumed by its id.

    Attributes:
        summary: as far as it came.
    """

    def __init__(self, summary: summarize_pb2.Summary) -> None:
        failure = summary.failure
        why = failure.message if summary.HasField("failure") else "somebody cancelled it"
        delay = failure.retry_delay
        super().__init__(
            RichStatus(
                grpc.StatusCode.ABORTED,
                f"summary {summary.summary_id} is not done and can be resumed: {why}",
                reason=failure.kind,
                retry_delay_s=delay.seconds + delay.nanos / 1e9 if failure.HasField("retry_delay") else None,
            )
        )
        self.summary = summary

    def __reduce__(self) -> tuple[type["SummaryIncomplete"], tuple[summarize_pb2.Summary]]:
        return type(self), (self.summary,)


class NoScore(PrecisError):
    """A metric could not be scored, so that there is no number to return."""

    def __init__(self, metric: str, why: str) -> None:
        message = f"{metric} has no score: {why}"
        super().__init__(RichStatus(grpc.StatusCode.FAILED_PRECONDITION, message, reason="NO_SCORE"))
        self.metric, self.why = metric, why

    def __reduce__(self) -> tuple[type["NoScore"], tuple[str, str]]:
        return type(self), (self.metric, self.why)


_CLASSES: Mapping[grpc.StatusCode, type[PrecisError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Overloaded,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExists,
    grpc.StatusCode.ABORTED: Aborted,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
    grpc.StatusCode.UNIMPLEMENTED: Unimplemented,
    grpc.StatusCode.CANCELLED: Cancelled,
    grpc.StatusCode.DATA_LOSS: DataLoss,
}
_HINTS = {
    grpc.StatusCode.DEADLINE_EXCEEDED: "no answer in time: raise timeout_s, or try later",
    grpc.StatusCode.UNAVAILABLE: "cannot reach the server: is the address right, and TLS on both sides or on none?",
    grpc.StatusCode.UNIMPLEMENTED: "the server does not offer this call: is it Precis, and of this version?",
}
"""What to do about errors that gRPC itself makes; the server's own say it."""

_CODES = {code.value[0]: code for code in grpc.StatusCode}


def to_error(error: grpc.RpcError) -> PrecisError:
    """Turns the failure of a call into the error that the user gets."""
    return error_of(read_status(error))


def item_error(item: common_pb2.ItemError, place: str = "") -> PrecisError:
    """Turns the error of one item into the error that a call for this item alone would raise.

    Args:
        item: as the server sent it.
        place: of the item in its request, for example `texts[3]`; taken when the server blames no field.
    """
    delay = item.retry_delay
    field = item.field or place
    status = RichStatus(
        _CODES.get(item.code, grpc.StatusCode.UNKNOWN),
        item.message,
        violations=(FieldViolation(field, item.message),) if field else (),
        retry_delay_s=delay.seconds + delay.nanos / 1e9 if item.HasField("retry_delay") else None,
    )
    return error_of(status)


def invalid_argument(field: str, expected: str) -> InvalidArgument:
    """Makes the error of an argument that the client itself refuses."""
    violation = FieldViolation(field, expected)
    return InvalidArgument(
        RichStatus(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: {expected}", violations=(violation,))
    )


_RESET = "RST_STREAM"
_TOO_LARGE = "RESPONSE_TOO_LARGE"


def error_of(status: RichStatus) -> PrecisError:
    """Chooses the class of a status."""
    if status.reason == _TOO_LARGE:
        return MessageTooLarge(status)  # with the code of a full queue, but to wait does not help
    if status.is_from_server:
        return _CLASSES.get(status.code, Internal)(status)
    if status.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return MessageTooLarge(status)  # a full queue comes with a rich status
    if status.code is grpc.StatusCode.INTERNAL and _RESET in status.message:
        return Unavailable(status)  # a proxy whose server has gone cannot say it in another way once answers have come
    if status.code in _HINTS:
        status = replace(status, message=f"{_HINTS[status.code]} ({status.message})")
    return _CLASSES.get(status.code, Internal)(status)
