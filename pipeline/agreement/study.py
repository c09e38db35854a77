"""What labelled summaries say about a score: how well it agrees with people, where to cut, and how sure that is."""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.agreement.bootstrap import Estimate, estimate
from pipeline.agreement.mapping import BEST_SCORE, PlattMapping, fit_platt, fit_threshold
from pipeline.agreement.measures import (
    Bools,
    Float64,
    ReliabilityBin,
    accuracy,
    auc,
    balanced_accuracy,
    cohen_kappa,
    expected_calibration_error,
    light_kappa,
    precision,
    recall,
    reliability,
    spearman,
)
from pipeline.errors import InvalidInputError

FOLDS = 5
LEAST_OF_A_KIND = 5
MIDDLE = BEST_SCORE / 2


@dataclass(frozen=True)
class Labelled:
    """Scores of summaries and what people say of them, a row each."""

    scores: Float64  # in [0, 10]
    labels: Float64  # mean over the annotators, on their scale
    good: Bools  # what the annotators say together
    ratings: Float64  # shape (rows, annotators): 1 good, 0 bad, NaN not rated
    groups: npt.NDArray[np.int64]  # numbers from 0; rows of one group are of one source


@dataclass(frozen=True)
class Study:
    """What was measured and fitted."""

    # by name, see `docs/concepts/calibration.md`; of the fitted threshold and mapping cross-validated
    measures: dict[str, Estimate]
    threshold: float  # fitted to all rows: summaries with this score pass
    mapping: PlattMapping  # fitted to all rows
    fold_thresholds: tuple[float, ...]  # fitted to all rows but those of a fold, in order of the folds
    raw_bins: tuple[ReliabilityBin, ...]  # reliability of score / 10
    mapped_bins: tuple[ReliabilityBin, ...]  # of the probabilities, cross-validated


class HeldOut(NamedTuple):
    """What rows get from a threshold and a mapping that were fitted without their source; and the thresholds."""

    passed: Bools
    probabilities: Float64
    thresholds: tuple[float, ...]


def study(labelled: Labelled) -> Study:
    """Measures, fits and cross-validates. The same rows give the same numbers, as long as they come in the same order.

    Raises InvalidInputError: there are too few rows.
    """
    scores, good = labelled.scores, labelled.good
    good_count, bad_count = int(good.sum()), int((~good).sum())
    if min(good_count, bad_count) < LEAST_OF_A_KIND:
        expected = f"at least {LEAST_OF_A_KIND} good and {LEAST_OF_A_KIND} bad summaries with a score"
        raise InvalidInputError("label", expected, f"{good_count} good and {bad_count} bad")
    held_out = cross_validate(labelled)
    return Study(
        _measure(labelled, held_out),
        fit_threshold(scores, good),
        fit_platt(scores, good),
        held_out.thresholds,
        tuple(reliability(scores / BEST_SCORE, good)),
        tuple(reliability(held_out.probabilities, good)),
    )


def _measure(labelled: Labelled, held_out: HeldOut) -> dict[str, Estimate]:
    scores, good = labelled.scores, labelled.good
    estimated = partial(estimate, groups=labelled.groups)
    found = {"spearman": estimated(spearman, scores, labelled.labels), "auc": estimated(auc, scores, good)}
    for suffix, passed in (("_at_middle", scores >= MIDDLE), ("", held_out.passed)):
        for statistic in (accuracy, balanced_accuracy, cohen_kappa, precision, recall):
            found[f"{statistic.__name__}{suffix}"] = estimated(statistic, passed, good)
    found["human_kappa"] = Estimate(math.nan, math.nan, math.nan)
    if labelled.ratings.shape[1] > 1:
        found["human_kappa"] = estimated(light_kappa, labelled.ratings)
    for name, probabilities in (("ece_of_score", scores / BEST_SCORE), ("ece_of_probability", held_out.probabilities)):
        found[name] = estimated(expected_calibration_error, probabilities, good)
    return found


def cross_validate(labelled: Labelled) -> HeldOut:
    """Decides every row by what was fitted to the other folds. Sources are dealt out to folds whole.

    Raises InvalidInputError: too few sources: outside of some fold there is only one kind.
    """
    passed = np.zeros(len(labelled.good), dtype=np.bool_)
    probabilities = np.zeros(len(labelled.good))
    thresholds = []
    numbers = fold_numbers(labelled.groups, labelled.good)
    for fold in np.unique(numbers).tolist():
        out = numbers == fold
        scores, good = labelled.scores[~out], labelled.good[~out]
        if not good.any() or good.all():
            raise InvalidInputError("source", "good and bad summaries of more sources", "too few to hold some out")
        thresholds.append(fit_threshold(scores, good))
        passed[out] = labelled.scores[out] >= thresholds[-1]
        probabilities[out] = fit_platt(scores, good).probabilities(labelled.scores[out])
    return HeldOut(passed, probabilities, tuple(thresholds))


def fold_numbers(groups: npt.NDArray[np.int64], good: Bools) -> npt.NDArray[np.int64]:
    """Deals groups out to folds, in the order of their share of good rows, so that the folds' shares are alike."""
    sizes = np.bincount(groups)
    shares = np.bincount(groups, weights=good) / sizes
    dealt = np.empty(len(sizes), dtype=np.int64)
    dealt[np.lexsort((sizes, shares))] = np.arange(len(sizes)) % FOLDS
    return dealt[groups]
