"""Which failures are tried again, after how long, and how often."""

import json

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2
from precis import SERVICE_CONFIG, RetryPolicy, errors
from precis.calls import EVALUATE, INFERENCE, JUDGE, SUMMARIZE
from precis.retry import Attempts

from tests.fakes import Clock
from tests.unit.client.failures import answered, broken, failed

POLICY = RetryPolicy(max_attempts=3, max_resumes=4, base_delay_s=1.0, max_delay_s=4.0)
SPREAD = 1.25  # delays are up to this much longer, so that clients do not come back together


def refused(delay_s: int | None = 2) -> errors.PrecisError:
    details = [] if delay_s is None else [error_details_pb2.RetryInfo(retry_delay=Duration(seconds=delay_s))]
    return errors.to_error(answered(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", *details))


def running() -> errors.PrecisError:
    retry = error_details_pb2.RetryInfo(retry_delay=Duration(seconds=15))
    return errors.to_error(answered(grpc.StatusCode.ABORTED, "runs elsewhere", retry))


def test_a_full_queue_is_waited_for_as_long_as_it_says_and_a_little_longer() -> None:
    attempts = Attempts(POLICY, None)
    assert 2.0 <= attempts.unary_delay_s(refused()) <= 2.0 * SPREAD
    assert 2.0 <= attempts.unary_delay_s(refused()) <= 2.0 * SPREAD
    for given_up in (attempts, Attempts(RetryPolicy(max_attempts=1), None)):
        with pytest.raises(errors.Overloaded):
            given_up.unary_delay_s(refused())


@pytest.mark.parametrize(
    "error",
    [
        refused(delay_s=None),
        refused(delay_s=61),
        errors.to_error(failed(grpc.StatusCode.RESOURCE_EXHAUSTED, "larger than max")),
        broken(),  # gRPC's own, by the service config
        errors.to_error(answered(grpc.StatusCode.INVALID_ARGUMENT, "no")),
        running(),
    ],
    ids=["a full disk", "an absurd delay", "too large", "unavailable", "invalid", "aborted"],
)
def test_what_would_fail_again_is_raised_at_once(error: errors.PrecisError) -> None:
    with pytest.raises(type(error)):
        Attempts(POLICY, None).unary_delay_s(error)


def test_the_deadline_is_for_all_attempts_together() -> None:
    clock = Clock()
    attempts = Attempts(POLICY, 10.0, clock=clock)
    assert attempts.remaining_s == 10.0
    attempts.unary_delay_s(refused())
    clock.now_s += 9.0
    assert attempts.remaining_s == 1.0
    with pytest.raises(errors.Overloaded):
        attempts.unary_delay_s(refused())  # 2 s would be too late
    clock.now_s += 9.0
    assert attempts.remaining_s == 0.0


def test_resumptions_wait_twice_as_long_each_up_to_a_limit() -> None:
    attempts = Attempts(POLICY, None)
    delays = [attempts.resume_delay_s(broken(), is_accepted=True) for _ in range(4)]
    assert all(least <= delay <= least * SPREAD for least, delay in zip([1.0, 2.0, 4.0, 4.0], delays, strict=True))
    with pytest.raises(errors.Unavailable):
        attempts.resume_delay_s(broken(), is_accepted=True)


def test_a_stream_that_never_began_is_tried_as_often_as_a_unary_call() -> None:
    attempts = Attempts(POLICY, None)
    for _ in range(2):
        attempts.resume_delay_s(broken(), is_accepted=False)
    with pytest.raises(errors.Unavailable):
        attempts.resume_delay_s(broken(), is_accepted=False)


def test_a_summary_that_runs_elsewhere_is_waited_for_only_when_it_was_ours() -> None:
    attempts = Attempts(POLICY, None)
    with pytest.raises(errors.Aborted):
        attempts.resume_delay_s(running(), is_accepted=True)
    attempts.resume_delay_s(broken(), is_accepted=True)
    assert 2.0 <= attempts.resume_delay_s(running(), is_accepted=True) <= 2.0 * SPREAD


def test_the_default_resumptions_outlast_the_lease_of_a_server_that_was_killed() -> None:
    attempts, delays_s = Attempts(RetryPolicy(), None), 0.0
    for _ in range(RetryPolicy().max_resumes):
        delays_s += attempts.resume_delay_s(broken(), is_accepted=True)
    assert delays_s > 15.0  # pipeline.summarize.config: lease_ttl_s


def test_the_service_config_names_every_idempotent_unary_rpc_of_the_contract_and_no_stream() -> None:
    [config] = json.loads(SERVICE_CONFIG)["methodConfig"]
    named = {(name["service"], name["method"]) for name in config["name"]}
    unary = {
        (service.full_name, method.name)
        for service in (EVALUATE, INFERENCE, JUDGE, SUMMARIZE)
        for method in service.methods
        if not (method.client_streaming or method.server_streaming)
    }
    twice = ("precis.v1.SummarizeService", "SubmitSummary")  # without an idempotency key it is another summary
    assert named == unary - {twice} | {("grpc.health.v1.Health", "Check")}
    assert config["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
