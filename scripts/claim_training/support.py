"""Fits the weights of claim support (claim_support.json of pipeline/support) to development documents.

What is reported comes from weights fitted to the other sources: a source's own claims never decide about it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.passages import claim_weights
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import MAX_SENTENCE_CHARS, signals
from scripts.claim_training.by_hand import MADE_BY_HAND, held_out_pairs, read_llm_claims
from scripts.claim_training.example import Example
from scripts.claim_training.examples import FOREIGN, make_foreign
from scripts.claim_training.joining import JOINED
from scripts.claim_training.logistic import FittedSupport, Rows, fit_support
from scripts.claim_training.measure import Claims

Float64 = NDArray[np.float64]

SUPPORT = Path("pipeline/support/claim_support.json")
REGULARIZATION = 1e-3
_MOST_OF_A_SOURCE, _EDITED, _JOINED, _FOREIGN = 400, 1500, 500, 500
_DIGITS = 4
_OTHERS = ("edited", JOINED, FOREIGN)
_OTHER_WEIGHT = (
    0.5  # of all edited claims together, of all joined and of all foreign ones, for a weight of 1 of each source
)


def development_claims(pool: Sequence[Example], documents: dict[str, str]) -> list[Example]:
    """Returns claims of every source, the first ones by digest of their document, edited, joined and foreign ones.

    What was made by hand is two more sources, of passages that nothing is trained on. They are pairs of half of them,
    and sentences that language models wrote.

    Args:
        pool: claims of development documents.
        documents: texts of these, by digest; those of what was made by hand are added.
    """
    ranked = sorted(pool, key=lambda one: (one.document, one.claim))
    chosen = peoples_claims(ranked)
    edited = [one for one in ranked if one.edit not in ("", JOINED)][:_EDITED]
    joined = [one for one in ranked if one.edit == JOINED][:_JOINED]
    foreign = make_foreign(chosen, documents, _FOREIGN)
    made = [*held_out_pairs(documents, to_fit=True), *read_llm_claims(documents)]
    return [*chosen, *edited, *joined, *foreign, *made]


def peoples_claims(pool: Sequence[Example]) -> list[Example]:
    """Returns claims of every source as people wrote them, the first ones by digest of their document."""
    ranked = sorted(pool, key=lambda one: (one.document, one.claim))
    sources = sorted({one.source for one in ranked})
    plain = [[one for one in ranked if one.source == source and not one.edit] for source in sources]
    return [one for ones in plain for one in ones[:_MOST_OF_A_SOURCE]]


def evidence_of(
    examples: Sequence[Example], entailments: Float64, documents: Mapping[str, str]
) -> list[dict[str, float]]:
    """Returns the signals of each claim.

    Args:
        examples: claims of these documents.
        entailments: of each by its premise, shape (examples,), in [0, 1].
        documents: texts, by digest.
    """
    by_document: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        by_document.setdefault(example.document, []).append(at)
    evidence: dict[int, dict[str, float]] = {}
    for digest, places in by_document.items():
        known = known_shares(documents[digest], [examples[at].claim for at in places])
        evidence |= {at: signals(float(entailments[at]), share) for at, share in zip(places, known, strict=True)}
    return [evidence[at] for at in range(len(examples))]


def write_support(
    examples: Sequence[Example], evidence: Sequence[Mapping[str, float]], *, unsupported_word: float, script: str
) -> None:
    """Fits to all claims and writes the file.

    Args:
        examples: of every source.
        evidence: signals of each.
        unsupported_word: see `ClaimSupportWeights`.
        script: who fits.
    """
    fitted, edited = fit_to(examples, evidence), sum(_kind(example) == "edited" for example in examples)
    support = {
        "intercept": round(fitted.intercept, _DIGITS),
        "weights": {name: round(one, _DIGITS) for name, one in zip(evidence[0], fitted.weights.tolist(), strict=True)},
        "unsupported_word": round(unsupported_word, _DIGITS),
        "record": {"script": script, "claims": len(examples), "edited": edited},
    }
    SUPPORT.write_text(json.dumps(support, indent=2) + "\n", encoding="utf-8")


def known_shares(document: str, claims: Sequence[str]) -> list[float]:
    """Returns how much of each claim's words a document has anywhere, as the judge counts it."""
    index = WordIndex(ReadText.of("source", document, MAX_SENTENCE_CHARS))
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
    if example.edit in (FOREIGN, JOINED):
        return example.edit
    return "edited" if example.edit and example.source not in MADE_BY_HAND else example.source


def judged_by_others(
    examples: Sequence[Example], evidence: Sequence[Mapping[str, float]], left_out: Sequence[str] = ()
) -> Claims:
    """Returns the claims with probabilities by weights that were fitted to all sources but their own.

    Args:
        examples: of every source.
        evidence: signals of each.
        left_out: sources whose claims alone are returned, by weights that were fitted to none of them; empty for all.
    """
    sources = np.array([example.source for example in examples])
    values = np.array([list(row.values()) for row in evidence])
    probabilities = np.zeros(len(examples))
    for group in [left_out] if left_out else [[source] for source in np.unique(sources)]:
        own = np.isin(sources, group)
        others = np.flatnonzero(~own).tolist()
        fitted = fit_to([examples[at] for at in others], [evidence[at] for at in others])
        probabilities[own] = fitted.probabilities(values[own])
    return Claims(examples, probabilities).of(np.isin(sources, left_out or sources))
