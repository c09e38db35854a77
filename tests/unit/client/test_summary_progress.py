"""A summary is followed from event to event, and from stream to stream."""

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from precis import RetryPolicy, errors
from precis.summary_progress import SummaryFollower, SummaryStep
from precis.v1 import summarize_pb2 as pb

from tests.unit.client.failures import broken, failed

REQUEST = pb.SummarizeRequest(document=pb.Document(text="x"), idempotency_key="key", include_text=True)
ACCEPTED = pb.SummaryEvent(accepted=pb.SummaryAccepted(summary_id="s1"))
WARNING = pb.SummaryEvent(warning=pb.SummaryWarning(code="empty_chunks"))
DONE = pb.SummaryEvent(summary=pb.Summary(summary_id="s1", status=pb.SUMMARY_STATUS_DONE, text="short"))


def follower() -> SummaryFollower:
    return SummaryFollower(REQUEST, RetryPolicy(max_attempts=2, max_resumes=2, base_delay_s=0.0), None)


def batch(calls_done: int) -> pb.SummaryEvent:
    progress = pb.SummaryProgress(
        phase=pb.SUMMARY_PHASE_MAP,
        calls_done=calls_done,
        calls_total=9,
        eta=Duration(seconds=4),
        elapsed=Duration(seconds=2),
    )
    return pb.SummaryEvent(batch=pb.BatchDone(progress=progress))


def taken(reader: SummaryFollower, event: pb.SummaryEvent) -> SummaryStep:
    step = reader.take(event)
    assert step is not None
    return step


def test_a_step_says_how_far_the_summary_is() -> None:
    reader = follower()
    first = taken(reader, ACCEPTED)
    assert (first.kind, first.phase, first.calls_total, first.eta_s) == ("accepted", "plan", 0, None)
    assert reader.summary_id == "s1"
    step = taken(reader, batch(3))
    assert (step.kind, step.phase, step.calls_done, step.calls_total) == ("batch", "map", 3, 9)
    assert (step.elapsed_s, step.eta_s) == (2.0, 4.0)
    warning = taken(reader, WARNING)  # has the progress of the step before
    assert (warning.kind, warning.calls_done, warning.message.warning.code) == ("warning", 3, "empty_chunks")


def test_the_summary_is_the_result_and_no_step_and_neither_is_an_event_of_a_newer_server() -> None:
    reader = follower()
    assert reader.take(pb.SummaryEvent()) is None
    with pytest.raises(errors.Cancelled):  # a stream that was closed has no result
        reader.result()
    assert reader.take(DONE) is None
    assert reader.result().text == "short"


def test_a_summary_is_begun_again_with_its_key_until_it_has_an_id_which_is_enough_to_follow_it() -> None:
    reader = follower()
    reader.delay_s(broken())
    assert reader.next_call().path == "/precis.v1.SummarizeService/Summarize"
    assert reader.next_call().request is REQUEST
    reader = SummaryFollower(pb.ResumeSummaryRequest(summary_id="s7"), RetryPolicy(), 5.0)
    assert reader.summary_id == "s7"
    assert reader.next_call().request == pb.ResumeSummaryRequest(summary_id="s7")
    assert reader.remaining_s is not None


def test_streams_that_bring_nothing_new_are_opened_a_bounded_number_of_times_and_others_without_bound() -> None:
    reader = follower()
    reader.take(ACCEPTED)
    reader.take(batch(3))
    for _ in range(2):
        reader.delay_s(broken())
        for event in (ACCEPTED, pb.SummaryEvent(plan=pb.PlanMade()), WARNING, batch(3)):
            reader.take(event)
    with pytest.raises(errors.Unavailable):
        reader.delay_s(broken())
    reader = follower()
    for calls_done in range(1, 10):
        reader.take(batch(calls_done))
        reader.delay_s(broken())


def test_a_failure_that_is_no_broken_stream_is_raised() -> None:
    reader = follower()
    reader.take(ACCEPTED)
    with pytest.raises(errors.NotFound):
        reader.delay_s(errors.to_error(failed(grpc.StatusCode.NOT_FOUND, "expired")))
