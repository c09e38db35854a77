import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.batching.batch import plan_nearest, plan_oldest
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from tests.unit.inference.serving import MAX_LENGTH, make_limits

LENGTHS = st.lists(st.integers(1, MAX_LENGTH), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("lengths", "anchor", "costs", "plan"),
    [
        ([5] * 20, 0, (1.0, 0.01), (0, 8)),
        ([5] * 20, 0, (0.0, 1.0), (0, 1)),
        ([4, 4, 4, 40, 40, 40], 0, (10.0, 1.0), (0, 3)),
        ([4, 4, 4, 40, 40, 40], 3, (10.0, 1.0), (3, 6)),
        ([4, 4, 4, 40, 40, 40], 0, (1000.0, 1.0), (0, 6)),
    ],
    ids=[
        "one length",
        "rows do not pay",
        "padding does not pay",
        "nor for the longer",
        "a pass has a large fixed cost",
    ],
)
def test_rows_and_padding_are_taken_where_they_pay(
    lengths: list[int], anchor: int, costs: tuple[float, float], plan: tuple[int, int]
) -> None:
    fixed_s, token_s = costs
    limits = make_limits(max_rows=8, fixed_s=fixed_s, token_s=token_s, max_batch_tokens=1024)
    _, found = plan_nearest(lengths, anchor, limits)
    assert (found.start, found.stop) == plan


@given(lengths=LENGTHS, anchor=st.integers(0, 59), max_rows=st.integers(1, 16), price=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_nearest_hold_the_anchor_and_the_bounds(
    lengths: list[int], anchor: int, max_rows: int, price: float
) -> None:
    lengths.sort()
    anchor %= len(lengths)
    limits = make_limits(max_rows=max_rows, price=price)
    _, plan = plan_nearest(lengths, anchor, limits)
    rows = lengths[plan]
    assert plan.start <= anchor < plan.stop
    assert len(rows) <= max_rows
    assert len(rows) == 1 or len(rows) * max(rows) <= limits.max_padded_tokens
    assert len(rows) == 1 or sum(rows) <= limits.max_tokens


@given(lengths=LENGTHS, max_rows=st.integers(1, 16), price=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_oldest_hold_the_first_and_the_bounds(lengths: list[int], max_rows: int, price: float) -> None:
    limits = make_limits(max_rows=max_rows, price=price)
    _, count = plan_oldest(lengths, limits)
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
    assert plan_nearest(lengths, anchor, limits)[0] >= alone * 0.99


@pytest.mark.parametrize(
    ("rows", "ids", "types"),
    [
        ([([5, 6], 1), ([7, 8], 2)], [[5, 6], [7, 8]], [[0, 1], [0, 0]]),
        (
            [([5, 6, 7], 2), ([5, 6, 7, 8], 1), ([9], 1)],
            [[5, 6, 7, 1], [5, 6, 7, 8], [9, 1, 1, 1]],
            [[0, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]],
        ),
    ],
)
def test_shorter_rows_are_filled_and_masked_and_the_second_text_is_of_type_one(
    rows: list[tuple[list[int], int]], ids: list[list[int]], types: list[list[int]]
) -> None:
    encoded = [
        Encoded(np.array(row, np.int32).tobytes(), first_length, is_truncated=False, key=b"")
        for row, first_length in rows
    ]
    arrays = pad_rows(encoded, ("input_ids", "attention_mask", "token_type_ids"), 1)
    mask = [[int(at < len(row)) for at in range(len(ids[0]))] for row, _ in rows]
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": types,
    }
    assert all(array.dtype == np.int64 for array in arrays.values())
    assert set(pad_rows(encoded, ("input_ids", "attention_mask"), 1)) == {"input_ids", "attention_mask"}
