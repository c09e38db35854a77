"""A second reader is let in by what it gains on claims that nothing was fitted to."""

import numpy as np
import pytest

from pipeline.agreement.reader_study import ReadClaims, fit_reader, revised, study_second_reader
from pipeline.errors import InvalidInputError

CLAIMS = 600


def read_by(accuracy: float) -> ReadClaims:
    """Claims of 200 sources, of which the first reader tells most; the second one is right so often."""
    random = np.random.default_rng(1)
    good = random.random(CLAIMS) < 0.5
    probabilities = 1 / (1 + np.exp(-random.normal(np.where(good, 1.2, -1.2), 1.5)))
    verdicts = np.where(random.random(CLAIMS) < accuracy, good, ~good).astype(np.float64)
    verdicts[::20] = np.nan
    return ReadClaims(probabilities, verdicts, good, np.arange(CLAIMS) // 3)


@pytest.mark.parametrize(("accuracy", "helps"), [(0.95, True), (0.5, False)])
def test_only_one_that_helps_where_the_first_is_unsure_is_let_in(accuracy: float, *, helps: bool) -> None:
    found = study_second_reader(read_by(accuracy))
    assert found.helps is helps
    assert found.asked_share <= ReadClaims.most_share
    assert (found.after.value > found.before.value + 0.03) is helps


def test_claims_of_a_study_move_as_those_of_a_judgement() -> None:
    claims, reader = read_by(0.95), fit_reader(read_by(0.95))
    for probability, verdict, after in zip(
        claims.probabilities.tolist(), claims.verdicts.tolist(), revised(reader, claims).tolist(), strict=True
    ):
        moves = reader.is_open(probability) and not np.isnan(verdict)
        expected = reader.revised(probability, is_supported=verdict == 1) if moves else probability
        assert after == pytest.approx(expected)


def test_a_handful_of_claims_shows_nothing() -> None:
    few = read_by(0.95)[np.arange(CLAIMS) < 6]
    with pytest.raises(InvalidInputError, match="of one claim each"):
        study_second_reader(few)
