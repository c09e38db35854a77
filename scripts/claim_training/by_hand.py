"""Sets that were written or labelled by hand for this project: minimal pairs, and sentences of language models.

A row of `scripts/data/claims/pairs.jsonl` is an invented passage with sentences that it supports and mild changes of
them that it does not. A second reader who saw passage and sentence alone agreed with every label. A sixth of the
passages is never trained on. A row of `llm_claims.jsonl` is a sentence that a small language model wrote of such a
passage, labelled by reading. The same sixth is left out. A row of `llm_sentences.jsonl` is one of another document, and
nothing is ever trained on them.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np

from pipeline.agreement.measures import auc
from scripts.claim_training.example import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT_SUPPORTED, Example, digest_of
from scripts.claim_training.examples import PoolDocument, changed_spans
from scripts.claim_training.measure import (
    EVEN,
    Claims,
    balanced_accuracy,
    expected_calibration_error,
    threshold_gap,
)

PAIRS = "pairs"
SENTENCES = "llm_sentences"
LLM_CLAIMS = "llm_claims"
MADE_BY_HAND = (PAIRS, LLM_CLAIMS)
"""Sources that people did not write or label; a mean over sources leaves them out."""

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "claims"
_HELD_OUT_PARTS = 6
_MOST_CHANGES = 2  # of a true sentence, that are trained on in one copy of the pairs
_NO_DOCUMENT = "f" * 16
_LABELS = {"added": NEUTRAL, "opposite": CONTRADICTION}


def read_pairs(*, copies: int = 1) -> Iterator[Example]:
    """Yields pairs of the passages that are trained on, in groups of a true sentence and at most one change of it.

    Args:
        copies: how often each true sentence comes at least; where it has several changes, each time beside another.
    """
    for passage, row in _passages(is_held_out=False):
        document, rng = PoolDocument(passage), random.Random(digest_of(passage))
        changes = _changes(row)
        for at, true in enumerate(row["faithful"]):
            drawn = rng.sample(changes[at], len(changes[at]))
            for copy in range(max(copies, min(_MOST_CHANGES, len(drawn)))):
                group = f"{row['id']} {at} {copy}"
                change = [drawn[copy % len(drawn)]] if drawn else []
                for claim, label, _ in [(true, ENTAILMENT, ""), *change]:
                    spans = () if label == ENTAILMENT else changed_spans(true, claim)
                    yield Example(PAIRS, _NO_DOCUMENT, document.passage(claim), claim, label, group, spans)


def held_out_pairs(documents: dict[str, str], *, to_fit: bool = False) -> Iterator[Example]:
    """Yields every sentence and every change of half of the other passages; `edit` is the kind of a change.

    Args:
        documents: is filled with the passages, by digest.
        to_fit: the half that claim support is fitted to, as one more source; else the one that figures are of.
    """
    for passage, row in _passages(is_held_out=True):
        document, digest, changes = PoolDocument(passage), digest_of(passage), _changes(row)
        if (int(digest[8:16], 16) % 2 == 0) is not to_fit:
            continue
        documents[digest] = passage
        for at, true in enumerate(row["faithful"]):
            for claim, label, kind in [(true, ENTAILMENT, ""), *changes[at]]:
                group = f"{row['id']} {at}"
                yield Example(PAIRS, digest, document.passage(claim), claim, label, group, None, kind)


def read_llm_claims(documents: dict[str, str] | None = None) -> Iterator[Example]:
    """Yields the labelled sentences of language models about passages that are trained on, each a group of its own.

    Args:
        documents: where given, is filled with the other passages, by digest, and the sentences about these come. Claim
            support is fitted to them, as one more source.
    """
    texts = {str(row["id"]): passage for passage, row in _passages(is_held_out=documents is not None)}
    opened = {name: PoolDocument(text) for name, text in texts.items()}
    for number, row in enumerate(_rows("llm_claims.jsonl")):
        if row["passage"] not in opened:
            continue
        document, claim, is_true = opened[row["passage"]], str(row["sentence"]), bool(row["supported"])
        digest = _NO_DOCUMENT
        if documents is not None:
            documents[digest := document.digest] = document.text
        label, spans = (ENTAILMENT, ()) if is_true else (NOT_SUPPORTED, None)
        yield Example(LLM_CLAIMS, digest, document.passage(claim), claim, label, f"{number}", spans)


def read_sentences(documents: dict[str, str]) -> Iterator[Example]:
    """Yields the labelled sentences of language models; `edit` is the kind of what is not supported.

    Args:
        documents: is filled with what they are about, by digest.
    """
    texts = {row["id"]: row["text"] for row in _rows("llm_documents.jsonl")}
    opened = {name: PoolDocument(text) for name, text in texts.items()}
    documents |= {document.digest: document.text for document in opened.values()}
    for number, row in enumerate(_rows("llm_sentences.jsonl")):
        document, label = opened[row["document"]], ENTAILMENT if row["supported"] else NOT_SUPPORTED
        premise, kind = document.passage(row["sentence"]), row.get("kind", "")
        yield Example(SENTENCES, document.digest, premise, row["sentence"], label, f"{number}", None, kind)


def pair_figures(claims: Claims) -> dict[str, Any]:
    """Returns how many pairs are in order, changes refused, by kind too, and true sentences accepted.

    A pair is in order when the true sentence is more probable than its change.
    """
    of_group: defaultdict[str, list[int]] = defaultdict(list)
    for at, example in enumerate(claims.examples):
        of_group[example.group].append(at)
    supported, odds = claims.supported, claims.probabilities
    pairs = [
        odds[true] > odds[false]
        for places in of_group.values()
        for true in places
        for false in places
        if supported[true] and not supported[false]
    ]
    refused = {kind: float((own.probabilities <= EVEN).mean()) for kind, own in _by_kind(claims).items()}
    return {
        "passages": len({example.document for example in claims.examples}),
        "pairs": len(pairs),
        "pairs_in_order": _rounded(np.mean(pairs)),
        "changes_refused": _rounded((odds[~supported] <= EVEN).mean()),
        "true_accepted": _rounded((odds[supported] > EVEN).mean()),
        "refused_by_kind": {kind: _rounded(share) for kind, share in refused.items()},
    }


def sentence_figures(claims: Claims) -> dict[str, Any]:
    """Returns how well the probabilities tell supported sentences from the others, and what refused kinds there are."""
    refused = {kind: float((own.probabilities <= EVEN).mean()) for kind, own in _by_kind(claims).items()}
    counts = Counter(example.edit for example in claims.examples if example.label != ENTAILMENT)
    return {
        "sentences": len(claims.examples),
        "supported": int(claims.supported.sum()),
        "balanced_accuracy": _rounded(balanced_accuracy(claims)),
        "best_threshold_gain": _rounded(threshold_gap(claims) or 0.0),
        "auc": _rounded(auc(claims.probabilities, claims.supported)),
        "expected_calibration_error": _rounded(expected_calibration_error(claims)),
        "refused_by_kind": {kind: [counts[kind], _rounded(share)] for kind, share in refused.items()},
    }


def _by_kind(claims: Claims) -> dict[str, Claims]:
    false = [example.edit if example.label != ENTAILMENT else "" for example in claims.examples]
    kinds = np.array(false)
    return {str(kind): claims.of((kinds == kind) & ~claims.supported) for kind in sorted(set(false) - {""})}


def _passages(*, is_held_out: bool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for row in _rows("pairs.jsonl"):
        passage = str(row["passage"])
        if (int(digest_of(passage)[:8], 16) % _HELD_OUT_PARTS == 0) is is_held_out:
            yield passage, row


def _changes(row: Mapping[str, Any]) -> defaultdict[int, list[tuple[str, int, str]]]:
    """Returns the changes of each true sentence, with label and kind."""
    changes: defaultdict[int, list[tuple[str, int, str]]] = defaultdict(list)
    for one in row["variants"]:
        changes[one["of"]].append((one["text"], _LABELS.get(one["kind"], NOT_SUPPORTED), one["kind"]))
    return changes


def _rows(file: str) -> list[dict[str, Any]]:
    path = _FOLDER / file
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _rounded(value: SupportsFloat) -> float:
    return round(float(value), 4)
