"""Measures of agreement, against values computed by hand and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agreement.measures import (
    accuracy,
    auc,
    balanced_accuracy,
    cohen_kappa,
    expected_calibration_error,
    light_kappa,
    precision,
    ranks,
    recall,
    reliability,
    spearman,
)


def array(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, dtype=np.float64)


def flags(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([char == "1" for char in text])


def test_equal_values_share_their_mean_rank() -> None:
    assert ranks(array(5, 1, 5, 9)).tolist() == [2.5, 1, 2.5, 4]


def test_correlations_by_hand() -> None:
    # Ranks 1 2 3 4 against 1 3 2 4: d^2 = 2, rho = 1 - 6 * 2 / (4 * 15).
    assert spearman(array(1, 2, 3, 4), array(1, 3, 2, 4)) == pytest.approx(0.8)
    assert spearman(array(1, 1, 1), array(1, 2, 3)) == 0


def test_auc_counts_pairs_and_ties_by_half() -> None:
    # Good 3 and 2, bad 1 and 2: 3 > 1, 3 > 2, 2 > 1, and 2 = 2 by half.
    assert auc(array(3, 2, 1, 2), flags("1100")) == pytest.approx(3.5 / 4)
    assert np.isnan(auc(array(1, 2), flags("11")))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auc_is_the_share_of_pairs_in_order(rows: list[tuple[int, bool]]) -> None:
    good, bad = [score for score, is_good in rows if is_good], [score for score, is_good in rows if not is_good]
    found = auc(array(*(score for score, _ in rows)), np.array([is_good for _, is_good in rows]))
    if not good or not bad:
        assert np.isnan(found)
    else:
        won = sum((one > other) + (one == other) / 2 for one in good for other in bad)
        assert found == pytest.approx(won / (len(good) * len(bad)))


def test_decisions_by_hand() -> None:
    passed, good = flags("11100"), flags("11001")
    assert accuracy(passed, good) == pytest.approx(3 / 5)
    assert balanced_accuracy(passed, good) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert precision(passed, good) == pytest.approx(2 / 3)
    assert recall(passed, good) == pytest.approx(2 / 3)
    assert np.isnan(precision(flags("00"), flags("01")))
    assert np.isnan(balanced_accuracy(flags("01"), flags("11")))


def test_kappa_of_the_textbook_table() -> None:
    # Both yes 20, both no 15, only the first 5, only the second 10: observed .7, chance .5.
    first, second = flags("1" * 25 + "0" * 25), flags("1" * 20 + "0" * 5 + "1" * 10 + "0" * 15)
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa(first, first) == 1
    assert cohen_kappa(first, ~first) == pytest.approx(-1)
    assert np.isnan(cohen_kappa(flags("11"), flags("11")))


def test_kappa_of_many_raters_is_the_mean_over_their_pairs() -> None:
    one, other = flags("1" * 25 + "0" * 25), flags("1" * 20 + "0" * 5 + "1" * 10 + "0" * 15)
    both = np.stack([one, other], axis=1).astype(np.float64)
    assert light_kappa(both) == pytest.approx(cohen_kappa(one, other))
    three = np.column_stack([both, one])
    assert light_kappa(three) == pytest.approx((0.4 + 1 + 0.4) / 3)
    absent = np.column_stack([both, np.full(50, np.nan)])
    assert light_kappa(absent) == pytest.approx(0.4)
    assert np.isnan(light_kappa(np.ones((3, 2))))


def test_calibration_error_by_hand() -> None:
    # .9, .9 and 1 are in one bin: mean .9333, two thirds good; .1 is alone and bad.
    probabilities, good = array(0.9, 0.9, 1.0, 0.1), flags("1010")
    assert expected_calibration_error(probabilities, good) == pytest.approx(0.75 * (2.8 / 3 - 2 / 3) + 0.25 * 0.1)
    low, high = reliability(probabilities, good)
    assert (low.low, low.high, low.count, low.good_share) == (0.1, 0.2, 1, 0)
    assert (high.low, high.high, high.count) == (0.9, 1, 3)
    assert expected_calibration_error(array(1, 0), flags("10")) == 0
    assert expected_calibration_error(array(1, 0), flags("01")) == 1
