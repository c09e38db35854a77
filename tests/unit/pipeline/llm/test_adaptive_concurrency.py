from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.limiter import AdaptiveConcurrency


def test_a_burst_of_refusals_halves_it_once() -> None:
    concurrency = AdaptiveConcurrency(64)
    sent_under = concurrency.generation
    for _ in range(64):
        concurrency.refused(sent_under)
    assert concurrency.limit == 32


def test_it_grows_by_one_for_a_round_of_good_answers() -> None:
    concurrency = AdaptiveConcurrency(16)
    concurrency.refused(concurrency.generation)
    for _ in range(8):
        concurrency.succeeded()
    assert concurrency.limit == 8
    concurrency.succeeded()
    assert concurrency.limit == 9


@given(st.integers(1, 64), st.lists(st.booleans(), max_size=400))
def test_it_stays_between_one_and_its_maximum(maximum: int, outcomes: list[bool]) -> None:
    concurrency = AdaptiveConcurrency(maximum)
    for is_good in outcomes:
        concurrency.succeeded() if is_good else concurrency.refused(concurrency.generation)
        assert 1 <= concurrency.limit <= maximum
