from __future__ import annotations

import numpy as np

from inference.batching.in_flight import Encoded
from inference.batching.worker import pad_rows


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
