from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.limiter import Rate

PER_MINUTE = 600.0
BURST_S = 10.0
Steps = list[tuple[float, float]]  # seconds since the step before, amount


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 99)), min_size=1, max_size=60))
def test_no_stretch_of_time_gets_more_than_its_rate_and_one_burst(steps: Steps) -> None:
    rate, now_s, granted = Rate(PER_MINUTE), 100.0, []
    for pause_s, amount in steps:
        now_s += pause_s
        granted.append((rate.reserve(amount, now_s), amount))
    for first, (start_s, _) in enumerate(granted):
        for last in range(first, len(granted)):
            spent = sum(amount for _, amount in granted[first : last + 1])
            assert spent <= PER_MINUTE / 60 * (granted[last][0] - start_s + BURST_S) + 1e-6


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 5000)), min_size=2, max_size=60))
def test_reservations_are_served_in_order_and_never_in_the_past(steps: Steps) -> None:
    rate, now_s, before_s = Rate(PER_MINUTE), 100.0, 0.0
    for pause_s, amount in steps:
        now_s += pause_s
        ready_s = rate.reserve(amount, now_s)
        assert ready_s >= now_s
        assert amount == 0 or ready_s >= before_s - 1e-6
        before_s = ready_s if amount else before_s


def test_a_request_larger_than_the_burst_goes_through_and_the_next_pays() -> None:
    rate = Rate(PER_MINUTE)  # 10 a second, a burst of 100
    assert rate.reserve(300, now_s=0) == 0
    assert rate.reserve(100, now_s=0) == 30


def test_what_was_not_used_is_there_for_the_next() -> None:
    rate = Rate(PER_MINUTE)
    rate.reserve(100, now_s=0)
    rate.give_back(70, now_s=0)
    assert rate.reserve(70, now_s=0) == 0


def test_giving_back_never_fills_more_than_a_burst() -> None:
    rate = Rate(PER_MINUTE)
    rate.give_back(10_000, now_s=0)
    assert rate.reserve(100, now_s=0) == 0
    assert rate.reserve(10, now_s=0) == 1
