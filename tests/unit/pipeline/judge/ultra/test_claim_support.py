import json
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judge.evidence.claim import Claim, ClaimMismatch, MismatchKind, WindowScore
from pipeline.judge.ultra.claim_support import claim_support, signals
from tests.unit.pipeline.judge.tables import FEATURES, S, claims, place

PERFECT = claims(S)[0]
SHARES = st.floats(0, 1)
BETTER_WHEN_HIGHER = (
    *("stitched_entailment", "content_bigram_share", "content_skip_share", "sequence_share", "best_cosine"),
)
BETTER_WHEN_LOWER = ("sentence_contradiction", "stitched_contradiction")


def having(**features: float) -> Claim:
    return replace(PERFECT, features=replace(FEATURES, **features))  # type: ignore[arg-type]  # shares alone


def test_every_weight_names_a_signal_and_none_has_the_wrong_sign() -> None:
    model = json.loads(files("pipeline.judge.ultra").joinpath("claim_support.json").read_text())
    assert set(model["weights"]) == set(signals(PERFECT))
    assert min(model["weights"].values()) >= 0
    assert model["record"]["script"] == "scripts/train_claim_support.py"


@pytest.mark.parametrize("name", BETTER_WHEN_HIGHER)
@given(one=SHARES, other=SHARES)
def test_more_evidence_never_lowers_support(name: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert claim_support(having(**{name: low})) <= claim_support(having(**{name: high}))


@pytest.mark.parametrize("name", BETTER_WHEN_LOWER)
@given(one=SHARES, other=SHARES)
def test_more_against_a_claim_never_raises_support(name: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert claim_support(having(**{name: low})) >= claim_support(having(**{name: high}))


@given(SHARES, SHARES, SHARES)
def test_support_is_a_probability(entailment: float, contradiction: float, share: float) -> None:
    windows = (WindowScore(1, entailment, contradiction),)
    features = replace(FEATURES, windows=windows, sentence_contradiction=contradiction, trigram_share=share)
    assert 0 < claim_support(replace(PERFECT, features=features)) < 1


def test_a_copied_claim_is_supported_and_a_foreign_one_is_not() -> None:
    foreign = replace(
        FEATURES,
        windows=(WindowScore(1, 0.01, 0.3),),
        sentence_contradiction=0.3,
        stitched_entailment=0.01,
        stitched_contradiction=0.3,
        content_bigram_share=0.0,
        content_skip_share=0.0,
        sequence_share=0.1,
        best_cosine=0.1,
    )
    assert claim_support(PERFECT) > 0.85
    assert claim_support(replace(PERFECT, features=foreign, contradiction=0.3)) < 0.15


def test_neutral_speaks_against_a_rephrased_claim_and_not_against_a_copy() -> None:
    def support(entailment: float, **shares: float) -> float:
        neutral = having(
            windows=(WindowScore(1, entailment, 0.02),),  # type: ignore[arg-type]  # not a share
            sentence_contradiction=0.02,
            stitched_entailment=entailment,
            stitched_contradiction=0.02,
            **shares,
        )
        return claim_support(replace(neutral, contradiction=0.02))

    assert support(0.1) > 0.8
    rephrased = {"content_bigram_share": 0.3, "content_skip_share": 0.3, "sequence_share": 0.4}
    assert support(0.1, **rephrased) < 0.3
    assert support(0.95, **rephrased) > 0.7


def test_one_word_in_common_or_two_is_the_same() -> None:
    few, more, most = (claim_support(having(content_bigram_share=share)) for share in (0.1, 0.3, 1.0))
    assert more - few < 0.01 < most - more


def test_a_number_that_the_source_does_not_have_lowers_support() -> None:
    mismatch = ClaimMismatch(MismatchKind.NUMBER, place("summary", 0, "12"), place("source", 0, "21"))
    changed = replace(having(unmatched_number_count=1), mismatches=(mismatch,))
    assert claim_support(changed) < claim_support(PERFECT)
