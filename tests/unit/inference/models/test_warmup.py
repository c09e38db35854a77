import threading
from collections.abc import Mapping

import numpy as np
import pytest

from inference.backend import Float32, Int64
from inference.batching.cost_table import CostTable
from inference.models.warmup import WarmupPlan, clock_for, measure_costs
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
        tokens = float(mask.sum() if self._skips_padding else mask.size)
        self.now_s += 1.0 + 0.1 * tokens
        return np.zeros((len(mask), 2), np.float32)


def measure(backend: Metered, plan: WarmupPlan) -> CostTable:
    return measure_costs(backend, plan, lambda: backend.now_s)


@pytest.mark.parametrize("skips_padding", [True, False])
def test_costs_of_any_mix_are_predicted(skips_padding: bool) -> None:  # noqa: FBT001
    backend = Metered(skips_padding=skips_padding)
    costs = measure(backend, make_plan())
    assert costs.skips_padding is skips_padding
    for lengths in ([64], [16] * 4, [8, 8, 8, 16], [64, 8], [40, 20, 30]):
        mask = np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]
        start_s = backend.now_s
        backend.run({"attention_mask": mask.astype(np.int64)})
        predicted_s = costs.seconds(len(lengths), sum(lengths), max(lengths))
        assert predicted_s == pytest.approx(backend.now_s - start_s, rel=0.05)


def test_the_longest_row_comes_first_and_no_batch_is_over_the_bounds() -> None:
    backend = Metered(skips_padding=False)
    measure(backend, make_plan())
    assert backend.shapes[0] == (1, 64)
    assert all(rows <= 2 or rows * length <= 128 for rows, length in backend.shapes)
    assert max(rows for rows, _ in backend.shapes) == 8


def test_noise_never_gives_padding_a_negative_price() -> None:
    class Odd(Metered):
        def run(self, inputs: Mapping[str, Int64]) -> Float32:
            mask = inputs["attention_mask"]
            self.now_s -= 0.2 * float(mask.size - mask.sum())
            return super().run(inputs)

    costs = measure(Odd(skips_padding=True), make_plan())
    for rows, tokens, longest in ((2, 40, 36), (4, 80, 50), (8, 100, 60)):
        assert costs.seconds(rows, tokens, longest) > costs.seconds(rows, tokens, -(-tokens // rows)) * 0.99


def test_without_time_only_single_rows_are_measured_and_padding_is_not_trusted() -> None:
    backend = Metered(skips_padding=True)
    costs = measure(backend, make_plan(budget_s=0.0))
    assert {rows for rows, _ in backend.shapes} == {1}
    assert not costs.skips_padding
    assert costs.seconds(4, 32, 8) < 4 * costs.seconds(1, 8, 8)  # the fixed part is paid once


def test_time_runs_out_on_large_batches_first() -> None:
    thorough, hurried = Metered(skips_padding=True), Metered(skips_padding=True)
    measure(thorough, make_plan())
    measure(hurried, make_plan(budget_s=thorough.now_s * 0.8))
    assert (2, 8) in hurried.shapes
    assert (8, 16) in thorough.shapes
    assert (8, 16) not in hurried.shapes


def test_time_that_other_processes_take_is_not_counted_on_a_cpu() -> None:
    clock = clock_for("cpu")
    before_s = clock()
    threading.Event().wait(0.01)  # off the CPU, as when another process has it
    assert clock() - before_s < 0.01


def test_weights_that_give_no_numbers_are_found_before_anybody_is_served() -> None:
    backend = FakeBackend()
    backend.nan = {1}
    with pytest.raises(ValueError, match="not finite"):
        measure_costs(backend, make_plan(), clock_for("cpu"))
