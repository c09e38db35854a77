"""Selects excerpts under a token budget: values first, then a sentence for every section, then what is central.

Centrality is how much a sentence says of what its stretch of the document is about. It is linear in the number of
sentences.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pipeline.summarize.extractive.excerpt import STATEMENTS, STRUCTURE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.lines import count_words
from pipeline.summarize.extractive.values import ExcerptValues
from pipeline.text.terms import Term

Float64 = npt.NDArray[np.float64]

_WHOLE_WEIGHT, _SECTION_WEIGHT, _LEAD_WEIGHT = 0.45, 0.35, 0.2
_FULL_LENGTH_WORDS = 12  # shorter sentences say less, whatever they are close to: "I hope you like it."


def centrality(excerpts: Sequence[Excerpt], positions: Sequence[int], vectors: Float64) -> Float64:
    """Scores sentences: close to the middle of the whole and of their section, early in a paragraph, not too short.

    Args:
        positions: of the sentences, rising; at least one.
        vectors: shape (sentences, dimension), rows of length 1.

    Returns:
        Shape (sentences,), in [0, 1].
    """
    sections = [excerpts[position].section for position in positions]
    blocks = [excerpts[position].block for position in positions]
    leads = np.array(
        [
            excerpts[position].kind is ExcerptKind.SENTENCE and (row == 0 or blocks[row] != blocks[row - 1])
            for row, position in enumerate(positions)
        ],
        dtype=np.float64,
    )
    words = np.array([count_words(excerpts[position].text) for position in positions], dtype=np.float64)
    closeness = (
        _WHOLE_WEIGHT * _scaled(vectors @ _middle(vectors))
        + _SECTION_WEIGHT * _scaled(_closeness_to_groups(vectors, sections))
        + _LEAD_WEIGHT * leads
    )
    return np.asarray(closeness * np.minimum(words / _FULL_LENGTH_WORDS, 1))


def _closeness_to_groups(vectors: Float64, groups: Sequence[int]) -> Float64:
    """Returns the cosine of each vector with the middle of its group, shape (vectors,)."""
    names, rows = np.unique(groups, return_inverse=True)
    middles = np.zeros((len(names), vectors.shape[1]))
    np.add.at(middles, rows, vectors)
    middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(np.einsum("ij,ij->i", vectors, middles[rows]))


def _middle(vectors: Float64) -> Float64:
    total = vectors.sum(axis=0)
    return np.asarray(total / max(np.linalg.norm(total), np.finfo(np.float64).tiny))


def _scaled(values: Float64) -> Float64:
    """Returns the values on a scale from 0 (the smallest) to 1; all 1 if they are equal."""
    width = values.max() - values.min()
    return np.ones_like(values) if width <= 0 else np.asarray((values - values.min()) / width)


_MOST_COMPARED = 2_000  # of sentences by MMR, the most central ones: each choice is compared with all of them
_SECTIONS_SHARE = 0.6  # of what is left to fill; the rest deepens what was opened
# Added to the centrality of a sentence that says a value which is not said yet: of two that are about as central, it
# is taken. With 0.2 the summary of a manual has 6% more of the values that its sentences hold; more changes nothing.
_VALUE_BONUS = 0.2
_POOR_SHARE = 0.5  # of what may be filled; below it fragments are better than nothing


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be kept, in tokens.

    Attributes:
        values: until here, excerpts are kept for their values.
        fill: until here, excerpts are kept for being central, at least `fill_extra` beyond what the values took.
        fill_extra: see `fill`.
    """

    values: float
    fill: float
    fill_extra: float
    ceiling: float


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to choose from.

    Attributes:
        sentences: positions of what has a vector, rising.
        vectors: shape (sentences, dimension), rows of length 1.
        dropped: positions of duplicates.
    """

    excerpts: Sequence[Excerpt]
    sentences: Sequence[int]
    vectors: Float64
    dropped: frozenset[int]


@dataclass(frozen=True, slots=True)
class Candidates(Material):
    """Material with what each part of it is worth.

    Attributes:
        centrality: shape (sentences,).
    """

    values: ExcerptValues
    centrality: Float64
    relevance_weight: float


def select(candidates: Candidates, budget: Budget, always: Iterable[int] = ()) -> list[int]:
    """Returns positions to keep, rising.

    Args:
        budget: in tokens as the excerpts count them.
        always: positions that are kept in any case, such as the headings that are open at the end.
    """
    selection = _Selection(candidates)
    for position in always:
        selection.add(selection.bundle(position))
    selection.keep_values(min(budget.values, budget.ceiling))
    fill = min(max(budget.fill, selection.tokens + budget.fill_extra), budget.ceiling)
    selection.open_sections(selection.tokens + _SECTIONS_SHARE * max(0.0, fill - selection.tokens))
    selection.fill(fill)
    if selection.tokens < _POOR_SHARE * fill:  # a transcript without full stops, a list of titles
        selection.fill(fill, takes_cut=True)
    selection.keep_values(budget.ceiling)
    return sorted(selection.chosen)


@dataclass(slots=True)
class _Selection:
    """What was chosen so far."""

    candidates: Candidates
    chosen: set[int] = field(default_factory=set)
    tokens: int = 0
    said: set[Term] = field(default_factory=set)

    def bundle(self, position: int) -> list[int]:
        """Returns an excerpt with all that it needs and that is not chosen yet."""
        excerpts, dropped = self.candidates.excerpts, self.candidates.dropped
        found, waiting = {position}, [position]
        while waiting:
            for need in excerpts[waiting.pop()].needs:
                if need not in found and need not in self.chosen and need not in dropped:
                    found.add(need)
                    waiting.append(need)
        return list(found)

    def cost(self, bundle: Iterable[int]) -> int:
        """Returns tokens."""
        return sum(self.candidates.excerpts[position].token_count for position in bundle)

    def add(self, bundle: Iterable[int]) -> None:
        """Chooses."""
        for position in bundle:
            if position not in self.chosen:
                self.chosen.add(position)
                self.tokens += self.candidates.excerpts[position].token_count
                self.said.update(self.candidates.values.terms[position])

    def keep_values(self, limit: float) -> None:
        """Takes what has most new values for its length, again and again (greedy maximum coverage)."""
        values = self.candidates.values
        heap = [
            (-self._density(position), position)
            for position in range(len(self.candidates.excerpts))
            if values.are_in(position) and self._is_free(position)
        ]
        heapq.heapify(heap)
        while heap:
            believed, position = heapq.heappop(heap)
            if position in self.chosen:
                continue
            density = self._density(position)
            if density <= 0:
                continue
            if heap and density < -heap[0][0] and density < -believed:  # said meanwhile: worth less than believed
                heapq.heappush(heap, (-density, position))
                continue
            bundle = self.bundle(position)
            if self.tokens + self.cost(bundle) <= limit:
                self.add(bundle)

    def open_sections(self, limit: float) -> None:
        """Takes the best sentence of every section that has nothing yet: chapters first, then long sections."""
        excerpts = self.candidates.excerpts
        served = {excerpts[position].section for position in self.chosen if excerpts[position].kind not in STRUCTURE}
        best: dict[int, int] = {}
        sizes: dict[int, int] = {}
        relevance = self._relevance()
        for row in self._filling_rows():
            section = excerpts[self.candidates.sentences[row]].section
            sizes[section] = sizes.get(section, 0) + excerpts[self.candidates.sentences[row]].token_count
            if section not in best or relevance[row] > relevance[best[section]]:
                best[section] = row
        levels = {section: excerpts[section].level if section >= 0 else 0 for section in best}
        for section in sorted(best.keys() - served, key=lambda each: (levels[each], -sizes[each], each)):
            self._add_if_fits(self.candidates.sentences[best[section]], limit)

    def fill(self, limit: float, *, takes_cut: bool = False) -> None:
        """Takes sentences by maximal marginal relevance: central, and unlike what is there."""
        sentences, vectors = self.candidates.sentences, self.candidates.vectors
        free = self._filling_rows(takes_cut=takes_cut)
        worth = self._relevance()
        best_rows = sorted(free, key=lambda row: (-worth[row], row))[:_MOST_COMPARED]
        rows = np.array(sorted(best_rows), dtype=np.intp)
        if not len(rows):
            return
        row_of = {position: row for row, position in enumerate(sentences)}
        kept_rows = [row_of[position] for position in self.chosen if position in row_of]
        likeness = np.zeros(len(rows))
        if kept_rows:
            likeness = np.maximum(likeness, (vectors[rows] @ vectors[kept_rows].T).max(axis=1))
        weight = self.candidates.relevance_weight
        relevance = weight * worth[rows]
        is_open = np.ones(len(rows), dtype=bool)
        while is_open.any() and self.tokens < limit:
            best = int(np.argmax(np.where(is_open, relevance - (1 - weight) * likeness, -np.inf)))
            is_open[best] = False
            if self._add_if_fits(sentences[rows[best]], limit):
                likeness = np.maximum(likeness, vectors[rows] @ vectors[rows[best]])

    def _relevance(self) -> Float64:
        """Returns how much each sentence deserves to fill space, shape (sentences,)."""
        values = self.candidates.values
        says_new = [values.of([position], self.said) > 0 for position in self.candidates.sentences]
        return np.asarray(self.candidates.centrality + _VALUE_BONUS * np.array(says_new, dtype=np.float64))

    def _add_if_fits(self, position: int, limit: float) -> bool:
        if position in self.chosen:
            return False
        bundle = self.bundle(position)
        if self.tokens + self.cost(bundle) > limit:
            return False
        self.add(bundle)
        return True

    def _filling_rows(self, *, takes_cut: bool = False) -> list[int]:
        excerpts = self.candidates.excerpts
        return [
            row
            for row, position in enumerate(self.candidates.sentences)
            if self._is_free(position)
            and excerpts[position].kind in STATEMENTS
            and (takes_cut or not excerpts[position].is_cut)
        ]

    def _is_free(self, position: int) -> bool:
        return position not in self.chosen and position not in self.candidates.dropped

    def _density(self, position: int) -> float:
        bundle = self.bundle(position)
        return self.candidates.values.of(bundle, self.said) / max(1, self.cost(bundle))
