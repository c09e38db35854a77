"""Claim support: the probability that the source supports a claim, by logistic regression on several signals.

No signal suffices. An NLI model reads meaning, but a small one misses a swapped name and is easily led astray. Copied
runs of words say much about summaries that copy, and nothing about those that rephrase. So the two are not merely
added. Where a claim is worded like the source, "neutral" is the NLI model's own weakness: a claim that is not
contradicted counts as entailed. The more it is worded otherwise, the more entailment it takes. Shares of copied words
are sharpened: one break in a literal copy says much, two words in common instead of one say nothing.

No weight may have the wrong sign: more entailment, or more of the claim found in the source, never lowers the result.
The weights are in `claim_support.json`; scripts/train_claim_support.py fits them to corrupted sentences that it makes
itself and to published NLI pairs, and to no human judgement of a summary.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pipeline.frozen import FrozenModel
from pipeline.judge.evidence.claim import Claim

_CERTAINTY = 1e-3
"""Added to a probability and to its complement: the model is not to be believed beyond 0.999."""

_SHARPNESS = 5
"""Power that shares of copied words are raised to: of six pairs one broken leaves 0.4, four broken leave 0.004."""

_COUNTED = 2
"""Differences of one kind that count; more say the same."""


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


def signals(claim: Claim) -> dict[str, float]:
    """Returns the signals of a claim by name; more of any speaks for the claim."""
    features = claim.features
    literal = _sharpened(features.content_bigram_share)
    entailment = features.windows[0].entailment if features.windows else 0.0
    return {
        "borne_out": _borne_out(entailment, features.sentence_contradiction, literal),
        "borne_out_by_place": _borne_out(min(entailment, 1 - claim.contradiction), claim.contradiction, literal),
        "borne_out_by_stitched": _borne_out(features.stitched_entailment, features.stitched_contradiction, literal),
        "content_bigram_share": literal,
        "content_skip_share": _sharpened(features.content_skip_share),
        "sequence_share": _sharpened(features.sequence_share),
        "closeness": _sharpened(max(0.0, features.best_cosine)),
        "matched_numbers": -float(min(features.unmatched_number_count, _COUNTED)),
        "matched_names": -float(min(features.unmatched_name_count, _COUNTED)),
        "no_mismatch": -float(min(len(claim.mismatches), _COUNTED)),
    }


def claim_support(claim: Claim) -> float:
    """Returns the probability in (0, 1) that a claim is faithful to the source."""
    model, evidence = _weights(), signals(claim)
    return _sigmoid(model.intercept + math.fsum(weight * evidence[name] for name, weight in model.weights.items()))


@cache
def _weights() -> ClaimSupportWeights:
    text = files("pipeline.judge.ultra").joinpath("claim_support.json").read_text(encoding="utf-8")
    return ClaimSupportWeights.model_validate_json(text)


def _borne_out(entailment: float, contradiction: float, literal: float) -> float:
    """Returns the log-odds that a premise entails a claim, or that it is a literal copy and not contradicted."""
    neutral = max(0.0, 1 - entailment - contradiction)
    return _logit(entailment + literal * neutral)


def _sharpened(share: float) -> float:
    """Returns a power of a share in [0, 1], so that only near copies differ."""
    return float(share**_SHARPNESS)


def _logit(probability: float) -> float:
    return math.log((probability + _CERTAINTY) / (1 - probability + _CERTAINTY))


def _sigmoid(log_odds: float) -> float:
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)  # exp() of a large positive number would overflow
    return odds / (1 + odds)
