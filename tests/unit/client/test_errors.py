"""A failed call becomes one error of the tree, with all that the server said."""

import pickle

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2
from grpc.aio import AioRpcError
from precis import errors
from precis.v1 import common_pb2
from precis.v1 import summarize_pb2 as pb

from server.errors import STATUS_RULES
from tests.unit.client.failures import answered, failed

VIOLATIONS = error_details_pb2.BadRequest(
    field_violations=[
        error_details_pb2.BadRequest.FieldViolation(field="source", description="expected a text, got nothing"),
        error_details_pb2.BadRequest.FieldViolation(field="options.eta", description="expected above 0, got -1"),
    ]
)


def test_a_refused_field_is_named_with_what_was_expected() -> None:
    error = errors.to_error(
        answered(
            grpc.StatusCode.INVALID_ARGUMENT,
            "source: expected a text, got nothing (and 1 more)",
            error_details_pb2.ErrorInfo(reason="INVALID_REQUEST", domain="precis", metadata={"call_id": "7"}),
            error_details_pb2.RequestInfo(request_id="7"),
            VIOLATIONS,
        )
    )
    assert isinstance(error, errors.InvalidArgument)
    assert (error.field, error.expected) == ("source", "expected a text, got nothing")
    assert [violation.field for violation in error.violations] == ["source", "options.eta"]
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert (error.request_id, error.retry_delay_s) == ("7", None)
    assert str(error) == "source: expected a text, got nothing (and 1 more)"


RETRY = error_details_pb2.RetryInfo(retry_delay=Duration(seconds=2, nanos=500_000_000))
TOO_LARGE = error_details_pb2.ErrorInfo(reason="RESPONSE_TOO_LARGE", domain="precis")
FULL = grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("failure", "kind", "delay_s"),
    [
        (answered(FULL, "the queue is full", RETRY), errors.Overloaded, 2.5),
        (answered(FULL, "full", error_details_pb2.RetryInfo()), errors.Overloaded, 0.0),
        (failed(FULL, "larger than max (9 vs. 8)"), errors.MessageTooLarge, None),
        (answered(FULL, "ask for a smaller `view`", TOO_LARGE), errors.MessageTooLarge, None),
    ],
    ids=["a delay", "a delay of nothing", "a request that is too large", "a response that is not sent"],
)
def test_a_full_queue_says_when_to_come_back_and_what_is_too_large_is_not_taken_for_it(
    failure: AioRpcError, kind: type[errors.PrecisError], delay_s: float | None
) -> None:
    error = errors.to_error(failure)
    assert (type(error), error.retry_delay_s, str(failure.details()) in str(error)) == (kind, delay_s, True)


@pytest.mark.parametrize("trailer", [b"\xff\xff", b"\x1a\x05\x0a\x03abc"], ids=["garbage", "detail of no known type"])
def test_trailers_of_somebody_else_do_no_harm(trailer: bytes) -> None:
    error = errors.to_error(failed(grpc.StatusCode.UNAVAILABLE, "proxy down", trailer))
    assert isinstance(error, errors.Unavailable)
    assert "proxy down" in str(error)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, "raise timeout_s"),
        (grpc.StatusCode.UNAVAILABLE, "is the address right"),
        (grpc.StatusCode.UNIMPLEMENTED, "is it Precis"),
    ],
)
def test_errors_of_grpc_itself_say_what_to_do_and_what_grpc_said(code: grpc.StatusCode, hint: str) -> None:
    text = str(errors.to_error(failed(code, "details")))
    assert hint in text
    assert text.endswith("(details)")
    assert str(errors.to_error(answered(code, "the server's own"))) == "the server's own"
    assert str(errors.to_error(failed(grpc.StatusCode.CANCELLED, None))) == "no details"


def test_a_stream_that_a_proxy_reset_can_be_resumed() -> None:
    reset = failed(grpc.StatusCode.INTERNAL, "Stream removed (RST_STREAM (Received RST_STREAM with error code 2))")
    assert isinstance(errors.to_error(reset), errors.Unavailable)
    assert isinstance(errors.to_error(failed(grpc.StatusCode.INTERNAL, "a bug")), errors.Internal)


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK])
def test_every_code_has_a_class_and_those_that_the_server_sends_one_of_their_own(code: grpc.StatusCode) -> None:
    error = errors.to_error(answered(code, "why"))
    assert type(error) is not errors.PrecisError
    assert error.code is code
    if code in {rule.code for rule in STATUS_RULES.values()} - {grpc.StatusCode.INTERNAL}:
        assert type(error) is not errors.Internal


def test_an_item_fails_like_a_call_for_it_alone() -> None:
    item = common_pb2.ItemError(code=8, message="full", retry_delay=Duration(seconds=1))
    error = errors.item_error(item)
    assert isinstance(error, errors.Overloaded)
    assert error.retry_delay_s == 1.0
    refused = errors.item_error(common_pb2.ItemError(code=3, message="expected a text", field="texts[3]"), "else")
    assert isinstance(refused, errors.InvalidArgument)
    assert refused.field == "texts[3]"
    assert errors.item_error(common_pb2.ItemError(code=13), "texts[4]").field == "texts[4]"
    assert isinstance(errors.item_error(common_pb2.ItemError(code=99, message="newer")), errors.Internal)


def test_a_partial_summary_is_an_error_that_has_it() -> None:
    failure = pb.SummaryFailure(
        kind="AuthenticationFailedError", message="check the key", retry_delay=Duration(seconds=3)
    )
    error = errors.SummaryIncomplete(pb.Summary(summary_id="s1", text="so far", failure=failure))
    assert (error.summary.text, error.reason, error.retry_delay_s) == ("so far", "AuthenticationFailedError", 3.0)
    assert str(error) == "summary s1 is not done and can be resumed: check the key"
    assert "somebody cancelled it" in str(errors.SummaryIncomplete(pb.Summary(summary_id="s1")))


@pytest.mark.parametrize(
    "error",
    [
        errors.to_error(answered(grpc.StatusCode.INVALID_ARGUMENT, "no", VIOLATIONS)),
        errors.NoScore("coverage", "no_claims"),
        errors.SummaryIncomplete(pb.Summary(summary_id="s1")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_processes(error: errors.PrecisError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(copy) is type(error)
    assert (str(copy), copy.code, copy.field) == (str(error), error.code, error.field)
