"""Mappings and thresholds, against values computed by hand and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agreement.mapping import fit_platt, fit_threshold
from pipeline.agreement.measures import balanced_accuracy

Rows = tuple[list[float], list[bool]]


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def flags(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([char == "1" for char in text])


def test_platt_of_two_scores_meets_both_targets() -> None:
    # Two points determine the curve: each score's probability is the mean of its targets, 5/6 and 1/6.
    scores, good = array(2, 2, 2, 2, 8, 8, 8, 8), flags("00011110")
    mapping = fit_platt(scores, good)
    low, high = mapping.probabilities(array(2, 8)).tolist()
    assert low == pytest.approx((3 / 6 + 5 / 6) / 4, abs=1e-5)
    assert high == pytest.approx((3 * 5 / 6 + 1 / 6) / 4, abs=1e-5)
    assert mapping.slope == pytest.approx((math.log(high / (1 - high)) - math.log(low / (1 - low))) / 6, abs=1e-4)


def test_platt_finds_the_curve_that_made_the_rows() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(0, 10, size=50_000)
    good = rng.random(50_000) < 1 / (1 + np.exp(-(0.8 * scores - 5)))
    mapping = fit_platt(scores, good)
    assert mapping.slope == pytest.approx(0.8, abs=0.02)
    assert mapping.intercept == pytest.approx(-5, abs=0.1)


def test_platt_of_separable_rows_is_finite_and_of_useless_ones_level() -> None:
    separable = fit_platt(array(1, 2, 8, 9), flags("0011"))
    assert 0 < separable.slope < 10
    for scores, good in ((array(1, 2, 8, 9), flags("1100")), (array(5, 5, 5, 5), flags("1100"))):
        level = fit_platt(scores, good)
        assert level.slope == 0
        assert level.probabilities(array(0, 10)).tolist() == pytest.approx([0.5, 0.5])


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    made = draw(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=40))
    return [score / 2 for score, _ in made] + [1.0, 9.0], [is_good for _, is_good in made] + [False, True]


@given(rows())
def test_the_mapping_rises_and_stays_between_0_and_1(made: Rows) -> None:
    scores, good = array(*made[0]), np.array(made[1])
    values = fit_platt(scores, good).probabilities(np.linspace(0, 10, 41))
    assert (np.diff(values) >= -1e-12).all()
    assert ((values > 0) & (values < 1)).all()


def test_the_threshold_lies_in_the_middle_of_the_widest_of_the_best_gaps() -> None:
    assert fit_threshold(array(1, 2, 6, 7), flags("0011")) == 4
    # Cuts at 1.5 and 6 decide three of four kinds alike: (1 + .5) / 2 each; the gap from 3 to 9 is wider.
    assert fit_threshold(array(1, 2, 3, 9), flags("0101")) == 6


@given(rows())
def test_no_cut_is_better_than_the_fitted_one(made: Rows) -> None:
    scores, good = array(*made[0]), np.array(made[1])
    best = balanced_accuracy(scores >= fit_threshold(scores, good), good)
    assert best >= max(balanced_accuracy(scores >= cut, good) for cut in scores) - 1e-9
