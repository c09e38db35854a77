"""Shares, places of those who do nothing, when a refused call is told to come back, and what gRPC is told."""

import asyncio
from itertools import count

import pytest

from server.config import ListenConfig
from server.errors import RequestTimeoutError, TooManyCallsError
from server.rpc.admission import CallAdmission, DrainRate, Place
from server.rpc.auth import Caller
from server.rpc.listener import exposure, options
from tests.fakes import Clock, listening


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
    admission = CallAdmission(listening(20), clock=clock, jitter=lambda: 0.0)
    places = [admission.enter(Caller(share=f"192.0.2.{host}:1")) for host in range(20)]
    for host, place in enumerate(places[:10]):
        clock.now_s += 2.0
        place.__exit__(None, None, None)
        admission.enter(Caller(share=f"198.51.100.{host}:1"))
    [told] = refusals(admission, 1)
    assert told == pytest.approx(10 * 18 / 10)  # ten ended in the 18 s since the first of them


def test_those_who_are_refused_together_come_back_one_after_the_other() -> None:
    numbers = count()
    admission = CallAdmission(listening(1), clock=Clock(), jitter=lambda: next(numbers) / 10)
    admission.enter(Caller(share="127.0.0.1:1"))
    assert refusals(admission, 3) == pytest.approx([1.0, 1.05, 1.1])


HEAVY, LIGHT = (Caller(share=f"ipv4:192.0.2.{host}:1") for host in (1, 2))


@pytest.mark.parametrize("resource", ["calls", "received", "unsent"])
def test_one_caller_leaves_room_for_another_of_whatever_is_shared(resource: str) -> None:
    limit = 64
    admission = CallAdmission(listening(limit, max_request=limit, max_unsent=limit))
    shared = getattr(admission, resource)
    for owner, most in (("heavy", limit // 2), ("second", limit // 4), ("third", limit // 8)):
        while shared.refusal(owner, 1) is None:
            shared.add(owner, 1)
        assert shared.of[owner] == most
    with pytest.raises(TooManyCallsError, match="for this caller, all but the share of others"):
        admission.check(shared, "heavy", 1)
    with pytest.raises(TooManyCallsError, match="the most this server accepts"):
        admission.check(shared, "heavy", limit)


def test_what_is_alone_is_let_in_whatever_its_size_and_with_one_key_nobody_shares() -> None:
    received = CallAdmission(listening(max_request=100)).received
    assert received.refusal("heavy", 1_000) is None
    received.add("heavy", 1_000)
    assert received.refusal("heavy", 1_000, growing=1_000) is None
    assert received.refusal("light", 1) is not None
    received.add("heavy", -1_000)
    received.add("", 99)
    assert (received.refusal("", 1), received.used) == (None, 99)
    assert received.of == {"": 99}


def _waits(admission: CallAdmission, place: Place, *, is_read: bool = False) -> "asyncio.Task[None]":
    nothing = asyncio.get_running_loop().create_future()
    return asyncio.create_task(admission.wait(place, nothing, 1_000, is_read=is_read))


@pytest.mark.parametrize("is_read", [False, True])
async def test_who_does_nothing_loses_its_place_to_a_call_of_the_same_caller(*, is_read: bool) -> None:
    clock = Clock()
    admission = CallAdmission(listening(4), clock=clock)
    places = [admission.enter(HEAVY) for _ in range(2)]
    waits = [_waits(admission, place, is_read=is_read) for place in places]
    await asyncio.sleep(0)
    clock.now_s += 4
    with pytest.raises(TooManyCallsError):
        admission.enter(HEAVY)  # a pause of a slow network
    clock.now_s += 2
    admission.enter(HEAVY)
    with pytest.raises(RequestTimeoutError, match="for 6 s"):
        await waits[0]
    assert not waits[1].done()
    waits[1].cancel()


async def test_nobody_ends_the_calls_of_others_nor_those_that_are_worked_on() -> None:
    clock = Clock()
    admission = CallAdmission(listening(4), clock=clock)
    other = admission.enter(LIGHT)
    busy = admission.enter(HEAVY)
    busy.receive(1)
    waits = [_waits(admission, other), _waits(admission, busy, is_read=True)]
    await asyncio.sleep(0)
    clock.now_s += 600
    for _ in range(2):
        with pytest.raises(TooManyCallsError):
            admission.enter(HEAVY), admission.enter(HEAVY)
    busy.finish(1)  # it has been answered, and the client may think about it for a while
    with pytest.raises(TooManyCallsError):
        admission.enter(HEAVY)
    assert not any(wait.done() for wait in waits)
    for wait in waits:
        wait.cancel()


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
    assert 8_000 <= told["grpc.server.max_pending_requests"] == told["grpc.server.max_pending_requests_hard_limit"]
    assert told["grpc.server.max_pending_requests"] <= 10_000  # of 40 kB, for who has no key


def test_no_response_that_is_let_through_is_too_large_for_grpc() -> None:
    assert dict(options(ListenConfig(max_send_mib=3)))["grpc.max_send_message_length"] == 3 << 20


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
