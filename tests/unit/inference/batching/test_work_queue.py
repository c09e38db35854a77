from collections import Counter
from dataclasses import replace

import pytest

from inference.batching.batch import Batch, ComputeModel
from inference.batching.in_flight import Entry
from inference.batching.lane import Source
from inference.batching.queue import WorkQueue
from inference.call import Call, Priority
from tests.fakes import FakeBackend
from tests.unit.inference.serving import make_item, make_limits


@pytest.fixture
def queue() -> WorkQueue:
    return WorkQueue()


@pytest.fixture
def source(queue: WorkQueue) -> Source:
    return make_source(queue)


def make_source(queue: WorkQueue, *, fixed_s: float = 1.0) -> Source:
    model = ComputeModel(
        name="fake",
        backends=(FakeBackend(),),
        inputs=("input_ids", "attention_mask"),
        pad_token_id=0,
        dimension=2,
        finish=lambda output: output,
        limits=make_limits(max_rows=1, fixed_s=fixed_s, token_s=0.0),
    )
    source = Source(model, lambda batch: None)
    queue.sources.append(source)
    return source


def put(queue: WorkQueue, source: Source, priority: Priority, count: int) -> list[Entry]:
    entries = [Entry(make_item(number), Call(priority=priority), now_s=0.0) for number in range(count)]
    queue.put(source, entries)
    return entries


def take(queue: WorkQueue, now_s: float = 0.0) -> tuple[Source, Batch]:
    work = queue.take(now_s)
    assert work is not None
    return work


def test_interactive_calls_get_their_weight_and_bulk_the_rest(queue: WorkQueue, source: Source) -> None:
    put(queue, source, Priority.BULK, 100)
    put(queue, source, Priority.INTERACTIVE, 100)
    taken = Counter(take(queue)[1].entries[0].priority for _ in range(50))
    assert taken[Priority.INTERACTIVE] == pytest.approx(40, abs=1)
    assert taken[Priority.BULK] == pytest.approx(10, abs=1)


@pytest.mark.parametrize(
    ("crowd", "late", "turns"), [(Priority.INTERACTIVE, Priority.BULK, 6), (Priority.BULK, Priority.INTERACTIVE, 2)]
)
def test_who_comes_late_waits_for_at_most_the_share_of_the_others(
    queue: WorkQueue, source: Source, crowd: Priority, late: Priority, turns: int
) -> None:
    put(queue, source, crowd, 1000)
    for _ in range(20):
        take(queue)
    put(queue, source, late, 1)
    assert late in [take(queue)[1].entries[0].priority for _ in range(turns)]


def test_two_models_share_compute_time_and_not_turns(queue: WorkQueue) -> None:
    slow, quick = make_source(queue, fixed_s=3.0), make_source(queue, fixed_s=1.0)
    put(queue, slow, Priority.INTERACTIVE, 100)
    put(queue, quick, Priority.INTERACTIVE, 100)
    taken = Counter(take(queue)[0] is slow for _ in range(40))
    assert taken[True] == pytest.approx(10, abs=1)


def test_idle_time_earns_no_credit(queue: WorkQueue) -> None:
    busy, idle = make_source(queue), make_source(queue)
    put(queue, busy, Priority.INTERACTIVE, 200)
    for _ in range(100):
        take(queue)
    put(queue, idle, Priority.INTERACTIVE, 100)
    taken = Counter(take(queue)[0] is idle for _ in range(20))
    assert taken[True] == pytest.approx(10, abs=1)


def test_suspects_go_first_and_alone(queue: WorkQueue, source: Source) -> None:
    put(queue, source, Priority.INTERACTIVE, 2)
    suspects = [Entry(make_item(number), Call(priority=Priority.BULK), now_s=0.0) for number in (7, 8)]
    for entry in suspects:
        entry.crash_count = 1
    queue.put_suspects(source, suspects)
    assert [take(queue)[1].entries for _ in range(2)] == [[suspects[0]], [suspects[1]]]


def test_an_entry_moves_to_the_lane_of_a_more_urgent_call_that_wants_it_too(queue: WorkQueue, source: Source) -> None:
    bulk = put(queue, source, Priority.BULK, 2)
    queue.join(source, bulk[1], Call(priority=Priority.INTERACTIVE))
    assert bulk[1].priority is Priority.INTERACTIVE
    assert len(source.lanes[Priority.BULK]) == len(source.lanes[Priority.INTERACTIVE]) == 1


def test_an_entry_moves_to_the_caller_who_has_less_before_it(queue: WorkQueue, source: Source) -> None:
    crowd = put(queue, source, Priority.BULK, 5)
    queue.join(source, crowd[4], Call(priority=Priority.BULK, caller="light"))
    lane = source.lanes[Priority.BULK]
    assert (lane.waiting(""), lane.waiting("light")) == (4, 1)
    queue.join(source, crowd[4], Call(priority=Priority.BULK))
    assert (lane.waiting(""), lane.waiting("light")) == (4, 1)


def test_what_a_worker_has_cannot_be_taken_back(queue: WorkQueue, source: Source) -> None:
    first, second = put(queue, source, Priority.BULK, 2)
    take(queue)
    assert not queue.remove(source, first)
    assert queue.remove(source, second)
    assert queue.take(0.0) is None


def crowd(queue: WorkQueue, source: Source, count: int, caller: str, now_s: float = 0.0) -> list[Entry]:
    entries = [Entry(make_item(number), Call(caller=caller), now_s=now_s) for number in range(count)]
    queue.put(source, entries)
    return entries


def sizes(queue: WorkQueue, now_s: float, count: int) -> list[int]:
    taken = [queue.take(now_s) for _ in range(count)]
    return [len(work[1].entries) for work in taken if work]


@pytest.fixture
def wide_source(queue: WorkQueue, source: Source) -> Source:
    limits = make_limits(max_rows=8, fixed_s=0.015, token_s=0.005, price=0.0)  # a row 35 ms, 4 of them 95, 8 175
    wide = Source(replace(source.model, limits=limits), source.deliver)
    queue.sources.append(wide)
    return wide


@pytest.mark.parametrize("came_s", [1.0, -1.0], ids=["at once", "behind slow batches"])
def test_a_guest_is_computed_apart_from_the_crowd_and_batches_are_brief_for_a_while(
    queue: WorkQueue, wide_source: Source, came_s: float
) -> None:
    crowd(queue, wide_source, 100, "crowd", now_s=-2.0)
    assert sizes(queue, -2.0, 2) == [8, 8]
    guest = crowd(queue, wide_source, 2, "guest", came_s)
    assert take(queue, 1.0)[1].entries == guest
    assert sizes(queue, 1.9, 2) == [4, 4]  # as long as three rows alone
    assert sizes(queue, 2.1, 2) == [8, 8]


@pytest.mark.parametrize(("callers", "rows", "guest", "brings"), [(2, 40, "0", 1), (20, 8, "x", 1), (2, 80, "x", 32)])
def test_neither_crowds_alike_nor_a_few_rows_of_many_callers_nor_a_list_make_a_guest(  # noqa: PLR0913, PLR0917 - one for each choice
    queue: WorkQueue, wide_source: Source, callers: int, rows: int, guest: str, brings: int
) -> None:
    for number in range(callers):
        crowd(queue, wide_source, rows, str(number))
    crowd(queue, wide_source, brings, guest, now_s=1.0)
    assert sizes(queue, 1.0, 4) == [8, 8, 8, 8]
