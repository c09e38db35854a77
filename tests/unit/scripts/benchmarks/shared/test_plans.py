import pytest

from scripts.benchmarks.shared.plans import CPU_PLANS, GPU_PLANS, ONE_BY_ONE, Plan

LENGTHS = [5, 90, 6, 7, 300, 8, 5, 31]


@pytest.mark.parametrize("plan", [*CPU_PLANS, *GPU_PLANS], ids=lambda plan: plan.name)
def test_a_plan_runs_every_input_once_within_its_bounds(plan: Plan) -> None:
    lengths = LENGTHS * 9
    batches = plan.cut(lengths)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= plan.max_rows
        padded = len(batch) * max(lengths[index] for index in batch)
        assert len(batch) == 1 or plan.max_padded_tokens is None or padded <= plan.max_padded_tokens


def test_sorting_puts_similar_lengths_together_and_one_by_one_keeps_the_order_of_arrival() -> None:
    assert Plan("two", max_rows=2).cut(LENGTHS) == [[4, 1], [7, 5], [3, 2], [0, 6]]
    assert ONE_BY_ONE.cut(LENGTHS) == [[index] for index in range(len(LENGTHS))]
