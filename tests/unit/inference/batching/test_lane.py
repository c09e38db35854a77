from hypothesis import given
from hypothesis import strategies as st

from inference.batching.batch import Drop
from inference.batching.in_flight import Entry
from inference.batching.lane import Lane
from inference.call import Call, Priority
from tests.unit.inference.serving import MAX_LENGTH, make_item, make_limits


def make_entry(number: int, length: int = 4, *, deadline_s: float | None = None, caller: str = "") -> Entry:
    return Entry(make_item(number, length), Call(deadline_s, Priority.BULK, caller), now_s=0.0)


def make_lane(*entries: Entry) -> Lane:
    lane = Lane(1)
    for entry in entries:
        lane.add(entry)
    return lane


def test_a_batch_holds_the_oldest_and_its_own_kind() -> None:
    entries = [make_entry(1, 40), make_entry(2, 4), make_entry(3, 40), make_entry(4, 4)]
    lane = make_lane(*entries)
    limits = make_limits(fixed_s=1.0, token_s=1.0)
    assert lane.cut(limits, 0.0) == ([entries[0], entries[2]], [])
    assert lane.cut(limits, 0.0) == ([entries[1], entries[3]], [])
    assert len(lane) == 0


def test_where_padding_costs_little_only_the_next_few_may_be_taken_before() -> None:
    entries = [make_entry(number, 40 if number % 8 == 0 else 4) for number in range(32)]
    batch, _ = make_lane(*entries).cut(make_limits(max_rows=3, fixed_s=900.0, token_s=1.0, price=0.0), 0.0)
    assert batch[0] == entries[0]
    assert set(batch) < set(entries[:6])


def test_an_expired_entry_is_dropped_and_the_rest_still_makes_a_full_batch() -> None:
    expired, alive, other = make_entry(1, deadline_s=9.0), make_entry(2), make_entry(3)
    lane, limits = make_lane(expired, alive, other), make_limits(fixed_s=5.0, token_s=0.1)
    assert lane.cut(limits, 10.0) == ([], [(expired, Drop.EXPIRED)])
    assert not expired.is_queued
    assert lane.cut(limits, 10.0) == ([alive, other], [])


def test_an_entry_whose_compute_would_pass_its_deadline_is_shed() -> None:
    entry = make_entry(1, deadline_s=11.0)
    assert make_lane(entry).cut(make_limits(fixed_s=5.0), 10.0) == ([], [(entry, Drop.SHED)])


def test_company_may_not_cost_anybody_the_deadline() -> None:
    tight, friends = make_entry(1, deadline_s=10.0 + 6.5), [make_entry(number) for number in range(2, 8)]
    limits = make_limits(fixed_s=5.0, token_s=0.3)  # alone 6.2 s, with one more 7.4 s
    lane = make_lane(tight, *friends)
    assert lane.cut(limits, 10.0) == ([tight], [])


def test_an_entry_can_be_taken_back() -> None:
    entries = [make_entry(number, 5) for number in range(4)]
    lane = make_lane(*entries)
    lane.remove(entries[2])
    assert not entries[2].is_queued
    assert lane.take_all() == [entries[0], entries[1], entries[3]]


@given(
    lengths=st.lists(st.integers(1, MAX_LENGTH), min_size=1, max_size=50),
    price=st.sampled_from([0.0, 1.0]),
    max_rows=st.integers(1, 8),
)
def test_an_entry_leaves_after_at_most_as_many_batches_as_entries_were_before_it(
    lengths: list[int], price: float, max_rows: int
) -> None:
    entries = [make_entry(number, length) for number, length in enumerate(lengths)]
    lane = make_lane(*entries)
    limits = make_limits(max_rows=max_rows, fixed_s=10.0, token_s=1.0, price=price)
    seen: list[Entry] = []
    for turn in range(len(entries)):
        batch, dropped = lane.cut(limits, 0.0) if lane else ([], [])
        assert dropped == []
        seen += batch
        assert entries[turn] in seen  # however many longer or shorter ones were about
    assert sorted(entry.encoded.key for entry in seen) == sorted(entry.encoded.key for entry in entries)


@given(actions=st.lists(st.tuples(st.booleans(), st.integers(1, MAX_LENGTH)), max_size=60))
def test_a_lane_holds_what_was_added_and_not_taken_out(actions: list[tuple[bool, int]]) -> None:
    lane = Lane(1)
    inside: list[Entry] = []
    for number, (is_removal, length) in enumerate(actions):
        if is_removal and inside:
            lane.remove(inside.pop(length % len(inside)))
        else:
            inside.append(make_entry(number, length))
            lane.add(inside[-1])
        assert len(lane) == len(inside)
    cut: list[Entry] = []
    while lane:
        cut += lane.cut(make_limits(), 0.0)[0]
    assert set(cut) == set(inside)


@given(counts=st.lists(st.integers(1, 20), min_size=2, max_size=5), max_rows=st.integers(1, 8))
def test_nobody_waits_longer_for_the_crowd_of_another(counts: list[int], max_rows: int) -> None:
    of_callers = [[make_entry(100 * at + n, caller=str(at)) for n in range(count)] for at, count in enumerate(counts)]
    lane = make_lane(*(entry for entries in of_callers for entry in entries))
    limits = make_limits(max_rows=max_rows, fixed_s=10.0, token_s=1.0, price=0.0)
    seen: set[Entry] = set()
    turn = 0
    while lane:
        seen |= set(lane.cut(limits, 0.0)[0])
        turn += 1
        for entries in of_callers:
            assert seen.issuperset(entries[: turn // len(counts)])


def test_a_batch_is_as_full_with_many_callers_as_with_one() -> None:
    limits = make_limits(max_rows=8, fixed_s=900.0, token_s=1.0, price=0.0)
    batch, _ = make_lane(*(make_entry(number, caller=str(number)) for number in range(8))).cut(limits, 0.0)
    assert len(batch) == 8


def test_company_is_charged_to_its_own_caller() -> None:
    crowd = [make_entry(number, caller="heavy") for number in range(9)]
    late = [make_entry(10, caller="light"), make_entry(11, caller="light")]
    lane, limits = make_lane(*crowd), make_limits(max_rows=4, fixed_s=900.0, token_s=1.0, price=0.0)
    lane.cut(limits, 0.0)
    for entry in late:
        lane.add(entry)
    batch, _ = lane.cut(limits, 0.0)
    assert batch[:2] == late  # who has just come is owed nothing, and owes nothing
    assert {entry.caller for entry in batch} == {"heavy", "light"}
