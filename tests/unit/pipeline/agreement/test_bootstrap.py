"""Bootstrap intervals, against closed forms."""

import math
import random

import numpy as np
import pytest

from pipeline.agreement.bootstrap import Estimate, estimate, paired_difference
from pipeline.agreement.measures import Float64, auc, spearman

ROWS = 400


def mean(values: Float64) -> float:
    return float(values.mean())


def test_an_interval_holds_the_value_and_is_the_same_each_time() -> None:
    rng = random.Random(0)
    scores = [rng.random() for _ in range(60)]
    human = [score + rng.random() for score in scores]
    found = estimate(spearman, scores, human)
    assert found.low < found.value < found.high
    assert found == estimate(spearman, scores, human)


def test_the_interval_of_a_mean_is_that_of_the_normal_law() -> None:
    values = np.random.default_rng(1).normal(size=ROWS)
    found = estimate(mean, values)
    expected = 1.96 * values.std() / math.sqrt(ROWS)
    assert found.high - found.value == pytest.approx(expected, rel=0.1)
    assert found.value - found.low == pytest.approx(expected, rel=0.1)


def test_copies_of_a_row_in_its_group_make_no_interval_narrower() -> None:
    values = np.random.default_rng(2).normal(size=100)
    groups = np.arange(100)
    alone = estimate(mean, values, groups=groups)
    repeated = estimate(mean, np.tile(values, 4), groups=np.tile(groups, 4))
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high))
    assert repeated.value == pytest.approx(alone.value)


def test_what_is_mostly_not_defined_has_no_interval() -> None:
    found = estimate(auc, [1.0, 2.0], np.array([True, False]))
    assert found.value == 0
    assert not math.isnan(found.low)  # half of the draws have both kinds
    undefined = estimate(auc, [1.0, 2.0], np.array([True, True]))
    assert math.isnan(undefined.value)
    assert math.isnan(undefined.low)
    assert str(undefined) == "-"
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.500 [0.25, 0.75]"


def test_a_difference_is_sure_when_its_interval_leaves_zero_out() -> None:
    rng = np.random.default_rng(4)
    before = rng.normal(size=ROWS)
    worse = paired_difference(before, before - 0.2 + rng.normal(scale=0.5, size=ROWS))
    assert worse.estimate.high < 0
    assert worse.p < 0.05
    same = paired_difference(before, before + rng.normal(scale=0.5, size=ROWS))
    assert same.estimate.low < 0 < same.estimate.high
    assert same.p > 0.05


def test_the_p_value_is_that_of_the_normal_law() -> None:
    values = np.random.default_rng(5).normal(size=ROWS)
    shifted = values - values.mean() + 1.5 * values.std() / math.sqrt(ROWS)  # z = 1.5
    assert paired_difference(np.zeros(ROWS), shifted).p == pytest.approx(math.erfc(1.5 / math.sqrt(2)), abs=0.03)
