"""Selects excerpts under a token budget: sentences that are central and say something new, then what has most values.

Values are a bonus of the sentence that says them. An excerpt brings all that it needs. What is chosen fits a budget or
a length as it is written, and no heading heads nothing.
"""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from pipeline.reading.blocks import STRUCTURE, BlockKind, is_prompt
from pipeline.reading.rules import Rule
from pipeline.reading.values import Term, TermKind
from pipeline.reading.word_lists import phrase_list
from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.excerpt import STATEMENTS, TEXT_KINDS, Excerpt

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
            self.excerpts[need].kind is not BlockKind.PROSE for need in lost
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
            and not (excerpt.dangles or excerpt.kind is BlockKind.HEADING)
        ]
        for position in sorted(wanted, key=self._density, reverse=True):
            if position in candidates.acts or not candidates.values[position] <= self.said:
                self._add_if_fits(position, limit)

    def fill(self, limit: float, *, takes_cut: bool = False) -> None:
        """Takes sentences by maximal marginal relevance: central, and unlike what is there."""
        sentences, vectors, central = self.candidates.sentences, self.candidates.vectors, self.candidates.centrality
        # Steps are kept for being acted on; they may be the answer to a question.
        kinds = TEXT_KINDS if self.candidates.has_focus else STATEMENTS
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
    sentences = [excerpt for excerpt in excerpts if excerpt.kind in TEXT_KINDS]
    technical = sum(any(term.kind in _TECHNICAL_KINDS for term in excerpt.terms) for excerpt in sentences)
    share = technical / max(1, len(sentences))
    technicality = min(1.0, max(0.0, (share - _FEW_TECHNICAL) / (_MANY_TECHNICAL - _FEW_TECHNICAL)))
    return _PLAIN_BONUS + (_TECHNICAL_BONUS - _PLAIN_BONUS) * technicality


def _is_act(excerpt: Excerpt) -> bool:
    if excerpt.kind is BlockKind.CODE:
        return any(is_prompt(line) for line in excerpt.text.split("\n"))
    return excerpt.kind is BlockKind.STEP or (
        excerpt.kind in TEXT_KINDS and bool(_WARNING.search(excerpt.text.replace("’", "'")))
    )


_MOST_ATTEMPTS = 8
_MOST_HEADINGS_SHARE = 0.25  # of a budget, for headings under which the next text goes on
_MOST_MOVES = 32
_CLOSE = 0.04  # of the length; nearer is not worth a move
_OTHER_WORTH = 0.1  # of what has no vector: listings and rows


def keep_all(material: Material, *, ends_document: bool) -> list[int]:
    """Returns the positions of everything but duplicates, and headings with nothing below them."""
    everything = [position for position in range(len(material.excerpts)) if position not in material.dropped]
    return _with_use(material.excerpts, everything, ends_document=ends_document)


def shorten(
    candidates: Candidates,
    budget: Budget,
    size_of: Callable[[Sequence[int]], int],
    *,
    ends_document: bool,
    amount: int | None = None,
) -> list[int]:
    """Returns the positions of what is worth most within the budget; at least one, whatever the budget.

    Args:
        candidates: with at least one excerpt that is no duplicate.
        size_of: of the text that some positions are written as; what is kept is never longer than the budget's
            ceiling by this count if an excerpt is that short, except where the amount is closer beyond it.
        ends_document: nothing follows, so that a heading at the end has nothing below it.
        amount: a length to be met; None: anything within the budget will do.
    """
    excerpts = candidates.excerpts
    always = [] if ends_document else _open_at_end(excerpts)
    if candidates.cost(always) > _MOST_HEADINGS_SHARE * budget.ceiling:
        always = []
    useful = partial(_with_use, excerpts, ends_document=ends_document)
    tried = budget
    positions: list[int] = []
    for _ in range(_MOST_ATTEMPTS):
        positions = useful(select(candidates, tried, always))
        excess = size_of(positions) / budget.ceiling
        if excess <= 1:
            break
        tried = tried.scaled(0.98 / excess)  # some tokenizers see more tokens in the whole than in its excerpts
    else:
        positions = []
    if all(excerpts[position].kind in STRUCTURE for position in positions):  # no sentence fits
        positions = _shortest(candidates)
    return positions if amount is None else _fit(candidates, positions, amount, useful=useful, size_of=size_of)


