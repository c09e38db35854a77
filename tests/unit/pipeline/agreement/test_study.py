"""The study of labelled scores: what is reported was not fitted on."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.agreement.measures import balanced_accuracy
from pipeline.agreement.study import FOLDS, Labelled, cross_validate, fold_numbers, study
from pipeline.errors import InvalidInputError


def labelled(scores: Sequence[float], good: Sequence[bool], groups: Sequence[int] | None = None) -> Labelled:
    flags = np.array(good, dtype=np.bool_)
    return Labelled(
        np.array(scores, dtype=np.float64),
        flags.astype(np.float64),
        flags,
        flags.astype(np.float64)[:, None],
        np.arange(len(scores)) if groups is None else np.array(groups),
    )


def noise(count: int = 60) -> Labelled:
    rng = np.random.default_rng(0)
    return labelled(rng.uniform(0, 10, count).tolist(), (rng.random(count) < 0.5).tolist())


def separable(count: int = 60) -> Labelled:
    scores = np.linspace(0, 10, count)
    return labelled(scores.tolist(), (scores > 7).tolist())


def test_separable_rows_agree_and_the_threshold_moves_to_where_they_part() -> None:
    found = study(separable())
    assert found.measures["auc"].value == 1
    assert found.measures["balanced_accuracy"].value > 0.9
    assert found.measures["balanced_accuracy_at_middle"].value < 0.9
    assert found.threshold == pytest.approx(7, abs=0.2)
    assert found.measures["ece_of_probability"].value < found.measures["ece_of_score"].value
    assert np.isnan(found.measures["human_kappa"].value)


def test_what_is_reported_of_noise_is_not_what_was_fitted() -> None:
    rows = noise()
    found = study(rows)
    fitted = balanced_accuracy(rows.scores >= found.threshold, rows.good)
    assert found.measures["balanced_accuracy"].value < fitted
    assert found.measures["cohen_kappa"].low < 0 < found.measures["cohen_kappa"].high


def test_the_same_rows_give_the_same_study() -> None:
    assert repr(study(noise())) == repr(study(noise()))


def test_a_source_is_held_out_whole_and_folds_are_alike() -> None:
    groups = np.repeat(np.arange(20), 3)
    good = np.repeat(np.arange(20) < 10, 3)
    numbers = fold_numbers(groups, good)
    assert all(len(set(numbers[groups == group].tolist())) == 1 for group in range(20))
    shares = [float(good[numbers == fold].mean()) for fold in range(FOLDS)]
    assert shares == [0.5] * FOLDS


def test_a_row_does_not_decide_about_itself() -> None:
    rows = separable()
    held_out = cross_validate(rows)
    numbers = fold_numbers(rows.groups, rows.good)
    scores = rows.scores.copy()
    scores[numbers == 0] = 10 - scores[numbers == 0]
    changed = cross_validate(dataclasses.replace(rows, scores=scores))
    assert changed.thresholds[0] == held_out.thresholds[0]
    assert changed.thresholds[1] != held_out.thresholds[1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (labelled([1, 2, 3], [True, False, True]), "at least 5 good and 5 bad"),
        (labelled([1] * 12, [True, False] * 6, [0] * 12), "of more sources"),
        (labelled([], []), "0 good and 0 bad"),
    ],
)
def test_rows_from_which_nothing_can_be_learned_are_refused(rows: Labelled, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        study(rows)
