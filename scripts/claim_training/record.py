"""The record beside the updates of the claim model: what was measured on development documents."""

import json
from collections.abc import Mapping

import numpy as np

from inference.compile.install import NLI_UPDATES_FILE
from scripts.claim_training.by_hand import MADE_BY_HAND
from scripts.claim_training.example import ENTAILMENT
from scripts.claim_training.examples import FOREIGN
from scripts.claim_training.joining import JOINED
from scripts.claim_training.measure import (
    Claims,
    balanced_accuracy,
    confidence_correlation,
    confident_half_gain,
    expected_calibration_error,
    threshold_gap,
)

DIGITS = 4
LEFT_OUT = "leave_one_source_out"
"""Balanced accuracy of each source that a model was not trained on."""


def add_to_record(record: Mapping[str, object]) -> None:
    """Writes figures beside the updates; those that a run did not measure stay."""
    path = NLI_UPDATES_FILE.with_suffix(".json")
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    left_out = {**kept.get(LEFT_OUT, {}), **dict(record.get(LEFT_OUT, {}))}  # type: ignore[call-overload]
    path.write_text(json.dumps({**kept, **record, LEFT_OUT: left_out}, indent=2) + "\n", encoding="utf-8")


def claim_figures(judged: Claims) -> dict[str, object]:
    """Returns the figures of people's claims, of foreign, edited and joined ones.

    Args:
        judged: all of these, each with a probability by weights that were not fitted to its source. What was
            made by hand is left out: its figures are of passages that nothing was fitted to.
    """
    judged = judged.of(np.array([example.source not in MADE_BY_HAND for example in judged.examples]))
    is_foreign, is_joined, is_plain = (
        np.array([example.edit == edit for example in judged.examples]) for edit in (FOREIGN, JOINED, "")
    )
    is_edited = ~is_plain & ~is_foreign & ~is_joined
    true = np.array([example.label == ENTAILMENT for example in judged.examples])
    foreign, edited, joined = (balanced_accuracy(judged.of(kind)) for kind in (is_foreign, is_edited, is_joined))
    return {
        "development": _figures(judged.of(is_plain)),
        "foreign": {"claims": int(is_foreign.sum()), "found": round(foreign, DIGITS)},
        "edited": {"claims": int(is_edited.sum()), "balanced_accuracy": round(edited, DIGITS)},
        "joined": {
            "claims": int(is_joined.sum()),
            "balanced_accuracy": round(joined, DIGITS),
            "true_ones_accepted": round(balanced_accuracy(judged.of(is_joined & true)), DIGITS),
        },
    }


def accuracy_by_source(claims: Claims) -> dict[str, float]:
    """Returns the balanced accuracy of each source."""
    return {name: round(balanced_accuracy(one), DIGITS) for name, one in claims.by_source().items()}


def _figures(claims: Claims) -> dict[str, object]:
    gaps = {name: gap for name, one in claims.by_source().items() if (gap := threshold_gap(one)) is not None}
    accuracies = accuracy_by_source(claims)
    return {
        "claims": len(claims.examples),
        "balanced_accuracy": round(float(np.mean(list(accuracies.values()))), DIGITS),
        "balanced_accuracy_by_source": accuracies,
        "best_threshold_gain_by_source": {name: round(value, DIGITS) for name, value in gaps.items()},
        "expected_calibration_error": round(expected_calibration_error(claims), DIGITS),
        "confident_half_gain": round(confident_half_gain(claims), DIGITS),
        "confidence_correlation": round(confidence_correlation(claims), DIGITS),
    }
