"""Correlations that only the benchmarks report, against values computed by hand."""

import numpy as np
import pytest

from pipeline.agreement.measures import spearman
from scripts.benchmarks.judge.people import kendall, within_groups


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def test_kendall_by_hand() -> None:
    assert kendall(array(1, 2, 3, 4), array(1, 3, 2, 4)) == pytest.approx(4 / 6)  # five of six pairs agree
    # tau-b with a tie on one side: 5 concordant of sqrt(6 * 5).
    assert kendall(array(1, 2, 3, 4), array(1, 2, 2, 3)) == pytest.approx(5 / np.sqrt(30))
    assert kendall(array(1, 1, 1), array(1, 2, 3)) == 0


def test_groups_without_a_difference_are_left_out() -> None:
    groups, scores, human = ["a", "a", "b", "b", "c", "c"], [1, 2, 1, 2, 2, 1], [1, 2, 3, 3, 1, 2]
    assert within_groups(spearman, groups, scores, human) == pytest.approx((1 - 1) / 2)
