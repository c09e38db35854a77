import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inference.batching.batch import plan_nearest, plan_oldest
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from tests.unit.inference.serving import MAX_LENGTH, make_limits

LENGTHS = st.lists(st.integers(1, MAX_LENGTH), min_size=1, max_size=60)


def test_rows_of_one_length_fill_the_batch() -> None:
    plan = plan_nearest([5] * 20, 0, make_limits(max_rows=8, fixed_s=1.0, token_s=0.01))
    assert (plan.start, plan.stop) == (0, 8)


def test_where_rows_do_not_pay_the_oldest_goes_alone() -> None:
    plan = plan_nearest([5] * 20, 0, make_limits(max_rows=8, fixed_s=0.0, token_s=1.0))
    assert plan.stop - plan.start == 1


def test_padding_that_costs_more_than_it_saves_is_refused() -> None:
    limits = make_limits(max_rows=8, fixed_s=10.0, token_s=1.0)
    lengths = [4, 4, 4, 40, 40, 40]
    assert (plan_nearest(lengths, 0, limits).start, plan_nearest(lengths, 0, limits).stop) == (0, 3)
    assert (plan_nearest(lengths, 3, limits).start, plan_nearest(lengths, 3, limits).stop) == (3, 6)


def test_where_a_pass_has_a_large_fixed_cost_padding_is_worth_it() -> None:
    limits = make_limits(max_rows=8, fixed_s=1000.0, token_s=1.0, max_batch_tokens=1024)
    plan = plan_nearest([4, 4, 4, 40, 40, 40], 0, limits)
    assert plan.stop - plan.start == 6


def test_where_padding_is_free_the_oldest_are_as_good_as_the_nearest() -> None:
    limits = make_limits(max_rows=4, fixed_s=80.0, token_s=1.0, price=0.0, max_batch_tokens=256)
    by_age = [40, 5, 60, 20, 5, 5, 5]
    oldest = plan_oldest(by_age, limits)
    nearest = plan_nearest(sorted(by_age), sorted(by_age).index(40), limits)
    assert oldest.count == 4
    assert oldest.quality >= nearest.quality * 0.95


def test_where_padding_costs_the_oldest_are_a_worse_batch() -> None:
    limits = make_limits(max_rows=4, fixed_s=8.0, token_s=1.0, max_batch_tokens=256)
    by_age = [5, 60, 5, 60, 5, 5]
    assert plan_oldest(by_age, limits).quality < plan_nearest(sorted(by_age), 0, limits).quality


@given(lengths=LENGTHS, anchor=st.integers(0, 59), max_rows=st.integers(1, 16), price=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_nearest_hold_the_anchor_and_the_bounds(
    lengths: list[int], anchor: int, max_rows: int, price: float
) -> None:
    lengths.sort()
    anchor %= len(lengths)
    limits = make_limits(max_rows=max_rows, price=price)
    plan = plan_nearest(lengths, anchor, limits)
    rows = lengths[plan.start : plan.stop]
    assert plan.start <= anchor < plan.stop
    assert len(rows) <= max_rows
    assert len(rows) == 1 or len(rows) * max(rows) <= limits.max_padded_tokens
    assert len(rows) == 1 or sum(rows) <= limits.max_tokens


@given(lengths=LENGTHS, max_rows=st.integers(1, 16), price=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_oldest_hold_the_first_and_the_bounds(lengths: list[int], max_rows: int, price: float) -> None:
    limits = make_limits(max_rows=max_rows, price=price)
    count = plan_oldest(lengths, limits).count
    rows = lengths[:count]
    assert 1 <= count <= max_rows
    assert count == 1 or count * max(rows) <= limits.max_padded_tokens
    assert count == 1 or sum(rows) <= limits.max_tokens


@given(lengths=LENGTHS, anchor=st.integers(0, 59))
def test_company_is_never_worse_than_going_alone(lengths: list[int], anchor: int) -> None:
    lengths.sort()
    anchor %= len(lengths)
    limits = make_limits(fixed_s=5.0, token_s=1.0)
    alone = limits.worths[lengths[anchor]] / limits.costs.seconds(1, lengths[anchor], lengths[anchor])
    assert plan_nearest(lengths, anchor, limits).quality >= alone * 0.99


def make_row(ids: list[int], first_length: int | None = None) -> Encoded:
    data = np.array(ids, np.int32).tobytes()
    return Encoded(data, len(ids) if first_length is None else first_length, is_truncated=False, key=data)


def test_shorter_rows_are_filled_and_masked() -> None:
    arrays = pad_rows([make_row([5, 6]), make_row([7, 8, 9])], ("input_ids", "attention_mask"), 1)
    assert arrays["input_ids"].tolist() == [[5, 6, 1], [7, 8, 9]]
    assert arrays["attention_mask"].tolist() == [[1, 1, 0], [1, 1, 1]]
    assert set(arrays) == {"input_ids", "attention_mask"}
    assert all(array.dtype == np.int64 for array in arrays.values())


def test_rows_of_one_length_need_no_padding() -> None:
    arrays = pad_rows([make_row([5, 6]), make_row([7, 8])], ("input_ids", "attention_mask"), 1)
    assert arrays["input_ids"].tolist() == [[5, 6], [7, 8]]
    assert arrays["attention_mask"].tolist() == [[1, 1], [1, 1]]


def test_the_second_text_is_of_type_one_and_padding_of_type_zero() -> None:
    rows = [make_row([5, 6, 7], 2), make_row([5, 6, 7, 8], 1), make_row([9])]
    arrays = pad_rows(rows, ("input_ids", "attention_mask", "token_type_ids"), 0)
    assert arrays["token_type_ids"].tolist() == [[0, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]]
