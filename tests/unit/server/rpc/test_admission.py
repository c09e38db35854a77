"""When a refused call is told to come back, and what gRPC is told of sizes and calls that wait."""

from itertools import count

import pytest

from server.config import ListenConfig
from server.errors import TooManyCallsError
from server.rpc.admission import CallAdmission, CallPolicy, DrainRate
from server.rpc.auth import Caller
from server.rpc.listener import exposure, options
from tests.fakes import Clock


def refusals(admission: CallAdmission, times: int) -> list[float]:
    """Tries to enter a full server so often, and returns what is said each time."""
    told = []
    for number in range(times):
        with pytest.raises(TooManyCallsError) as refusal:
            admission.enter(Caller(share=f"127.0.0.1:{number}"))
        told.append(refusal.value.retry_after_s)
    return told


def test_a_refused_call_comes_back_when_half_of_those_in_flight_have_ended() -> None:
    clock = Clock()
    admission = CallAdmission(CallPolicy(max_concurrent_calls=20), clock, lambda: 0.0)
    places = [admission.enter(Caller(share="127.0.0.1:1")) for _ in range(20)]
    for place in places[:10]:
        clock.now_s += 2.0
        place.__exit__(None, None, None)
        admission.enter(Caller(share="127.0.0.1:2"))
    [told] = refusals(admission, 1)
    assert told == pytest.approx(10 * 18 / 10)  # ten ended in the 18 s since the first of them


def test_those_who_are_refused_together_come_back_one_after_the_other() -> None:
    numbers = count()
    admission = CallAdmission(CallPolicy(max_concurrent_calls=1), Clock(), lambda: next(numbers) / 10)
    admission.enter(Caller(share="127.0.0.1:1"))
    assert refusals(admission, 3) == pytest.approx([1.0, 1.05, 1.1])


def test_an_idle_hour_says_nothing_of_the_rate() -> None:
    clock = Clock()
    rate = DrainRate(clock, lambda: 0.0)
    rate.note_end(1)
    rate.note_end(0)
    clock.now_s += 3_600
    rate.note_end(1_000)
    assert rate.retry_after_s(1_000) == 1.0
    clock.now_s += 3_600
    assert rate.retry_after_s(1_000) == 30.0


def test_no_call_that_waits_is_dropped_before_its_own_deadline() -> None:
    told = dict(options(ListenConfig()))
    assert told["grpc.server_max_unrequested_time_in_server"] >= 600
    assert told["grpc.server.max_pending_requests"] == told["grpc.server.max_pending_requests_hard_limit"] >= 8_000


def test_no_response_that_is_let_through_is_too_large_for_grpc() -> None:
    config = ListenConfig(max_send_mib=3)
    policy = CallPolicy.of(config, 1, None, {})
    assert policy.max_response_bytes == dict(options(config))["grpc.max_send_message_length"] == 3 << 20


@pytest.mark.parametrize(
    ("host", "has_keys", "has_tls", "said"),
    [
        ("127.0.0.1", False, False, None),
        ("::1", False, False, None),
        ("[::1]", False, False, None),
        ("localhost", False, False, None),
        ("0.0.0.0", False, False, "KEYS_FILE"),  # noqa: S104 - the subject
        ("[::]", False, True, "KEYS_FILE"),
        ("192.0.2.7", True, False, "unencrypted"),
        ("precis.example", True, True, None),
    ],
)
def test_what_is_open_is_said(host: str, *, has_keys: bool, has_tls: bool, said: str | None) -> None:
    reason = exposure(host, has_keys=has_keys, has_tls=has_tls)
    assert (reason is None) == (said is None)
    assert said is None or said in str(reason)
