import pytest

from inference.batching.admission import Admission
from inference.call import Call, Priority
from inference.config import QueueConfig
from inference.errors import QueueFullError

CALL = Call(caller="one")


def make_admission(*, items: int = 10, tokens: int = 100) -> Admission:
    limits = QueueConfig(max_queue_items=items, max_queue_tokens=tokens)
    return Admission(limits, lambda items, call: 0.5 * items, jitter=lambda: 0.0)


@pytest.mark.parametrize(("asked", "retry_s"), [((6, 6), 3.0), ((1, 1000), 0.5), ((1_000, 1_000), 60.0)])
def test_who_finds_no_room_is_told_when_its_items_would_be_done(asked: tuple[int, int], retry_s: float) -> None:
    admission = make_admission(items=1_000, tokens=1_000)
    admission.add("other", 998)
    admission.tokens = 998
    with pytest.raises(QueueFullError) as caught:
        admission.check(*asked, CALL)
    assert caught.value.retry_after_s == retry_s


def refused_s(admission: Admission, items: int, call: Call) -> float | None:
    """How long a call shall wait; None when there is room."""
    try:
        admission.check(items, items, call)
    except QueueFullError as error:
        return error.retry_after_s
    return None


def test_bulk_work_and_large_callers_leave_room_for_who_comes_with_little() -> None:
    admission = make_admission(items=8_000, tokens=80_000)
    heavy, bulk, light = Call(caller="heavy"), Call(priority=Priority.BULK, caller="bulk"), Call(caller="light")
    assert refused_s(admission, 8_000, bulk) is None  # the queue is empty
    admission.add("heavy", 5_900)
    assert refused_s(admission, 100, bulk) is None
    assert refused_s(admission, 101, bulk) is not None
    assert refused_s(admission, 1_100, heavy) is None
    assert refused_s(admission, 1_101, heavy) is not None
    admission.add("heavy", 2_000)
    assert refused_s(admission, 1, heavy) is not None
    assert refused_s(admission, 64, light) is None
    assert refused_s(admission, 65, light) is not None
    admission.remove("heavy", 7_900)
    assert refused_s(admission, 8_000, heavy) is None
    admission.add("light", 7_936)
    assert refused_s(admission, 64, heavy) is None  # what it had is forgotten


def test_who_is_refused_together_does_not_come_back_together() -> None:
    spread = iter([0.0, 0.5, 0.999])
    admission = Admission(QueueConfig(max_queue_items=10), lambda items, call: 1.0, lambda: next(spread))
    admission.add("one", 10)
    delays = [refused_s(admission, 8, CALL) for _ in range(3)]
    assert delays == sorted(set(delays), key=float)  # type: ignore[arg-type]  # none is None
    assert None not in delays
