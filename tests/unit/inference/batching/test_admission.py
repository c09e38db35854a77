from __future__ import annotations

import pytest

from inference.batching.admission import Admission
from inference.config import QueueConfig
from inference.errors import ListTooLongError, QueueFullError


def make_admission(*, items: int = 10, tokens: int = 100) -> Admission:
    return Admission(QueueConfig(max_queue_items=items, max_queue_tokens=tokens))


@pytest.mark.parametrize(("items", "tokens"), [(1, 1), (4, 40)])
def test_work_within_both_bounds_is_admitted(items: int, tokens: int) -> None:
    admission = make_admission()
    admission.items, admission.tokens = 6, 60
    admission.check(items, tokens)
    assert admission.refused_count == 0


@pytest.mark.parametrize(("items", "tokens"), [(5, 5), (1, 41)])
def test_either_bound_refuses(items: int, tokens: int) -> None:
    admission = make_admission()
    admission.items, admission.tokens = 6, 60
    with pytest.raises(QueueFullError):
        admission.check(items, tokens)
    assert admission.refused_count == 1


@pytest.mark.parametrize(("items", "tokens", "unit"), [(11, 11, "items"), (1, 101, "tokens")])
def test_what_the_queue_could_never_hold_is_not_told_to_try_again(items: int, tokens: int, unit: str) -> None:
    with pytest.raises(ListTooLongError) as caught:
        make_admission().check(items, tokens)
    assert caught.value.unit == unit


def test_the_time_to_wait_is_the_excess_over_the_measured_rate() -> None:
    admission = make_admission(items=10, tokens=1000)
    admission.items = 10
    for second in range(4):
        admission.note_drained(float(second), 2, 20)  # two items a second
    with pytest.raises(QueueFullError) as caught:
        admission.check(6, 6)
    assert caught.value.retry_after_s == pytest.approx(3.0)


def test_the_scarcer_of_items_and_tokens_sets_the_time() -> None:
    admission = make_admission(items=10, tokens=1000)
    admission.items, admission.tokens = 10, 1000
    for second in range(4):
        admission.note_drained(float(second), 2, 20)
    with pytest.raises(QueueFullError) as caught:
        admission.check(1, 100)
    assert caught.value.retry_after_s == pytest.approx(5.0)


def test_idle_time_does_not_count_as_slowness() -> None:
    admission = make_admission()
    admission.items = 10
    admission.note_drained(0.0, 1, 1)
    admission.items = 2
    admission.note_drained(1.0, 2, 2)  # the last two: the queue is empty
    admission.items = 10
    for second in (1001.0, 1002.0, 1003.0):
        admission.note_drained(second, 1, 1)
    with pytest.raises(QueueFullError) as caught:
        admission.check(1, 1)
    assert caught.value.retry_after_s < 1000


def test_without_a_measurement_there_is_a_guess() -> None:
    admission = make_admission()
    admission.items = 10
    with pytest.raises(QueueFullError) as caught:
        admission.check(1, 1)
    assert 0 < caught.value.retry_after_s <= 60
