"""Selects excerpts under a token budget: sentences that are central and say something new, then what has most values.

Values are a bonus of the sentence that says them. An excerpt brings all that it needs.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.reading.rules import Rule
from pipeline.reading.values import Term, TermKind
from pipeline.reading.word_lists import phrase_list
from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.excerpt import PROSE, STATEMENTS, Excerpt, ExcerptKind
from pipeline.summarize.extractive.source_blocks import is_prompt

VALUE_KINDS = (TermKind.NUMBER, TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER, TermKind.COMMAND)
"""Terms that the map step never drops, as far as the longest answer reaches."""

_WARNING = re.compile(rf"\b(?:{'|'.join(phrase_list('warning_phrases'))})\b", re.IGNORECASE)
_TECHNICAL_KINDS = frozenset({TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER, TermKind.COMMAND, TermKind.PATH})
# Share of sentences: of 160 news articles 0.09, of two manuals 0.16 to 0.29.
_FEW_TECHNICAL, _MANY_TECHNICAL = 0.15, 0.2
_PLAIN_BONUS, _TECHNICAL_BONUS = 0.1, 0.5
_FULL_BONUS_VALUES = 3
_RELEVANCE_WEIGHT = 0.8  # of MMR; the rest goes to difference
_MOST_COMPARED = 2_000  # of sentences by MMR, the most central ones: each choice is compared with all of them
_ACTS_SHARE = 0.6  # of what operators read: warnings, steps and commands, before anything is explained
_POOR_SHARE = 0.5  # of what may be filled; below it fragments are better than nothing


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be kept, in tokens.

    Attributes:
        central: until here, excerpts are kept for being central.
        ceiling: until here, excerpts are kept for their values.
    """

    central: float
    ceiling: float

    def scaled(self, factor: float) -> "Budget":
        """Returns the budget times a factor."""
        return Budget(self.central * factor, self.ceiling * factor)


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to choose from.

    Attributes:
        sentences: positions of what has a vector, rising.
        vectors: shape (sentences, dimension), rows of length 1.
        dropped: positions of duplicates, and of what cannot be written.
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

    def is_free(self, position: int, *, takes_cut: bool = False) -> bool:
        """Tells whether an excerpt may be chosen: neither it nor a sentence before it that it needs was dropped.

        Args:
            takes_cut: it may be a fragment, and point back to what is not there.
        """
        excerpt = self.excerpts[position]
        lost = (need for need in excerpt.needs if need < position and need in self.dropped)
        is_sound = position not in self.dropped and all(
            self.excerpts[need].kind is not ExcerptKind.SENTENCE for need in lost
        )
        return is_sound and (takes_cut or not (excerpt.is_cut or excerpt.dangles))


@dataclass(frozen=True, slots=True)
class Candidates(Material):
    """Material with what each part of it is worth.

    Attributes:
        centrality: shape (sentences,).
        values: of each excerpt.
        acts: positions of warnings, steps and commands.
        has_acts_first: operators need them before figures.
        has_focus: an answer to a focus is worth what it says of it, whatever its values are.
    """

    centrality: Float64
    values: Sequence[frozenset[Term]]
    acts: frozenset[int]
    has_acts_first: bool = False
    has_focus: bool = False

    @classmethod
    def of(cls, material: Material, centrality: Float64, *, has_acts_first: bool, has_focus: bool) -> "Candidates":
        """Reads the values and acts of the material."""
        excerpts = material.excerpts
        return cls(
            *(excerpts, material.sentences, material.vectors, material.dropped, centrality),
            values=[frozenset(term for term in excerpt.terms if term.kind in VALUE_KINDS) for excerpt in excerpts],
            acts=frozenset(position for position, excerpt in enumerate(excerpts) if _is_act(excerpt)),
            has_acts_first=has_acts_first,
            has_focus=has_focus,
        )


VALUE_BONUS = Rule(
    "value-bonus",
    "extractive",
    "A sentence is worth more for values that no other says, most in a text that is full of commands, units and parts.",
    "It is a good pump. It moves 5 l/min.",
    "It moves 5 l/min.",
)
DIFFERENCE = Rule(
    "difference",
    "extractive",
    "A sentence is worth less the more it is like one that is chosen (maximal marginal relevance).",
    "Big pumps move water daily. Big pumps move water nightly. Filters keep sand away.",
    "Big pumps move water daily. Filters keep sand away.",
)


def select(candidates: Candidates, budget: Budget, always: Iterable[int] = ()) -> list[int]:
    """Returns positions to keep, rising.

    Args:
        budget: in tokens as the excerpts count them.
        always: positions that are kept in any case, such as the headings that are open at the end.
    """
    selection = _Selection(candidates)
    for position in always:
        selection.add(selection.bundle(position))
    central = min(budget.central, budget.ceiling)
    if candidates.has_acts_first:
        selection.keep_values(_ACTS_SHARE * budget.ceiling, only_acts=True)
    selection.fill(central)
    if selection.tokens < _POOR_SHARE * central:  # a transcript without full stops, a list of titles
        selection.fill(central, takes_cut=True)
    selection.keep_values(budget.ceiling)
    return sorted(selection.chosen)


