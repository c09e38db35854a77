"""When a refused call is told to come back: as late as the calls in flight end, and not all at once."""

from itertools import count

import pytest

from server.errors import TooManyCallsError
from server.rpc.admission import CallAdmission, CallPolicy, DrainRate
from server.rpc.auth import Caller
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
