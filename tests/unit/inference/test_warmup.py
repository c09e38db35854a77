from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from inference.backend import Float32, Int64
from inference.warmup import WarmupPlan, measure_costs
from tests.fakes import FakeBackend


def make_plan(*, budget_s: float = 1e6) -> WarmupPlan:
    inputs = ("input_ids", "attention_mask")
    return WarmupPlan(inputs, max_tokens=64, max_batch_size=8, max_batch_tokens=128, budget_s=budget_s)


class Metered(FakeBackend):
    """A backend whose runs take as long as a formula says, on a clock of its own."""

    def __init__(self, *, skips_padding: bool) -> None:
        super().__init__()
        self.now_s = 0.0
        self.shapes: list[tuple[int, ...]] = []
        self._skips_padding = skips_padding

    def run(self, inputs: Mapping[str, Int64]) -> Float32:
        mask = inputs["attention_mask"]
        self.shapes.append(mask.shape)
        self.now_s += 1.0 + 0.1 * float(mask.sum() if self._skips_padding else mask.size)
        return np.zeros((len(mask), 2), np.float32)


@pytest.mark.parametrize(("skips_padding", "price"), [(True, 0.0), (False, 1.0)])
def test_costs_and_the_price_of_padding_are_measured(skips_padding: bool, price: float) -> None:  # noqa: FBT001
    backend = Metered(skips_padding=skips_padding)
    costs = measure_costs(backend, make_plan(), clock=lambda: backend.now_s)
    assert costs.padding_price == pytest.approx(price, abs=1e-6)
    assert costs.seconds(1, 40, 40) == pytest.approx(5.0)
    assert costs.seconds(6, 60, 10) == pytest.approx(7.0)


def test_the_longest_row_comes_first_and_no_batch_is_over_the_bounds() -> None:
    backend = Metered(skips_padding=False)
    measure_costs(backend, make_plan(), clock=lambda: backend.now_s)
    assert backend.shapes[0] == (1, 64)
    assert all(rows == 1 or rows * length <= 128 for rows, length in backend.shapes)
    assert max(rows for rows, _ in backend.shapes) == 8


def test_without_time_only_single_rows_are_measured_and_the_rest_is_extrapolated() -> None:
    backend = Metered(skips_padding=False)
    costs = measure_costs(backend, make_plan(budget_s=0.0), clock=lambda: backend.now_s)
    assert {rows for rows, _ in backend.shapes} == {1}
    assert costs.seconds(4, 64, 16) == pytest.approx(4 * costs.seconds(1, 16, 16))
    assert costs.padding_price == 1.0
