import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.batching.batch import plan
from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows
from tests.unit.inference.serving import MAX_LENGTH, make_limits

LENGTHS = st.lists(st.integers(1, MAX_LENGTH), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("lengths", "costs", "count"),
    [
        ([5] * 20, (1.0, 0.01), 8),
        ([5] * 20, (0.0, 1.0), 1),
        ([4, 4, 4, 40, 40, 40], (10.0, 1.0), 3),
        ([40, 40, 40, 4, 4, 4], (10.0, 1.0), 3),
        ([4, 4, 4, 40, 40, 40], (1000.0, 1.0), 6),
    ],
    ids=["one length", "rows do not pay", "nor padding", "nor for the longer", "a pass has a large fixed cost"],
)
def test_rows_and_padding_are_taken_where_they_pay(lengths: list[int], costs: tuple[float, float], count: int) -> None:
    fixed_s, token_s = costs
    limits = make_limits(max_rows=8, fixed_s=fixed_s, token_s=token_s, max_batch_tokens=1024)
    assert plan(lengths, limits) == count


@given(lengths=LENGTHS, max_rows=st.integers(1, 16), price=st.sampled_from([0.0, 0.3, 1.0]))
def test_a_plan_holds_the_first_and_the_bounds(lengths: list[int], max_rows: int, price: float) -> None:
    limits = make_limits(max_rows=max_rows, price=price)
    count = plan(lengths, limits)
    rows = lengths[:count]
    assert 1 <= count <= max_rows
    assert count == 1 or count * max(rows) <= limits.max_padded_tokens
    assert count == 1 or sum(rows) <= limits.max_tokens


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
    padded = {name: array.tolist() for name, array in arrays.items()}
    assert padded == {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    assert all(array.dtype == np.int64 for array in arrays.values())
    assert set(pad_rows(encoded, ("input_ids", "attention_mask"), 1)) == {"input_ids", "attention_mask"}
