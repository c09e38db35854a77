"""Whether a second reader of claims helps, which claims it should read, and how far to believe it."""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.agreement.bootstrap import Estimate, estimate
from pipeline.agreement.measures import Bools, Float64, balanced_accuracy
from pipeline.agreement.study import LEAST_OF_A_KIND, fold_numbers
from pipeline.errors import InvalidInputError
from pipeline.judge.second_reader import likelihood_ratio

MOST_SHARE = 0.25
"""Share of all claims that it may read: a bound on its cost."""


@dataclass(frozen=True)
class ReadClaims:
    """Labelled claims, a row each.

    Attributes:
        probabilities: of the first reader, in (0, 1).
        verdicts: of the second one: 1 supported, 0 not, NaN none.
        good: what people say.
        groups: numbers from 0; rows of one group are of one source.
    """

    probabilities: Float64
    verdicts: Float64
    good: Bools
    groups: npt.NDArray[np.int64]

    def __getitem__(self, rows: Bools) -> "ReadClaims":
        return ReadClaims(self.probabilities[rows], self.verdicts[rows], self.good[rows], self.groups[rows])


class Band(NamedTuple):
    """Which claims are read again, and how often the reader is right of those that are supported and of the others."""

    low: float
    high: float
    sensitivity: float
    specificity: float

    def asked(self, probabilities: Float64) -> Bools:
        """Tells which claims are read again."""
        return np.asarray((probabilities >= self.low) & (probabilities < self.high))

    def revised(self, claims: ReadClaims) -> Float64:
        """Returns the probabilities after the second reading."""
        ratios = [
            likelihood_ratio(self.sensitivity, self.specificity, is_supported=is_supported)
            for is_supported in (False, True)
        ]
        after, is_read = claims.probabilities.copy(), self.asked(claims.probabilities) & ~np.isnan(claims.verdicts)
        odds = after[is_read] / (1 - after[is_read]) * np.where(claims.verdicts[is_read] == 1, *ratios[::-1])
        after[is_read] = odds / (1 + odds)
        return after


@dataclass(frozen=True)
class SecondReaderStudy:
    """What was measured and fitted.

    Attributes:
        band: fitted to all rows.
        asked_share: of all claims, those in the band.
        before: balanced accuracy of the first reader at even odds.
        after: of both, by what was fitted without a claim's source.
        gain: after - before.
    """

    band: Band
    asked_share: float
    before: Estimate
    after: Estimate
    gain: Estimate

    @property
    def helps(self) -> bool:
        """Whether the gain is beyond chance."""
        return self.gain.low > 0


def study_second_reader(claims: ReadClaims) -> SecondReaderStudy:
    """Fits, and tries what was fitted on sources that were held out.

    Raises:
        InvalidInputError: there are too few claims.
    """
    kinds = int(claims.good.sum()), int((~claims.good).sum())
    if min(kinds) < LEAST_OF_A_KIND:
        expected = f"at least {LEAST_OF_A_KIND} good and {LEAST_OF_A_KIND} bad summaries of one claim each"
        raise InvalidInputError("label", expected, f"{kinds[0]} good and {kinds[1]} bad")
    after = claims.probabilities.copy()
    folds = fold_numbers(claims.groups, claims.good)
    for fold in np.unique(folds).tolist():
        out = folds == fold
        after[out] = fit_band(claims[~out]).revised(claims[out])
    passed, once = after >= 1 / 2, claims.probabilities >= 1 / 2
    band = fit_band(claims)
    return SecondReaderStudy(
        band,
        float(band.asked(claims.probabilities).mean()),
        estimate(balanced_accuracy, once, claims.good, groups=claims.groups),
        estimate(balanced_accuracy, passed, claims.good, groups=claims.groups),
        estimate(_gain, once, passed, claims.good, groups=claims.groups),
    )


def _gain(before: Bools, after: Bools, good: Bools) -> float:
    return balanced_accuracy(after, good) - balanced_accuracy(before, good)


def fit_band(claims: ReadClaims) -> Band:
    """Returns the band with the best balanced accuracy; of equals the one that asks least."""
    known = ~np.isnan(claims.verdicts)
    rates = [
        (int((claims.verdicts == is_good)[of_a_kind].sum()) + 1) / (int(of_a_kind.sum()) + 2)  # never 0 or 1
        for is_good, of_a_kind in ((1, known & claims.good), (0, known & ~claims.good))
    ]
    best, key = Band(0.5, 0.5, *rates), (balanced_accuracy(claims.probabilities >= 1 / 2, claims.good), 0.0)
    for low, high in product(range(11), range(10, 21)):
        band = Band(low / 20, high / 20, *rates)
        share = float(band.asked(claims.probabilities).mean())
        found = balanced_accuracy(band.revised(claims) >= 1 / 2, claims.good), -share
        if share <= MOST_SHARE and found > key:
            best, key = band, found
    return best
