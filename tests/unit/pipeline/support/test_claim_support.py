"""The probability of a claim, from what the model says and from values that the source does not have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model_answers import PairScores
from pipeline.support.claim_support import (
    ClaimLabel,
    Hypothesis,
    SupportConfig,
    claim_support,
    label_of,
    read_support,
)

SHARES = st.floats(0, 1)


@given(SHARES, SHARES)
def test_more_entailment_never_lowers_support(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 < claim_support(low) <= claim_support(high) < 1


def test_a_certain_model_is_believed_but_not_entirely() -> None:
    assert claim_support(0.0) < 0.5 < claim_support(1.0) < 1


@pytest.mark.parametrize(
    ("probability", "label"),
    [
        (0.5, ClaimLabel.SUPPORTED),
        (0.49, ClaimLabel.PARTIAL),
        (0.3, ClaimLabel.PARTIAL),
        (0.29, ClaimLabel.UNSUPPORTED),
    ],
)
def test_labels_are_bands_of_the_probability(probability: float, label: ClaimLabel) -> None:
    assert label_of(probability, SupportConfig()) is label


@pytest.mark.parametrize(
    ("answers", "is_copied", "label"),
    [
        ([(0.1, 0.2), (0.95, 0.1)], False, ClaimLabel.SUPPORTED),  # the passage that entails more counts
        ([(0.05, 0.9), (0.1, 0.1)], False, ClaimLabel.UNSUPPORTED),
        ([(0.5, 0.1), (0.1, 0.9)], False, ClaimLabel.UNSUPPORTED),  # contradicted, and more than entailed
        ([(0.9, 0.1), (0.1, 0.95)], False, ClaimLabel.SUPPORTED),  # one passage supports it for sure
        ([(0.9, 0.95)], True, ClaimLabel.SUPPORTED),  # what stands there word for word contradicts nothing
        ([], False, ClaimLabel.UNSUPPORTED),
    ],
)
def test_a_statement_is_labelled_by_the_answers_about_its_premises(
    *, answers: list[tuple[float, float]], is_copied: bool, label: ClaimLabel
) -> None:
    premises = tuple(f"passage {number}" for number in range(len(answers)))
    statement = Hypothesis("statement", premises, is_copied=is_copied)
    rows = np.array([[entails, 0.0, contradicts] for entails, contradicts in answers], dtype=np.float32).reshape(-1, 3)
    support = read_support(statement, PairScores(statement.pairs, rows), SupportConfig())
    assert support.label is label
    assert label_of(support.probability, SupportConfig()) is label  # one story
