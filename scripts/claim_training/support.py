"""Fits the weights of claim support (pipeline/judge/evidence/signals/claim_support.json) to development documents.

What is reported comes from weights fitted to the other sources: a source's own claims never decide about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.judge.evidence.text.closeness import WordIndex
from pipeline.judge.evidence.text.passages import claim_weights
from pipeline.judge.evidence.text.read import ReadText
from pipeline.judge.evidence.text.words import WordTable
from scripts.claim_training.examples import CONFIG, FOREIGN, Example
from scripts.claim_training.logistic import FittedSupport, Rows, fit_support
from scripts.claim_training.measure import Claims

Float64 = NDArray[np.float64]

REGULARIZATION = 1e-3
_OTHERS = ("edited", FOREIGN)
_OTHER_WEIGHT = 0.5  # of all edited claims together, and of all foreign ones, for a weight of 1 of each source


def known_shares(document: str, claims: Sequence[str]) -> list[float]:
    """Returns how much of each claim's words a document has anywhere, as the judge counts it."""
    index = WordIndex(ReadText.of("source", document, CONFIG.max_sentence_chars))
    tables = [WordTable.of(claim) for claim in claims]
    return [index.known_share(claim_weights(table, range(len(table)), index)) for table in tables]


def fit_to(examples: Sequence[Example], evidence: Sequence[Mapping[str, float]]) -> FittedSupport:
    """Fits weights: every source counts alike, and so do supported and unsupported claims."""
    kinds = np.array([_kind(example) for example in examples])
    weights = np.zeros(len(examples))
    for kind in np.unique(kinds):
        weights[kinds == kind] = (_OTHER_WEIGHT if kind in _OTHERS else 1.0) / (kinds == kind).sum()
    rows = Rows(np.array([list(row.values()) for row in evidence]), Claims(examples, weights).supported, weights)
    return fit_support(rows, regularization=REGULARIZATION, prior=0.5)


def _kind(example: Example) -> str:
    if example.edit == FOREIGN:
        return FOREIGN
    return "edited" if example.edit else example.source


def judged_by_others(examples: Sequence[Example], evidence: Sequence[Mapping[str, float]]) -> Claims:
    """Returns the claims with probabilities by weights that were fitted to all sources but their own."""
    sources = np.array([example.source for example in examples])
    values = np.array([list(row.values()) for row in evidence])
    probabilities = np.zeros(len(examples))
    for source in np.unique(sources):
        others = np.flatnonzero(sources != source).tolist()
        fitted = fit_to([examples[at] for at in others], [evidence[at] for at in others])
        probabilities[sources == source] = fitted.probabilities(values[sources == source])
    return Claims(examples, probabilities)
