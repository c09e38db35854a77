"""Claim support: the probability that the source supports a claim, calibrated.

The NLI model was trained for this very question (inference/compile/heads/MODEL_CARD.md); what it says of the passage is
nearly all. The rest is how much of the claim's words the source has nowhere: the model has learned from claims that
belong to their documents, and is not sure about one that has nothing to do with it. Words that are known say nothing:
once a quarter of them are, more make no difference.

The weights are in `claim_support.json`, fitted by `scripts/train_claims.py` or `scripts/fit_claim_support.py` to
documents that the model was not trained on, and to no human judgement of a summary. No weight may have the wrong sign.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pipeline.frozen import FrozenModel

_CERTAINTY = 1e-3
"""Added to a probability and to its complement: the model is not to be believed beyond 0.999."""

_ENOUGH = 0.25
"""Share of a claim's words, by rarity, from which it may be about the source."""


class ClaimSupportWeights(FrozenModel):
    """What `claim_support.json` holds.

    Attributes:
        intercept: log-odds of a claim whose signals are all 0.
        weights: log-odds for each unit of a signal.
        unsupported_word: probability of a mark from which a word of a doubtful claim counts as not supported.
        record: how they were made.
    """

    intercept: float
    weights: Mapping[str, float]
    unsupported_word: float
    record: Mapping[str, str | int | float]


def signals(entailment: float, known_share: float) -> dict[str, float]:
    """Returns the signals of a claim by name; more of any speaks for the claim.

    Args:
        entailment: by the passage, in [0, 1].
        known_share: of the weight of the claim's content words, those that stand somewhere in the source, in [0, 1].
    """
    return {
        "entailment": math.log((entailment + _CERTAINTY) / (1 - entailment + _CERTAINTY)),
        "known_words": -max(0.0, 1 - known_share / _ENOUGH),
    }


def claim_support(evidence: Mapping[str, float]) -> float:
    """Returns the probability in (0, 1) that the source supports a claim with these signals."""
    model = _weights()
    return _sigmoid(model.intercept + math.fsum(weight * evidence[name] for name, weight in model.weights.items()))


def is_unsupported(mark: float) -> bool:
    """Tells whether a word with such a mark, in a claim that is not supported, is one that is not."""
    return mark >= _weights().unsupported_word


@cache
def _weights() -> ClaimSupportWeights:
    text = files("pipeline.support").joinpath("claim_support.json").read_text(encoding="utf-8")
    return ClaimSupportWeights.model_validate_json(text)


def _sigmoid(log_odds: float) -> float:
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)  # exp() of a large positive number would overflow
    return odds / (1 + odds)
