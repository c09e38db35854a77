"""One table from errors to what a client gets."""

import logging

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from inference.errors import DeadlineExpiredError, PoisonedItemError, QueueFullError, ShuttingDownError, WorkerDiedError
from pipeline.errors import InvalidInputError, ModelOutputError
from pipeline.summarize.errors import (
    IdempotencyConflictError,
    LeaseLostError,
    StorageError,
    StorageFullError,
    SummaryRunningError,
    UnknownSummaryError,
)
from server.errors import (
    FieldViolation,
    InvalidRequestError,
    NoWriterError,
    TooManyCallsError,
    UnauthenticatedError,
    rule_for,
)
from server.rpc.fields import to_duration
from server.rpc.status import to_item_error, to_status

BAD_REQUEST = InvalidRequestError([FieldViolation("texts[2]", "expected a text"), FieldViolation("priority", "no")])


def rich(error: Exception) -> status_pb2.Status:
    """Decodes the google.rpc.Status that travels in the trailing metadata."""
    [(key, value)] = to_status(error, "call-1").trailing_metadata
    assert key == "grpc-status-details-bin"
    return status_pb2.Status.FromString(value)


def detail(error: Exception, into: Message) -> bool:
    """Reads one kind of detail; returns whether the status has it."""
    return any(packed.Unpack(into) for packed in rich(error).details)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BAD_REQUEST, grpc.StatusCode.INVALID_ARGUMENT),
        (InvalidInputError("datum", "10 facts", "9"), grpc.StatusCode.INVALID_ARGUMENT),
        (UnauthenticatedError(), grpc.StatusCode.UNAUTHENTICATED),
        (TooManyCallsError("8 calls", retry_after_s=1), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (QueueFullError(0.5), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (DeadlineExpiredError(), grpc.StatusCode.DEADLINE_EXCEEDED),
        (ShuttingDownError(), grpc.StatusCode.UNAVAILABLE),
        (WorkerDiedError(), grpc.StatusCode.UNAVAILABLE),
        (PoisonedItemError(), grpc.StatusCode.INTERNAL),
        (NoWriterError(), grpc.StatusCode.FAILED_PRECONDITION),
        (UnknownSummaryError("a1"), grpc.StatusCode.NOT_FOUND),
        (IdempotencyConflictError("a1"), grpc.StatusCode.ALREADY_EXISTS),
        (SummaryRunningError("a1", 0.5), grpc.StatusCode.ABORTED),
        (LeaseLostError("a1"), grpc.StatusCode.ABORTED),
        (StorageError("no database"), grpc.StatusCode.UNAVAILABLE),
        (StorageFullError("no space left"), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (ModelOutputError("secret"), grpc.StatusCode.INTERNAL),
        (ValueError("secret"), grpc.StatusCode.INTERNAL),
    ],
)
def test_each_error_has_its_code(error: Exception, code: grpc.StatusCode) -> None:
    status = to_status(error, "call-1")
    assert status.code is code
    assert rich(error).code == code.value[0]
    assert rich(error).message == status.details


@pytest.mark.parametrize("kind", [StorageError, StorageFullError])
def test_where_summaries_are_stored_is_for_the_log_alone(
    kind: type[StorageError], caplog: pytest.LogCaptureFixture
) -> None:
    status = to_status(kind("no space left for /srv/precis/summaries.sqlite"), "call-1")
    assert "summaries" in str(status.details)
    assert "/srv" not in str(status.details)
    assert "id=call-1" in caplog.text
    assert "/srv/precis" in caplog.text


def test_the_most_specific_rule_wins() -> None:
    class FullerQueueError(QueueFullError):
        pass

    assert rule_for(FullerQueueError(1)) is rule_for(QueueFullError(1))


def test_field_violations_travel_as_bad_request() -> None:
    found = error_details_pb2.BadRequest()
    assert detail(BAD_REQUEST, found)
    assert [(violation.field, violation.description) for violation in found.field_violations] == [
        ("texts[2]", "expected a text"),
        ("priority", "no"),
    ]
    assert rich(BAD_REQUEST).message == "texts[2]: expected a text (and 1 more)"


def test_a_refusal_says_when_to_come_back() -> None:
    found = error_details_pb2.RetryInfo()
    assert detail(QueueFullError(0.25), found)
    assert found.retry_delay == to_duration(0.25)
    assert not detail(BAD_REQUEST, found)


def test_every_status_names_its_reason_and_the_call() -> None:
    info, request = error_details_pb2.ErrorInfo(), error_details_pb2.RequestInfo()
    assert detail(QueueFullError(1), info)
    assert (info.reason, info.domain, info.metadata["call_id"]) == ("QUEUE_FULL", "precis", "call-1")
    assert detail(QueueFullError(1), request)
    assert request.request_id == "call-1"


def test_an_unknown_error_is_logged_whole_and_sent_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status = to_status(ValueError("the user's secret"), "call-1")
    assert "secret" not in str(status)
    assert "id=call-1" in status.details
    [record] = caplog.records
    assert "id=call-1" in record.getMessage()
    assert record.exc_info is not None
    assert "secret" in str(record.exc_info[1])


def test_a_known_error_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    to_status(QueueFullError(1), "call-1")
    assert caplog.records == []


def test_an_items_error_carries_code_field_and_delay() -> None:
    assert to_item_error(BAD_REQUEST, "c").field == "texts[2]"
    assert to_item_error(BAD_REQUEST, "c").code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert to_item_error(QueueFullError(1.5), "c").retry_delay == to_duration(1.5)
    assert not to_item_error(PoisonedItemError(), "c").HasField("retry_delay")


@pytest.mark.parametrize(
    ("seconds", "whole", "nanos"), [(0, 0, 0), (1.5, 1, 500_000_000), (-1, 0, 0), (0.9999999999, 1, 0)]
)
def test_durations_are_exact_and_never_negative(seconds: float, whole: int, nanos: int) -> None:
    duration = to_duration(seconds)
    assert (duration.seconds, duration.nanos) == (whole, nanos)
