"""The probability of a claim, from what the model says and from values that the source does not have."""

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.evidence.claim import ClaimLabel
from pipeline.judge.evidence.config import EvidenceConfig
from pipeline.judge.evidence.signals.claim_support import claim_support, signals
from pipeline.judge.evidence.signals.labels import label_of

SHARES, COUNTS = st.floats(0, 1), st.integers(0, 20)


def support(entailment: float, numbers: int = 0, names: int = 0) -> float:
    return claim_support(signals(entailment, numbers, names))


def test_every_signal_has_a_weight_and_none_has_the_wrong_sign() -> None:
    weights = json.loads(files("pipeline.judge.evidence.signals").joinpath("claim_support.json").read_text())["weights"]
    assert set(weights) == set(signals(0.5, 0, 0))
    assert min(weights.values()) >= 0
    assert weights["entailment"] > 0


@given(SHARES, COUNTS, COUNTS)
def test_support_is_a_probability(entailment: float, numbers: int, names: int) -> None:
    assert 0 < support(entailment, numbers, names) < 1


@given(SHARES, SHARES)
def test_more_entailment_never_lowers_support(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert support(low) <= support(high)


@given(SHARES, COUNTS, COUNTS, st.sampled_from(["numbers", "names"]))
def test_values_that_the_source_does_not_have_never_raise_support(
    entailment: float, one: int, other: int, kind: str
) -> None:
    few, many = sorted((one, other))
    assert support(entailment, **{kind: many}) <= support(entailment, **{kind: few})


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
def test_labels_are_bands_of_the_probability_unless_the_source_contradicts(
    probability: float, label: ClaimLabel
) -> None:
    config = EvidenceConfig(supported=0.5, partly_supported=0.3)
    assert label_of(probability, config, is_contradicted=False) is label
    assert label_of(probability, config, is_contradicted=True) is ClaimLabel.UNSUPPORTED
