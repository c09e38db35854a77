"""Selects excerpts under a token budget: a sentence for every section, then what is central and says something new.

Values are a bonus of the sentence that says them. Only what is left of the budget is filled with what has most of them.
An excerpt brings all that it needs, and is worth the mean of what it brings: a heading says nothing by itself.
"""

import heapq
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.reading.values import Term
from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.excerpt import PROSE, STATEMENTS, STRUCTURE, Excerpt, ExcerptKind
from pipeline.summarize.extractive.section_roles import role_of
from pipeline.summarize.extractive.values import ExcerptValues

_MOST_COMPARED = 2_000  # of sentences by MMR, the most central ones: each choice is compared with all of them
_SECTIONS_SHARE = 0.6  # of what is filled, for one sentence of each section
_ACTS_SHARE = 0.6  # of what operators read: warnings, steps and commands, before anything is explained
_POOR_SHARE = 0.5  # of what may be filled; below it fragments are better than nothing


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be kept, in tokens.

    Attributes:
        central: until here, excerpts are kept for being central.
        fill: the same, once the values are there.
        ceiling: until here, excerpts are kept for their values.
    """

    central: float
    fill: float
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

    def bundle(self, position: int, chosen: Container[int]) -> list[int]:
        """Returns an excerpt with all that it needs and that is not chosen yet."""
        found, waiting = {position}, [position]
        while waiting:
            for need in self.excerpts[waiting.pop()].needs:
                if need not in found and need not in chosen and need not in self.dropped:
                    found.add(need)
                    waiting.append(need)
        return list(found)

    def cost(self, positions: Iterable[int]) -> int:
        """Returns the tokens of some excerpts."""
        return sum(self.excerpts[position].token_count for position in positions)

    def is_sound(self, position: int) -> bool:
        """Tells whether an excerpt may be chosen: neither it nor a sentence before it that it needs was dropped."""
        lost = (need for need in self.excerpts[position].needs if need < position and need in self.dropped)
        return position not in self.dropped and all(
            self.excerpts[need].kind is not ExcerptKind.SENTENCE for need in lost
        )


@dataclass(frozen=True, slots=True)
class Candidates(Material):
    """Material with what each part of it is worth.

    Attributes:
        centrality: shape (sentences,).
        relevance_weight: of MMR: 1 looks at worth only, 0 only at being unlike what is kept.
        has_focus: sections that say nothing of the focus need not be opened.
    """

    values: ExcerptValues
    centrality: Float64
    relevance_weight: float = 0.8
    has_focus: bool = False


def select(candidates: Candidates, budget: Budget, always: Iterable[int] = ()) -> list[int]:
    """Returns positions to keep, rising.

    Args:
        budget: in tokens as the excerpts count them.
        always: positions that are kept in any case, such as the headings that are open at the end.
    """
    selection = _Selection(candidates)
    for position in always:
        selection.add(selection.bundle(position))
    central, fill = min(budget.central, budget.ceiling), min(budget.fill, budget.ceiling)
    if candidates.values.are_acted_on:
        selection.keep_values(_ACTS_SHARE * budget.ceiling, only_flagged=True)
    if not candidates.has_focus:
        selection.open_sections(selection.tokens + _SECTIONS_SHARE * max(0.0, central - selection.tokens))
    selection.fill(central)
    if central < budget.ceiling:
        selection.keep_values(budget.ceiling)
        if not candidates.has_focus:
            selection.open_sections(min(budget.ceiling, selection.tokens + _SECTIONS_SHARE * central))
    selection.fill(fill)
    if selection.tokens < _POOR_SHARE * fill:  # a transcript without full stops, a list of titles
        selection.fill(fill, takes_cut=True)
    selection.keep_values(budget.ceiling)
    return sorted(selection.chosen)


@dataclass(slots=True)
class _Selection:
    """What was chosen so far.

    Attributes:
        rows: where the vector of a sentence stands, by its position.
    """

    candidates: Candidates
    chosen: set[int] = field(default_factory=set)
    tokens: int = 0
    said: set[Term] = field(default_factory=set)
    rows: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Remembers where the sentences stand in the arrays."""
        self.rows = {position: row for row, position in enumerate(self.candidates.sentences)}

    def bundle(self, position: int) -> list[int]:
        """Returns an excerpt with all that it needs and that is not chosen yet."""
        return self.candidates.bundle(position, self.chosen)

    def add(self, bundle: Iterable[int]) -> None:
        """Chooses."""
        for position in bundle:
            if position not in self.chosen:
                self.chosen.add(position)
                self.tokens += self.candidates.excerpts[position].token_count
                self.said.update(self.candidates.values.terms[position])

    def keep_values(self, limit: float, *, only_flagged: bool = False) -> None:
        """Takes what has most new values for its length, again and again (greedy maximum coverage).

        Args:
            only_flagged: takes warnings, steps and commands alone.
        """
        values, excerpts = self.candidates.values, self.candidates.excerpts
        heap = [
            (-self._density(position), position)
            for position in range(len(excerpts))
            if (values.flags[position] if only_flagged else values.are_in(position))
            and self._is_free(position)
            and not excerpts[position].dangles
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
            self._add_if_fits(position, limit)

    def open_sections(self, limit: float) -> None:
        """Takes the best sentence of every section that has nothing yet: chapters first, what frames the text last."""
        excerpts, sentences = self.candidates.excerpts, self.candidates.sentences
        served = {excerpts[position].section for position in self.chosen if excerpts[position].kind not in STRUCTURE}
        best: dict[int, tuple[float, int]] = {}
        sizes: dict[int, int] = {}
        for row in self._filling_rows():
            position = sentences[row]
            section = excerpts[position].section
            sizes[section] = sizes.get(section, 0) + excerpts[position].token_count
            if section not in served:
                best[section] = max(best.get(section, (-1.0, 0)), (self._worth(position), -position))
        roles = {section: role_of(excerpts, section).value for section in best}
        levels = {section: (roles[section], excerpts[section].level if section >= 0 else 0) for section in best}
        for section in sorted(best, key=lambda each: (levels[each], -sizes[each], each)):
            self._add_if_fits(-best[section][1], limit)

    def fill(self, limit: float, *, takes_cut: bool = False) -> None:
        """Takes sentences by maximal marginal relevance: central, and unlike what is there."""
        sentences, vectors = self.candidates.sentences, self.candidates.vectors
        free = self._filling_rows(takes_cut=takes_cut)
        central = self.candidates.centrality
        rows = np.array(sorted(sorted(free, key=lambda row: (-central[row], row))[:_MOST_COMPARED]), dtype=np.intp)
        if not len(rows) or self.tokens >= limit:
            return
        worth = np.array([self._worth(sentences[row]) for row in rows])
        kept_rows = [self.rows[position] for position in self.chosen if position in self.rows]
        likeness = (vectors[rows] @ vectors[kept_rows].T).max(axis=1, initial=0.0)
        weight = self.candidates.relevance_weight
        is_open = np.ones(len(rows), dtype=bool)
        while is_open.any() and self.tokens < limit:
            best = int(np.argmax(np.where(is_open, weight * worth - (1 - weight) * likeness, -np.inf)))
            believed, worth[best] = worth[best], self._worth(sentences[rows[best]])
            if worth[best] < believed:  # its values were said meanwhile
                continue
            is_open[best] = False
            before = set(self.chosen)
            if self._add_if_fits(sentences[rows[best]], limit):
                added = [self.rows[position] for position in self.chosen - before if position in self.rows]
                likeness = np.maximum(likeness, (vectors[rows] @ vectors[added].T).max(axis=1, initial=0.0))

    def _worth(self, position: int) -> float:
        """Returns what a sentence deserves to fill space: the mean of what it brings, where a heading says nothing.

        An answer to a focus is worth what it says of it, whatever else its entry or its values are about.
        """
        excerpts, central = self.candidates.excerpts, self.candidates.centrality
        own = float(central[self.rows[position]])
        if self.candidates.has_focus:
            return own
        bundle = self.bundle(position)
        said = [each for each in bundle if excerpts[each].kind not in STRUCTURE]
        worth = [central[self.rows[each]] if each in self.rows else own for each in said]
        total = sum(excerpts[each].token_count * own_worth for each, own_worth in zip(said, worth, strict=True))
        return float(total / max(1, self.candidates.cost(bundle)) + self.candidates.values.bonus(position, self.said))

    def _add_if_fits(self, position: int, limit: float) -> bool:
        if position in self.chosen:
            return False
        bundle = self.bundle(position)
        if fits := self.tokens + self.candidates.cost(bundle) <= limit:
            self.add(bundle)
        return fits

    def _filling_rows(self, *, takes_cut: bool = False) -> list[int]:
        excerpts = self.candidates.excerpts
        # Steps are kept for their flags; they may be the answer to a question.
        kinds = PROSE if self.candidates.has_focus else STATEMENTS
        return [
            row
            for row, position in enumerate(self.candidates.sentences)
            if self._is_free(position)
            and excerpts[position].kind in kinds
            and (takes_cut or not (excerpts[position].is_cut or excerpts[position].dangles))
        ]

    def _is_free(self, position: int) -> bool:
        return position not in self.chosen and self.candidates.is_sound(position)

    def _density(self, position: int) -> float:
        bundle = self.bundle(position)
        return self.candidates.values.of(bundle, self.said) / max(1, self.candidates.cost(bundle))
