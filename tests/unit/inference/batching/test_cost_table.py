import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.batching.cost_table import CostTable

MEASURED = {(1, 8): 2.0, (1, 16): 3.0, (2, 8): 3.0, (2, 16): 5.0, (4, 8): 5.0}


def test_measured_cells_are_given_back_and_between_and_beyond_them_cost_is_linear() -> None:
    table = CostTable(MEASURED, max_rows=8, max_length=32, padding_s=0.0)
    beyond = {(1, 12): 2.5, (3, 8): 4.0, (6, 8): 7.0, (4, 16): 9.0, (1, 32): 6.0}
    for (rows, length), seconds in {**MEASURED, **beyond}.items():
        assert table.seconds(rows, rows * length, length) == pytest.approx(seconds)


def test_one_measured_row_is_extrapolated_without_its_fixed_part() -> None:
    table = CostTable({(1, 8): 5.8, (1, 16): 6.6, (1, 32): 8.2}, max_rows=4, max_length=32, padding_s=0.0)
    assert table.seconds(4, 128, 32) == pytest.approx(5 + 4 * 3.2)


def test_padding_costs_its_price_and_is_skipped_where_that_is_less_than_half_of_a_tokens() -> None:
    cells = {(rows, length): float(rows * length) for rows in (1, 2) for length in (1, 16)}
    for price, is_skipped in ((0.6, False), (0.4, True)):
        table = CostTable(cells, max_rows=2, max_length=16, padding_s=price)
        assert table.seconds(2, 24, 16) == pytest.approx(24 + price * (2 * 16 - 24))
        assert table.skips_padding is is_skipped


def test_a_row_is_worth_its_share_of_the_best_batch_of_its_length() -> None:
    cells = {(rows, length): 10.0 + rows * length for rows in (1, 8) for length in (1, 64)}
    worths = CostTable(cells, max_rows=8, max_length=64, padding_s=0.0).row_worths(max_batch_tokens=128)
    assert worths[10] == pytest.approx(10 / 8 + 10)  # eight rows share the fixed cost
    assert worths[64] == pytest.approx(10 / 2 + 64)  # the token limit leaves two


@given(
    cells=st.dictionaries(
        st.tuples(st.sampled_from([2, 4, 8]), st.sampled_from([8, 16, 32])), st.floats(1e-6, 1.0), max_size=9
    ),
    alone=st.lists(st.floats(1e-6, 1.0), min_size=3, max_size=3),
)
def test_cost_never_falls_with_rows_or_length(cells: dict[tuple[int, int], float], alone: list[float]) -> None:
    measured = cells | {(1, length): seconds for length, seconds in zip((8, 16, 32), alone, strict=True)}
    table = CostTable(measured, max_rows=10, max_length=40, padding_s=0.0)
    for rows in range(1, 10):
        for length in range(8, 40):
            here = table.seconds(rows, rows * length, length)
            assert table.seconds(rows + 1, (rows + 1) * length, length) >= here * (1 - 1e-9)
            assert table.seconds(rows, rows * (length + 1), length + 1) >= here * (1 - 1e-9)