@dataclass(slots=True)
class _Selection:
    """What was chosen so far.

    Attributes:
        rows: where the vector of a sentence stands, by its position.
        bonus: the most that values add to what a sentence is worth.
    """

    candidates: Candidates
    chosen: set[int] = field(default_factory=set)
    tokens: int = 0
    said: set[Term] = field(default_factory=set)
    rows: dict[int, int] = field(init=False)
    bonus: float = field(init=False)

    def __post_init__(self) -> None:
        """Reads what is looked up again and again."""
        self.rows = {position: row for row, position in enumerate(self.candidates.sentences)}
        has_bonus = VALUE_BONUS.is_on and not self.candidates.has_focus
        self.bonus = _most_bonus(self.candidates.excerpts) if has_bonus else 0.0

    def bundle(self, position: int) -> list[int]:
        """Returns an excerpt with all that it needs and that is not chosen yet."""
        return self.candidates.bundle(position, self.chosen)

    def add(self, bundle: Iterable[int]) -> None:
        """Chooses."""
        for position in bundle:
            if position not in self.chosen:
                self.chosen.add(position)
                self.tokens += self.candidates.excerpts[position].token_count
                self.said.update(self.candidates.values[position])

    def keep_values(self, limit: float, *, only_acts: bool = False) -> None:
        """Takes what has most values for its length and still says a new one.

        Args:
            only_acts: takes warnings, steps and commands alone.
        """
        candidates = self.candidates
        wanted = [
            position
            for position, excerpt in enumerate(candidates.excerpts)
            if (position in candidates.acts or (candidates.values[position] and not only_acts))
            and candidates.is_free(position, takes_cut=True)
            and not (excerpt.dangles or excerpt.kind is ExcerptKind.HEADING)
        ]
        for position in sorted(wanted, key=self._density, reverse=True):
            if position in candidates.acts or not candidates.values[position] <= self.said:
                self._add_if_fits(position, limit)

    def fill(self, limit: float, *, takes_cut: bool = False) -> None:
        """Takes sentences by maximal marginal relevance: central, and unlike what is there."""
        sentences, vectors, central = self.candidates.sentences, self.candidates.vectors, self.candidates.centrality
        # Steps are kept for being acted on; they may be the answer to a question.
        kinds = PROSE if self.candidates.has_focus else STATEMENTS
        free = [
            row
            for row, position in enumerate(sentences)
            if position not in self.chosen
            and self.candidates.excerpts[position].kind in kinds
            and self.candidates.is_free(position, takes_cut=takes_cut)
        ]
        rows = np.array(sorted(sorted(free, key=lambda row: (-central[row], row))[:_MOST_COMPARED]), dtype=np.intp)
        if not len(rows) or self.tokens >= limit:
            return
        worth = np.array([self._worth(sentences[row]) for row in rows])
        kept_rows = [self.rows[position] for position in self.chosen if position in self.rows]
        likeness = (vectors[rows] @ vectors[kept_rows].T).max(axis=1, initial=0.0)
        weight = _RELEVANCE_WEIGHT if DIFFERENCE.is_on else 1.0
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
        """Returns what a sentence deserves to fill space."""
        new = len(self.candidates.values[position] - self.said)
        return float(self.candidates.centrality[self.rows[position]]) + self.bonus * min(1.0, new / _FULL_BONUS_VALUES)

    def _add_if_fits(self, position: int, limit: float) -> bool:
        bundle = self.bundle(position)
        if fits := self.tokens + self.candidates.cost(bundle) <= limit:
            self.add(bundle)
        return fits

    def _density(self, position: int) -> float:
        """Returns how many values and acts an excerpt and its needs add for each token."""
        bundle = self.bundle(position)
        new = {term for each in bundle for term in self.candidates.values[each]} - self.said
        return (len(new) + len(self.candidates.acts.intersection(bundle))) / max(1, self.candidates.cost(bundle))


def _most_bonus(excerpts: Sequence[Excerpt]) -> float:
    """Returns what values are worth: little in news, much in what is read for its commands, units and part numbers."""
    sentences = [excerpt for excerpt in excerpts if excerpt.kind in PROSE]
    technical = sum(any(term.kind in _TECHNICAL_KINDS for term in excerpt.terms) for excerpt in sentences)
    share = technical / max(1, len(sentences))
    technicality = min(1.0, max(0.0, (share - _FEW_TECHNICAL) / (_MANY_TECHNICAL - _FEW_TECHNICAL)))
    return _PLAIN_BONUS + (_TECHNICAL_BONUS - _PLAIN_BONUS) * technicality


def _is_act(excerpt: Excerpt) -> bool:
    if excerpt.kind is ExcerptKind.CODE:
        return any(is_prompt(line) for line in excerpt.text.split("\n"))
    return excerpt.kind is ExcerptKind.STEP or (
        excerpt.kind in PROSE and bool(_WARNING.search(excerpt.text.replace("’", "'")))
    )
