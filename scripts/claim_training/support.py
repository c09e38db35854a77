"""Fits the weights of claim support (pipeline/judge/evidence/signals/claim_support.json) to development documents.

What is reported comes from weights fitted to the other sources: a source's own claims never decide about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.judge.evidence.signals.claim_support import signals
from pipeline.judge.evidence.signals.mismatches import find_mismatches
from pipeline.judge.evidence.text.closeness import WordIndex
from pipeline.judge.evidence.text.names import SourceValues
from pipeline.judge.evidence.text.passages import PassageFinder, claim_weights
from pipeline.judge.evidence.text.read import ReadText
from scripts.claim_training.examples import CONFIG, Example
from scripts.claim_training.logistic import FittedSupport, Rows, fit_support
from scripts.claim_training.measure import Claims

Float64 = NDArray[np.float64]

REGULARIZATION = 1e-3
_EDITED_WEIGHT = 0.5  # of all edited claims together, for a weight of 1 of each source


@dataclass(frozen=True)
class Counted:
    """What words alone say of a claim: values that stand nowhere in the source."""

    unmatched_numbers: int
    unmatched_names: int

    def signals(self, entailment: float) -> dict[str, float]:
        """Returns the signals of the claim with what the NLI model says of its passage."""
        return signals(entailment, self.unmatched_numbers, self.unmatched_names)


def count_values(document: str, claims: Sequence[str]) -> list[Counted]:
    """Compares claims with their document as the judge does."""
    source = ReadText.of("source", document, CONFIG.max_sentence_chars)
    index = WordIndex(source)
    finder, values = PassageFinder(source, index, CONFIG.passage_chars), SourceValues.of(source)
    return [_count(claim, index, finder, values) for claim in claims]


def _count(claim: str, index: WordIndex, finder: PassageFinder, values: SourceValues) -> Counted:
    told = ReadText.of("summary", claim, CONFIG.max_sentence_chars)
    words = range(len(told.table))
    if not words:
        return Counted(0, 0)
    passage = finder.find(claim_weights(told.table, words, index))
    _, counts = find_mismatches(told, words, values.with_names_of(told.table), passage)
    return Counted(counts.unmatched_number_count, counts.unmatched_name_count)


def fit_to(examples: Sequence[Example], evidence: Sequence[Mapping[str, float]]) -> FittedSupport:
    """Fits weights: every source counts alike, and so do supported and unsupported claims."""
    kinds = np.array([(example.edit and "edited") or example.source for example in examples])
    weights = np.zeros(len(examples))
    for kind in np.unique(kinds):
        weights[kinds == kind] = (_EDITED_WEIGHT if kind == "edited" else 1.0) / (kinds == kind).sum()
    rows = Rows(np.array([list(row.values()) for row in evidence]), Claims(examples, weights).supported, weights)
    return fit_support(rows, regularization=REGULARIZATION, prior=0.5)


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
