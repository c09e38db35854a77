"""The probability of a claim, from what the model says and from values that the source does not have."""

import json
from importlib.resources import files

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
    signals,
)

SHARES = st.floats(0, 1)


def support(entailment: float, known_share: float = 1.0) -> float:
    return claim_support(signals(entailment, known_share))


def test_every_signal_has_a_weight_and_none_has_the_wrong_sign() -> None:
    weights = json.loads(files("pipeline.support").joinpath("claim_support.json").read_text())["weights"]
    assert set(weights) == set(signals(0.5, 1.0))
    assert min(weights.values()) >= 0
    assert weights["entailment"] > 0


@given(SHARES, SHARES)
def test_support_is_a_probability(entailment: float, known_share: float) -> None:
    assert 0 < support(entailment, known_share) < 1


@given(SHARES, SHARES)
def test_more_entailment_never_lowers_support(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert support(low) <= support(high)


@given(SHARES, SHARES, SHARES)
def test_words_that_the_source_does_not_have_never_raise_support(entailment: float, one: float, other: float) -> None:
    fewer, more = sorted((one, other))
    assert support(entailment, fewer) <= support(entailment, more)


@given(SHARES, st.floats(0.25, 1))
def test_of_known_words_a_quarter_is_as_good_as_all(entailment: float, known_share: float) -> None:
    assert support(entailment, known_share) == support(entailment)


def test_a_certain_model_is_believed_but_not_entirely() -> None:
    assert support(0.0) < 0.5 < support(1.0) < 1


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
    statement = Hypothesis("statement", premises, 1.0, is_copied=is_copied)
    rows = np.array([[entails, 0.0, contradicts] for entails, contradicts in answers], dtype=np.float32).reshape(-1, 3)
    support = read_support(statement, PairScores(statement.pairs, rows), SupportConfig())
    assert support.label is label
    assert label_of(support.probability, SupportConfig()) is label  # one story