def _shortest(material: Material) -> list[int]:
    """Returns the shortest excerpt that says something, by itself if any does, for budgets below one sentence."""
    excerpts = material.excerpts
    free = [position for position in range(len(excerpts)) if position not in material.dropped]
    said = [position for position in free if excerpts[position].kind not in STRUCTURE] or free
    alone = [
        position for position in said if all(excerpts[need].kind in STRUCTURE for need in excerpts[position].needs)
    ]
    return [min(alone or said, key=lambda each: excerpts[each].token_count)]


def _open_at_end(excerpts: Sequence[Excerpt]) -> list[int]:
    """Returns the headings under which the next text goes on, innermost last."""
    if not excerpts:
        return []
    last = len(excerpts) - 1
    position = last if excerpts[last].kind is BlockKind.HEADING else excerpts[last].section
    chain: list[int] = []
    while position >= 0:
        chain.append(position)
        position = excerpts[position].section
    return chain[::-1]


def _with_use(excerpts: Sequence[Excerpt], positions: Sequence[int], *, ends_document: bool) -> list[int]:
    """Leaves out headings and labels with nothing below them."""
    useful = set() if ends_document else set(_open_at_end(excerpts))
    for position in reversed(positions):  # what stands below comes first
        if position in useful or excerpts[position].kind not in STRUCTURE or _is_value(excerpts, position):
            useful |= {position, *excerpts[position].needs}
    return [position for position in positions if position in useful]


def _is_value(excerpts: Sequence[Excerpt], position: int) -> bool:
    """Tells whether a label labels nothing, and has a term to be kept for."""
    excerpt, following = excerpts[position], excerpts[position + 1 : position + 2]
    is_label = excerpt.kind is BlockKind.LABEL and not any(position in each.needs for each in following)
    return is_label and bool(excerpt.terms)


def _fit(
    candidates: Candidates,
    positions: Sequence[int],
    amount: int,
    *,
    useful: Callable[[Sequence[int]], list[int]],
    size_of: Callable[[Sequence[int]], int],
) -> list[int]:
    """Returns the positions whose text is closest to a length, after a bounded number of moves from the first ones.

    Args:
        useful: leaves out what has no use without its neighbours, such as headings with nothing below them.
        size_of: of the text that some positions, rising, are written as, in the unit of the length.
    """
    worth = _worth_of(candidates)
    best = kept = useful(positions)
    size = best_size = size_of(kept)
    chosen, moved = set(positions), set[tuple[int, bool]]()
    tolerance = max(1.0, _CLOSE * amount)
    while abs(best_size - amount) > tolerance and len(moved) < _MOST_MOVES:
        takes_out = size > amount
        moves = _moves(candidates, chosen, moved, takes_out=takes_out)
        if not moves:
            break
        gap = abs(size - amount)
        least = max(tolerance, min(abs(gap - cost) for cost in moves.values()))
        close = [position for position, cost in moves.items() if abs(gap - cost) <= least]
        position = min(close, key=lambda each: worth[each] if each in chosen else -worth[each])
        moved.add((position, takes_out))
        if takes_out:
            chosen -= _dependents(candidates, position, chosen)
        else:
            chosen |= set(candidates.bundle(position, chosen))
        kept = useful(sorted(chosen))
        size = size_of(kept)
        is_said = any(candidates.excerpts[each].kind not in STRUCTURE for each in kept)
        if is_said and abs(size - amount) < abs(best_size - amount):
            best, best_size = kept, size
    return best


def _moves(
    candidates: Candidates, chosen: set[int], moved: set[tuple[int, bool]], *, takes_out: bool
) -> dict[int, int]:
    """Returns what may be left out, or added, with the tokens that go or come with it; no move is made twice."""
    found: dict[int, int] = {}
    for position, excerpt in enumerate(candidates.excerpts):
        if excerpt.kind in STRUCTURE or (position, takes_out) in moved or (position in chosen) != takes_out:
            continue
        if takes_out:
            found[position] = candidates.cost(_dependents(candidates, position, chosen))
        elif candidates.is_free(position):
            found[position] = candidates.cost(candidates.bundle(position, chosen))
    return found


def _worth_of(candidates: Candidates) -> list[float]:
    worth = [_OTHER_WORTH] * len(candidates.excerpts)
    for row, position in enumerate(candidates.sentences):
        worth[position] = float(candidates.centrality[row])
    if candidates.has_acts_first:
        for position in candidates.acts:
            worth[position] += 1
    return worth


def _dependents(candidates: Candidates, position: int, chosen: set[int]) -> set[int]:
    """Returns a chosen excerpt with all chosen ones that cannot stand without it."""
    found, more = set[int](), {position}
    while more:
        found |= more
        more = {each for each in chosen - found if not found.isdisjoint(candidates.excerpts[each].needs)}
    return found
