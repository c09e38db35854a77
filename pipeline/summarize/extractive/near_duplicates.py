"""Finds near duplicates, sentences that say the same in other words: the embedder proposes, the NLI model decides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.protocols import ENTAILMENT, Entailment
from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.excerpt import STATEMENTS, Excerpt
from pipeline.summarize.extractive.lines import count_words
from pipeline.summarize.extractive.openings import Opening, opening_of
from pipeline.text.terms import fold_word

_MOST_COMPARED = 4_000  # the longest sentences; a group of usual texts has about 1,500
_ROWS_AT_ONCE = 512  # bounds the memory of the cosines
_MIN_WORDS = 5  # "Beware!" says something else in every place


@dataclass(frozen=True, slots=True)
class DuplicateRule:
    """When two sentences say the same.

    Attributes:
        min_cosine: pairs closer than this are candidates.
        min_entailment: each must entail the other with this probability.
        max_pairs: the closest pairs are asked about, at most this many.
        across_origins_only: sentences of one text were compared when that text was made.
    """

    min_cosine: float
    min_entailment: float
    max_pairs: int
    across_origins_only: bool


async def find_near_duplicates(
    excerpts: Sequence[Excerpt],
    positions: Sequence[int],
    vectors: Float64,
    *,
    rule: DuplicateRule,
    entailment: Entailment,
) -> dict[int, int]:
    """Returns the positions of sentences to drop, with the position of the one that says the same.

    The kept one has all terms of the dropped one; a sentence that another needs is not dropped.

    Args:
        positions: of the sentences, rising.
        vectors: shape (sentences, dimension), rows of length 1.
        entailment: asked once, about at most twice `rule.max_pairs` pairs.
    """
    needed = {need for excerpt in excerpts for need in excerpt.needs}
    candidates = [
        (dropped, kept)
        for first, second in _close_pairs(excerpts, positions, vectors, rule)
        for dropped, kept in _direction(excerpts, first, second)
        if dropped not in needed
    ][: rule.max_pairs]
    if not candidates:
        return {}
    texts = [(excerpts[kept].text, excerpts[dropped].text) for dropped, kept in candidates]
    scores = (await entailment.entail([*texts, *((after, before) for before, after in texts)]))[:, ENTAILMENT]
    weaker = np.minimum(scores[: len(candidates)], scores[len(candidates) :])
    duplicates: dict[int, int] = {}
    for (dropped, kept), score in zip(candidates, weaker, strict=True):
        is_said_elsewhere = kept not in duplicates and dropped not in duplicates.values()
        if score >= rule.min_entailment and dropped not in duplicates and is_said_elsewhere:
            duplicates[dropped] = kept
    return duplicates


def _close_pairs(
    excerpts: Sequence[Excerpt], positions: Sequence[int], vectors: Float64, rule: DuplicateRule
) -> list[tuple[int, int]]:
    """Returns pairs of positions whose sentences are close, the closest first."""
    compared = [row for row, position in enumerate(positions) if _is_compared(excerpts[position])]
    by_length = sorted(compared, key=lambda row: (-len(excerpts[positions[row]].text), row))
    rows = sorted(by_length[:_MOST_COMPARED])
    found: list[tuple[float, int, int]] = []
    chosen = vectors[rows]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        cosines = chosen[start : start + _ROWS_AT_ONCE] @ chosen[start:].T
        lefts, rights = np.nonzero(np.triu(cosines >= rule.min_cosine, k=1))
        for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
            first, second = positions[rows[start + left]], positions[rows[start + right]]
            if not (rule.across_origins_only and excerpts[first].origin == excerpts[second].origin):
                found.append((-float(cosines[left, right]), first, second))
    return [(first, second) for _, first, second in sorted(found)]


def _is_compared(excerpt: Excerpt) -> bool:
    """Tells whether a sentence says by itself what it says: "This is the default." does not."""
    if excerpt.kind not in STATEMENTS or excerpt.is_cut or count_words(excerpt.text) < _MIN_WORDS:
        return False
    return opening_of(excerpt.text) is Opening.FREE


def _direction(excerpts: Sequence[Excerpt], first: int, second: int) -> Iterator[tuple[int, int]]:
    """Yields which of two sentences could be dropped for the other: the later one, unless only it has all terms."""
    terms = [_terms(excerpts[each]) for each in (first, second)]
    if terms[1] <= terms[0]:
        yield second, first
    elif terms[0] <= terms[1]:
        yield first, second


def _terms(excerpt: Excerpt) -> set[str]:
    """Returns the terms, and names such as "HashGrow" that are no term at the start of a sentence."""
    names = {fold_word(word) for word in excerpt.text.split() if word[1:] != word[1:].lower()}
    return names | {term.text for term in excerpt.terms}
