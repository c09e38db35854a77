"""Claim support: the probability that the source supports a claim, calibrated.

The NLI model was trained for this very question (inference/compile/heads/MODEL_CARD.md); what it says of the passage is
nearly all. Values that stand nowhere in the source are the rest: a small model misses a swapped number or name. The
weights are in `claim_support.json`, fitted by `scripts/train_claims.py` to documents that the model was not trained on,
and to no human judgement of a summary. No weight may have the wrong sign.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pipeline.frozen import FrozenModel

_CERTAINTY = 1e-3
"""Added to a probability and to its complement: the model is not to be believed beyond 0.999."""

_COUNTED = 2
"""Values of one kind that count; more say the same."""


class ClaimSupportWeights(FrozenModel):
    """What `claim_support.json` holds.

    Attributes:
        intercept: log-odds of a claim whose signals are all 0.
        weights: log-odds for each unit of a signal.
        record: how they were made.
    """

    intercept: float
    weights: Mapping[str, float]
    record: Mapping[str, str | int | float]


def signals(entailment: float, unmatched_numbers: int, unmatched_names: int) -> dict[str, float]:
    """Returns the signals of a claim by name; more of any speaks for the claim.

    Args:
        entailment: by the passage, in [0, 1].
        unmatched_numbers: numbers and parts of dates that stand nowhere in the source.
        unmatched_names: likewise, names.
    """
    return {
        "entailment": math.log((entailment + _CERTAINTY) / (1 - entailment + _CERTAINTY)),
        "matched_numbers": -float(min(unmatched_numbers, _COUNTED)),
        "matched_names": -float(min(unmatched_names, _COUNTED)),
    }


def claim_support(evidence: Mapping[str, float]) -> float:
    """Returns the probability in (0, 1) that the source supports a claim with these signals."""
    model = _weights()
    return _sigmoid(model.intercept + math.fsum(weight * evidence[name] for name, weight in model.weights.items()))


@cache
def _weights() -> ClaimSupportWeights:
    text = files("pipeline.judge.evidence.signals").joinpath("claim_support.json").read_text(encoding="utf-8")
    return ClaimSupportWeights.model_validate_json(text)


def _sigmoid(log_odds: float) -> float:
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)  # exp() of a large positive number would overflow
    return odds / (1 + odds)
