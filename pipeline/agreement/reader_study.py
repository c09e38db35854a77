"""Whether a second reader of claims helps, which claims it should read, and how far to believe it."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pipeline.agreement.bootstrap import Estimate, estimate
from pipeline.agreement.measures import Bools, Float64, balanced_accuracy
from pipeline.agreement.study import LEAST_OF_A_KIND, fold_numbers
from pipeline.errors import InvalidInputError
from pipeline.judge.second_reader import SecondReader


@dataclass(frozen=True)
class ReadClaims:
    """Labelled claims, a row each."""

    most_share: ClassVar[float] = 0.25  # of all claims that may be read again: a bound on the cost
    probabilities: Float64  # of the first reader, in (0, 1)
    verdicts: Float64  # of the second one: 1 supported, 0 not, NaN none
    good: Bools  # what people say
    groups: npt.NDArray[np.int64]  # numbers from 0; rows of one group are of one source

    def __getitem__(self, rows: Bools) -> "ReadClaims":
        return ReadClaims(self.probabilities[rows], self.verdicts[rows], self.good[rows], self.groups[rows])


def is_asked(reader: SecondReader, claims: ReadClaims) -> Bools:
    """Tells which claims are read again."""
    return np.asarray((claims.probabilities >= reader.low) & (claims.probabilities < reader.high))


def revised(reader: SecondReader, claims: ReadClaims) -> Float64:
    """Returns the probabilities after the second reading, as `SecondReader.revised` does."""
    after, is_read = claims.probabilities.copy(), is_asked(reader, claims) & ~np.isnan(claims.verdicts)
    for verdict in (0, 1):
        rows = is_read & (claims.verdicts == verdict)
        odds = after[rows] / (1 - after[rows]) * reader.likelihood_ratio(is_supported=bool(verdict))
        after[rows] = odds / (1 + odds)
    return after


@dataclass(frozen=True)
class SecondReaderStudy:
    """What was measured and fitted."""

    reader: SecondReader  # fitted to all rows
    asked_share: float  # of all claims, those that are read again
    before: Estimate  # balanced accuracy of the first reader at even odds
    after: Estimate  # of both, by what was fitted without a claim's source
    gain: Estimate  # after - before

    @property
    def helps(self) -> bool:
        """Whether the gain is beyond chance."""
        return self.gain.low > 0


def study_second_reader(claims: ReadClaims, name: str = "") -> SecondReaderStudy:
    """Fits, and tries what was fitted on held-out sources. Raises InvalidInputError: there are too few claims."""
    kinds = int(claims.good.sum()), int((~claims.good).sum())
    if min(kinds) < LEAST_OF_A_KIND:
        expected = f"at least {LEAST_OF_A_KIND} good and {LEAST_OF_A_KIND} bad summaries of one claim each"
        raise InvalidInputError("label", expected, f"{kinds[0]} good and {kinds[1]} bad")
    after = claims.probabilities.copy()
    folds = fold_numbers(claims.groups, claims.good)
    for fold in np.unique(folds).tolist():
        out = folds == fold
        after[out] = revised(fit_reader(claims[~out]), claims[out])
    passed, once = after >= 1 / 2, claims.probabilities >= 1 / 2
    reader = fit_reader(claims, name)
    return SecondReaderStudy(
        reader,
        float(is_asked(reader, claims).mean()),
        estimate(balanced_accuracy, once, claims.good, groups=claims.groups),
        estimate(balanced_accuracy, passed, claims.good, groups=claims.groups),
        estimate(_gain, once, passed, claims.good, groups=claims.groups),
    )


def _gain(before: Bools, after: Bools, good: Bools) -> float:
    return balanced_accuracy(after, good) - balanced_accuracy(before, good)


def fit_reader(claims: ReadClaims, name: str = "") -> SecondReader:
    """Returns what has the best balanced accuracy; of equals what asks least."""
    known = ~np.isnan(claims.verdicts)
    rates = [
        (int((claims.verdicts == is_good)[of_a_kind].sum()) + 1) / (int(of_a_kind.sum()) + 2)  # never 0 or 1
        for is_good, of_a_kind in ((1, known & claims.good), (0, known & ~claims.good))
    ]
    sensitivity, specificity = (round(rate, 6) for rate in rates)  # the last bits of a sum differ between machines
    bands = product(range(10, -1, -1), range(10, 21))  # twentieths; the first one asks nothing
    readers = (
        SecondReader(reader=name, low=low / 20, high=high / 20, sensitivity=sensitivity, specificity=specificity)
        for low, high in bands
    )
    allowed = [(float(is_asked(one, claims).mean()), one) for one in readers]
    allowed = [(share, one) for share, one in allowed if share <= ReadClaims.most_share]
    return max(allowed, key=lambda one: (balanced_accuracy(revised(one[1], claims) >= 1 / 2, claims.good), -one[0]))[1]
