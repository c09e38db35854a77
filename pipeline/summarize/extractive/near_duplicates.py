"""Finds near duplicates, sentences that say the same in other words, or that say less than another one.

The embedder proposes close pairs, such as "must" and "must not"; the NLI model tells whether one says all that the
other says. Of all sentences it is asked about the closest alone, of those that were chosen about more, so that its cost
follows the length of the summary.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from pipeline.protocols import ENTAILMENT, Entailment
from pipeline.reading.references import points_back
from pipeline.reading.values import fold_words
from pipeline.summarize.extractive.excerpt import STATEMENTS, Excerpt
from pipeline.summarize.extractive.lines import count_words
from pipeline.summarize.extractive.selection import Material
from pipeline.summarize.extractive.values import VALUE_KINDS

_MOST_COMPARED = 4_000  # the longest sentences; a group of usual texts has about 1,500
_ROWS_AT_ONCE = 512  # bounds the memory of the cosines
_MIN_WORDS = 5


@dataclass(frozen=True, slots=True)
class DuplicateRule:
    """When a sentence says nothing that another does not say.

    Attributes:
        min_cosine: pairs closer than this are candidates for the NLI model.
        min_entailment: the kept one must entail the dropped one with this probability.
        max_pairs: the closest pairs are asked about, at most this many.
    """

    min_cosine: float
    min_entailment: float
    max_pairs: int


async def find_entailed(
    material: Material, chosen: AbstractSet[int], rule: DuplicateRule, entailment: Entailment, *, keeps_needed: bool
) -> dict[int, int]:
    """Returns the positions of chosen sentences to drop, with the position of the one that says all of it.

    Args:
        entailment: asked once, about at most twice `rule.max_pairs` pairs.
        keeps_needed: a sentence that another needs is not dropped, since that one stays.
    """
    excerpts = material.excerpts
    free = [position for position in material.sentences if position in chosen]
    pairs = _close_pairs(material, free, rule.min_cosine)[: rule.max_pairs]
    needed = {need for position in chosen for need in excerpts[position].needs} if keeps_needed else set()
    candidates = [
        (dropped, kept)
        for first, second in pairs
        for dropped, kept in _directions(excerpts, first, second)
        if dropped not in needed
    ]
    if not candidates:
        return {}
    asked = [(excerpts[kept].text, excerpts[dropped].text) for dropped, kept in candidates]
    scores = (await entailment.entail(asked))[:, ENTAILMENT]
    duplicates: dict[int, int] = {}
    for (dropped, kept), score in zip(candidates, scores, strict=True):
        if score >= rule.min_entailment and _is_apart(duplicates, dropped, kept):
            duplicates[dropped] = kept
    return duplicates


def _is_apart(duplicates: dict[int, int], dropped: int, kept: int) -> bool:
    """Tells whether the kept one stays and the dropped one keeps no other out."""
    return dropped not in duplicates and kept not in duplicates and dropped not in duplicates.values()


def _close_pairs(material: Material, free: Sequence[int], min_cosine: float) -> list[tuple[int, int]]:
    """Returns pairs of positions whose sentences are close, the closest first."""
    excerpts = material.excerpts
    row_of = {position: row for row, position in enumerate(material.sentences)}
    compared = [position for position in free if _is_compared(excerpts[position])]
    positions = sorted(sorted(compared, key=lambda each: (-len(excerpts[each].text), each))[:_MOST_COMPARED])
    vectors = material.vectors[[row_of[position] for position in positions]]
    found: list[tuple[float, int, int]] = []
    for start in range(0, len(positions), _ROWS_AT_ONCE):
        cosines = vectors[start : start + _ROWS_AT_ONCE] @ vectors[start:].T
        lefts, rights = np.nonzero(np.triu(cosines >= min_cosine, k=1))
        for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
            first, second = positions[start + left], positions[start + right]
            found.append((-float(cosines[left, right]), first, second))
    return [(first, second) for _, first, second in sorted(found)]


def _is_compared(excerpt: Excerpt) -> bool:
    """Tells whether a sentence says the same wherever it stands, unlike "Beware!" and "This is the default."."""
    is_whole = excerpt.kind in STATEMENTS and not excerpt.is_cut and count_words(excerpt.text) >= _MIN_WORDS
    return is_whole and not points_back(excerpt.text)


def _directions(excerpts: Sequence[Excerpt], first: int, second: int) -> Iterator[tuple[int, int]]:
    """Yields what could be dropped for which, the later sentence first: the kept one has all values of the other."""
    values = [_values(excerpts[each]) for each in (first, second)]
    if values[1] <= values[0]:
        yield second, first
    if values[0] <= values[1]:
        yield first, second


def _values(excerpt: Excerpt) -> set[str]:
    """Returns the values, and names such as "HashGrow"."""
    names = fold_words(" ".join(word for word in excerpt.text.split() if word[1:] != word[1:].lower()))
    return set(names) | {term.text for term in excerpt.terms if term.kind in VALUE_KINDS}
