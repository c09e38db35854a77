"""How probable it is that the source supports a claim: one calibrated number from many kinds of evidence.

No kind suffices. NLI reads meaning but misses a name that was swapped, and a small model is easily led astray; copied
runs of words tell much about summaries that copy and nothing about those that rephrase. So the logits of NLI and the
lexical shares are summed with fixed weights, none of which may have the wrong sign: more entailment, or more of the
claim found in the source, never lowers the result. A rephrased claim has small shares whether it is faithful or not,
and NLI decides; a copied one has large ones, and what breaks the copy decides.

The weights are in `claim_support.json`; scripts/train_claim_support.py fits them to corrupted sentences that it makes
itself, and to no human judgement.
"""

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from pipeline.judge.evidence.table import Claim

_CERTAINTY = 1e-3
"""Added to a probability and to its complement: the model is not to be believed beyond 0.999."""

_COUNTED = 2
"""Differences of one kind that count; more say the same."""


class ClaimSupportWeights(BaseModel):
    """What `claim_support.json` holds.

    Attributes:
        intercept: log-odds of a claim whose signals are all 0.
        weights: log-odds for each unit of a signal.
        record: how they were made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    intercept: float
    weights: Mapping[str, float]
    record: Mapping[str, str | int | float]


def signals(claim: Claim) -> dict[str, float]:
    """Returns the evidence about a claim, each kind turned so that more of it speaks for the claim."""
    features = claim.features
    return {
        "entailment": _logit(features.windows[0].entailment if features.windows else 0.0),
        "no_contradiction": -_logit(features.sentence_contradiction),
        "no_local_contradiction": -_logit(claim.contradiction),
        "stitched_entailment": _logit(features.stitched_entailment),
        "no_stitched_contradiction": -_logit(features.stitched_contradiction),
        "bigram_share": features.bigram_share,
        "trigram_share": features.trigram_share,
        "content_bigram_share": features.content_bigram_share,
        "content_skip_share": features.content_skip_share,
        "unbroken": -features.fragment_share,
        "sequence_share": features.sequence_share,
        "closeness": features.best_cosine,
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


def _logit(probability: float) -> float:
    return math.log((probability + _CERTAINTY) / (1 - probability + _CERTAINTY))


def _sigmoid(log_odds: float) -> float:
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)  # exp() of a large positive number would overflow
    return odds / (1 + odds)
