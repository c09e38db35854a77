"""Scores sentences and selects excerpts under a token budget.

A sentence is worth how much it says of what its stretch is about, by position and centrality. With a focus its worth is
how well its passage answers. An author opens a section with what it is about: its first dozen sentences count more.
A text that begins in the middle of a section, a talk and a list have none.

Chosen are sentences that are worth most and say something new, then what has most values. Values are a bonus of the
sentence that says them. An excerpt brings all that it needs. What is chosen fits a budget or a length as it is written,
and no heading heads nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.reading.blocks import LIST_KINDS, STRUCTURE, BlockKind, is_prompt
from pipeline.reading.rules import Rule
from pipeline.reading.salience import scaled
from pipeline.reading.terms import Term, TermKind
from pipeline.reading.turns import EDGES
from pipeline.reading.word_lists import phrase_list, word_list
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import count_words, fold_case
from pipeline.summarize.extractive.excerpt import ANSWERS, STATEMENTS, TEXT_KINDS, Excerpt, words_of

Float64 = npt.NDArray[np.float64]

# Chosen by ROUGE on every other one of 160 articles (REALSumm, Newsroom).
_POSITION_WEIGHT = 2 / 3  # the rest goes to closeness
_FADING_SENTENCES, _FULL_WORDS = 8.0, 16
_DECISION_WEIGHT = 2.5  # more than all that closeness may add

POSITION = Rule(
    "position",
    "extractive",
    "A sentence is worth more the earlier it stands in its section, most in the document's first that says something.",
    "# Pumps\n\nPumps move water. Some of them are blue.",
    "Pumps move water.",
)
LENGTH = Rule(
    "length",
    "extractive",
    "A sentence is less central the fewer words it has: a few say little of anything.",
    "Ann: Oh dear. Bob: The membrane is torn over eleven metres along the north gutter.",
    "Bob: The membrane is torn over eleven metres along the north gutter.",
)
DECISIONS = Rule(
    "decisions",
    "extractive",
    "In a talk, or behind a label, a sentence is worth more that decides something, or says who does what by when.",
    "Ann: Did you see the game? Bob: We agreed to ship it on Friday. Ann: It was long.",
    "Bob: We agreed to ship it on Friday.",
)


def score_sentences(
    excerpts: Sequence[Excerpt], positions: Sequence[int], vectors: Float64, *, starts_document: bool
) -> Float64:
    """Scores sentences: early in their section, and close to the middle of all of them.

    Args:
        positions: of the sentences, rising; at least one.
        vectors: shape (sentences, dimension), rows of length 1.
        starts_document: what stands above the first heading is where the document begins, not the rest of a section.

    Returns:
        Shape (sentences,), in [0, 1]; up to 5/3 in the first of several sections.
    """
    said = [excerpts[position] for position in positions]
    has_start = [one.kind is not BlockKind.TURN and (one.section >= 0 or starts_document) for one in said]
    sections = np.array([one.section for one in said])
    early = np.array(has_start) * _earliness([one.section for one in said])
    fullness = np.minimum(1.0, np.array([count_words(one.text) for one in said]) / _FULL_WORDS)
    # What begins the first section with a full sentence says what a document is about. Chosen with 96 READMEs in view.
    if starts_document and (sections != sections[0]).any():
        early *= 1 + early**3 * (sections == sections[np.argmax(fullness)])
    closeness = scaled(vectors @ vectors.mean(axis=0)) * (fullness if LENGTH.is_on else 1.0)
    is_list = 2 * sum(one.kind in LIST_KINDS for one in said) > len(said)
    is_placed = POSITION.is_on and bool(early.any()) and not is_list
    score = _POSITION_WEIGHT * early + (1 - _POSITION_WEIGHT) * closeness if is_placed else closeness
    settled = [_settles(one.text) if DECISIONS.is_on and _may_settle(one) else 0.0 for one in said]
    return np.asarray((score + _DECISION_WEIGHT * np.array(settled)) / (1 + _DECISION_WEIGHT * max(settled)))


def _may_settle(said: Excerpt, longest_label: int = 3) -> bool:
    """Tells whether a sentence is said in a talk, or bears the label of a decision: "Decision 17-2: ..."."""
    label, mark, _ = said.text.partition(":")
    words = [word.strip(EDGES) for word in fold_case(label).split()] if mark else []
    is_label = len(words) <= longest_label and not set(phrase_list("decision_phrases")).isdisjoint(words)
    return said.kind is BlockKind.TURN or is_label


def _settles(said: str) -> float:
    """Returns how much of a decision somebody says, from 0 to 1: no question is one."""
    words = [word.strip(EDGES) for word in fold_case(said).split()]
    days = word_list("weekdays") | word_list("months")
    # "5" and "may" alone are no date: "5 May", "14" and "June" are.
    is_dated = any(
        (word in days and (word not in word_list("months_that_are_words") or before[:1].isdigit()))
        or (word[:1].isdigit() and len(word) > 1)
        for before, word in pairwise(["", *words])
    )
    if said.rstrip(EDGES.replace("?", "")).endswith("?"):
        return 0.0
    line = f" {' '.join(words)} "
    if any(
        f" {phrase} " in line or (not phrase.isascii() and phrase in line) for phrase in phrase_list("decision_phrases")
    ):
        return 1.0
    return is_dated * (0.4 if not word_list("promise_words").isdisjoint(words) else 0.1)


# Chosen on half of 190 questions about 55 documents, a third of them German; 1.2 with totals of the others in view.
_PASSAGE_WORDS, _GRAMS_WEIGHT, _ENTAILMENT_WEIGHT = 60, 1.2, 0.8
_ANSWER = 0.95  # worth from which a passage answers: of 380 questions about other documents 18% come so far


class RankedPassage(NamedTuple):
    """Neighbours below one title, a procedure as a whole."""

    rows: list[int]  # of the material's sentences, rising
    text: str  # with its title
    worth: float = 0.0  # for a focus


def find_passages(material: "Material") -> Iterator[RankedPassage]:
    """Yields what stands below one title, not cut behind a sentence that the next one needs."""
    excerpts, sentences = material.excerpts, material.sentences
    titles = [tuple(need for need in excerpts[at].needs if excerpts[need].kind in STRUCTURE) for at in sentences]
    for above, group in groupby(range(len(sentences)), key=titles.__getitem__):
        title, passages, words = "".join(excerpts[each].text for each in above[-1:]), [list[int]()], 0
        for row in group:
            excerpt = excerpts[sentences[row]]
            words += count_words(excerpt.text)
            if passages[-1] and words > _PASSAGE_WORDS and sentences[row - 1] not in excerpt.needs:
                passages.append([])
                words = count_words(excerpt.text)
            passages[-1].append(row)
        for rows in passages:
            said = (words_of(excerpts, excerpts[sentences[row]]) for row in rows)
            yield RankedPassage(rows, f"{title}\n{' '.join(said)}")


def rank_passages(
    passages: Sequence[RankedPassage], focus: str, likeness: Float64, wholes: Float64
) -> list[RankedPassage]:
    """Returns passages, best first: like a focus as a whole and in their closest sentence, and with its rare letters.

    An embedder knows no part numbers and little German. Some letters of a word are those of its forms and compounds.

    Args:
        likeness: of each sentence to the focus, by the embedder.
        wholes: the same of each passage with its title.
    """
    wanted = _grams(focus)
    shared = [wanted & _grams(passage.text) for passage in passages]
    counts = Counter(gram for grams in shared for gram in grams)
    rarity = {gram: math.log((len(passages) + 1) / max(1, counts[gram])) for gram in wanted}
    shares = np.array([math.fsum(rarity[gram] for gram in grams) for grams in shared])
    words = _GRAMS_WEIGHT * shares / max(1e-9, math.fsum(rarity.values()))
    worth = wholes + [likeness[passage.rows].max() for passage in passages] + words
    ranked = (passage._replace(worth=each) for passage, each in zip(passages, worth.tolist(), strict=True))
    return sorted(ranked, key=lambda passage: -passage.worth)


def _grams(text: str, letters: int = 4) -> frozenset[str]:
    """Returns letters in a row of a text's words, which have a space on both sides; words of one letter are whole."""
    words = [f" {word} " for word in WordTable.of(text).words]
    return frozenset(word[at : at + letters] for word in words for at in range(max(1, len(word) - letters + 1)))


def score_focus(likeness: Float64, passages: Sequence[RankedPassage], chances: Sequence[float]) -> tuple[Float64, bool]:
    """Scores sentences by likeness to a focus and passage, the closest of the best two first; tells if one answers.

    Args:
        chances: that the first passages entail the focus.
    """
    worth, score = np.array([passage.worth for passage in passages]), likeness.copy()
    worth[: len(chances)] += _ENTAILMENT_WEIGHT * np.array(chances)
    beside = (0.125, 1, 0.25)  # an answer may stand beside what is like the question, rather behind it
    for passage, each in zip(passages, worth, strict=True):
        score[passage.rows] = each + np.convolve(likeness[passage.rows], beside)[1:-1]
    for at in np.argsort(-worth, kind="stable")[1::-1]:
        score[max(passages[at].rows, key=score.__getitem__)] += score.max()
    return score, bool(worth.max() >= _ANSWER)


def _earliness(sections: Sequence[int]) -> Float64:
    """Returns 1 for the first sentence of each section, less for each after it."""
    seen: Counter[int] = Counter()
    early = []
    for section in sections:
        early.append(np.exp(-seen[section] / _FADING_SENTENCES))
        seen[section] += 1
    return np.array(early)


VALUE_KINDS = (TermKind.NUMBER, TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER, TermKind.COMMAND)
"""Terms that the map step never drops, as far as the longest answer reaches."""

_WARNING = re.compile(rf"\b(?:{'|'.join(phrase_list('warning_phrases'))})\b", re.IGNORECASE)
_TECHNICAL_KINDS = frozenset({TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER, TermKind.COMMAND, TermKind.PATH})
# Share of sentences: of 160 news articles 0.09, of two manuals 0.16 to 0.29.
_FEW_TECHNICAL, _MANY_TECHNICAL = 0.15, 0.2
_PLAIN_BONUS, _TECHNICAL_BONUS = 0.3, 0.5
_FULL_BONUS_VALUES = 3
_RELEVANCE_WEIGHT = 0.8  # of MMR; the rest goes to difference
_MOST_COMPARED = 2_000  # of sentences by MMR, the most central ones: each choice is compared with all of them
_ACTS_SHARE = 0.6  # of what operators read: warnings, steps and commands, before anything is explained
_POOR_SHARE = 0.5  # of what may be filled; below it fragments are better than nothing


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be kept, in tokens."""

    central: float  # until here, excerpts are kept for being central
    ceiling: float  # until here, excerpts are kept for their values


@dataclass(frozen=True, eq=False)
class Material:
    """What there is to choose from, and what each part of it is worth."""

    excerpts: Sequence[Excerpt]
    sentences: Sequence[int]  # positions of what has a vector, rising
    vectors: Float64  # shape (sentences, dimension), rows of length 1
    dropped: frozenset[int]  # positions of duplicates, and of what cannot be written
    ends_document: bool = True  # nothing follows, so that a heading at the end has nothing below it
    centrality: Float64 = field(default_factory=lambda: np.zeros(0))  # shape (sentences,), where not all fits
    has_acts_first: bool = False  # operators need warnings, steps and commands before figures
    has_focus: bool = False  # an answer to a focus is worth what it says of it, whatever its values are
    has_answer: bool = True  # some passage answers it

    @cached_property
    def values(self) -> list[frozenset[Term]]:
        """The values of each excerpt."""
        return [frozenset(term for term in each.terms if term.kind in VALUE_KINDS) for each in self.excerpts]

    @cached_property
    def acts(self) -> frozenset[int]:
        """Positions of warnings, steps and commands."""
        return frozenset(position for position, excerpt in enumerate(self.excerpts) if _is_act(excerpt))

    @cached_property
    def rows(self) -> dict[int, int]:
        """Where the vector of a sentence stands, by its position."""
        return {position: row for row, position in enumerate(self.sentences)}

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
        """Tells whether neither an excerpt nor a sentence before it that it needs was dropped; fragments on request."""
        excerpt = self.excerpts[position]
        lost = (need for need in excerpt.needs if need < position and need in self.dropped)
        is_sound = position not in self.dropped and all(
            self.excerpts[need].kind is not BlockKind.PROSE for need in lost
        )
        return is_sound and (takes_cut or not (excerpt.is_cut or excerpt.dangles))


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


def select(material: Material, budget: Budget, always: Iterable[int] = ()) -> list[int]:
    """Returns positions to keep, rising; `always` in any case, such as the headings that are open at the end."""
    selection = _Selection(material)
    for position in always:
        selection.add(material.bundle(position, selection.chosen))
    central = min(budget.central, budget.ceiling)
    if material.has_acts_first:
        selection.keep_values(_ACTS_SHARE * budget.ceiling, only_acts=True)
    selection.fill(central)
    if selection.tokens < _POOR_SHARE * central:  # a transcript without full stops, a list of titles
        selection.fill(central, takes_cut=True)
    selection.keep_values(budget.ceiling)
    return sorted(selection.chosen)


class _Selection:
    """What was chosen so far."""

    def __init__(self, material: Material) -> None:
        self.material, self.tokens = material, 0
        self.chosen, self.said = set[int](), set[Term]()
        has_bonus = VALUE_BONUS.is_on and not material.has_focus
        self.bonus = _most_bonus(material.excerpts) if has_bonus else 0.0

    def add(self, bundle: Iterable[int]) -> None:
        """Chooses."""
        new = set(bundle) - self.chosen
        self.chosen |= new
        self.tokens += self.material.cost(new)
        self.said.update(*(self.material.values[position] for position in new))

    def keep_values(self, limit: float, *, only_acts: bool = False) -> None:
        """Takes what has most values for its length and still says a new one, or warnings, steps and commands alone."""
        material = self.material
        wanted = [
            position
            for position, excerpt in enumerate(material.excerpts)
            if (position in material.acts or (material.values[position] and not only_acts))
            and material.is_free(position, takes_cut=True)
            and not (excerpt.dangles or excerpt.kind is BlockKind.HEADING)
        ]
        for position in sorted(wanted, key=self._density, reverse=True):
            if position in material.acts or not material.values[position] <= self.said:
                self._add_if_fits(position, limit)

    def fill(self, limit: float, *, takes_cut: bool = False) -> None:
        """Takes sentences by maximal marginal relevance: central, and unlike what is there."""
        material, sentences, central = self.material, self.material.sentences, self.material.centrality
        # Steps are kept for being acted on, rows for their values; they may be the answer to a question.
        kinds = ANSWERS if material.has_focus else STATEMENTS
        free = [
            row
            for row, position in enumerate(sentences)
            if position not in self.chosen
            and material.excerpts[position].kind in kinds
            and material.is_free(position, takes_cut=takes_cut)
        ]
        rows = np.array(sorted(sorted(free, key=lambda row: (-central[row], row))[:_MOST_COMPARED]), dtype=np.intp)
        if not len(rows) or self.tokens >= limit:
            return
        worth = np.array([self._worth(row) for row in rows])
        likeness = self._likeness(rows, self.chosen)
        weight = _RELEVANCE_WEIGHT if DIFFERENCE.is_on and not material.has_focus else 1.0
        is_open = np.ones(len(rows), dtype=bool)
        while is_open.any() and self.tokens < limit:
            best = int(np.argmax(np.where(is_open, weight * worth - (1 - weight) * likeness, -np.inf)))
            believed, worth[best] = worth[best], self._worth(rows[best])
            if worth[best] < believed:  # its values were said meanwhile
                continue
            is_open[best] = False
            before = set(self.chosen)
            if self._add_if_fits(sentences[rows[best]], limit):
                likeness = np.maximum(likeness, self._likeness(rows, self.chosen - before))

    def _likeness(self, rows: npt.NDArray[np.intp], positions: Iterable[int]) -> Float64:
        """Returns how like each of some sentences is to the closest of some excerpts."""
        vectors, row_of = self.material.vectors, self.material.rows
        others = [row_of[position] for position in positions if position in row_of]
        return np.asarray((vectors[rows] @ vectors[others].T).max(axis=1, initial=0.0))

    def _worth(self, row: int) -> float:
        """Returns what a sentence deserves to fill space."""
        new = len(self.material.values[self.material.sentences[row]] - self.said)
        return float(self.material.centrality[row]) + self.bonus * min(1.0, new / _FULL_BONUS_VALUES)

    def _add_if_fits(self, position: int, limit: float) -> bool:
        bundle = self.material.bundle(position, self.chosen)
        if fits := self.tokens + self.material.cost(bundle) <= limit:
            self.add(bundle)
        return fits

    def _density(self, position: int) -> float:
        """Returns how many values and acts an excerpt and its needs add for each token."""
        bundle = self.material.bundle(position, self.chosen)
        new = {term for each in bundle for term in self.material.values[each]} - self.said
        return (len(new) + len(self.material.acts.intersection(bundle))) / max(1, self.material.cost(bundle))


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
_NEARBY = (1.0, 0.97, 1.03, 1.06, 0.94, 1.1, 0.9, 1.15)  # budgets of which one gives a text of the length asked for
_CLOSE = 0.04  # of the length; nearer is not worth another try


def keep_all(material: Material) -> list[int]:
    """Returns the positions of everything but duplicates, and headings with nothing below them."""
    everything = [position for position in range(len(material.excerpts)) if position not in material.dropped]
    return _with_use(material, everything)


def shorten(
    material: Material, budget: Budget, size_of: Callable[[Sequence[int]], int], amount: int | None = None
) -> list[int]:
    """Returns the positions of what is worth most within the budget; at least one, whatever the budget.

    Args:
        material: with at least one excerpt that is no duplicate.
        size_of: counts the text of some positions, which is within the budget unless every excerpt is longer.
        amount: a length to be met, as closely as one of some neighbouring budgets does; None: only the budget counts.
    """
    always = _open_at_end(material)
    if material.cost(always) > _MOST_HEADINGS_SHARE * budget.ceiling:
        always = []

    def kept(factor: float) -> list[int]:
        tried = Budget(budget.central * factor, budget.ceiling * factor)
        positions = _with_use(material, select(material, tried, always))
        is_empty = all(material.excerpts[position].kind in STRUCTURE for position in positions)  # no sentence fits
        return _shortest(material) if is_empty else positions

    if amount is not None:
        best, least = list[int](), math.inf
        for nearby in _NEARBY:
            positions = kept(nearby)
            if (miss := abs(size_of(positions) - amount)) < least:
                best, least = positions, miss
            if least <= max(1.0, _CLOSE * amount):
                break
        return best
    factor = 1.0
    for _ in range(_MOST_ATTEMPTS):
        positions = kept(factor)
        excess = size_of(positions) / budget.ceiling
        if excess <= 1:
            return positions
        factor *= 0.98 / excess  # some tokenizers see more tokens in the whole than in its excerpts
    return _shortest(material)


def _shortest(material: Material) -> list[int]:
    """Returns the shortest excerpt that says something, by itself if any does, for budgets below one sentence."""
    excerpts = material.excerpts
    free = [position for position in range(len(excerpts)) if position not in material.dropped]
    said = [position for position in free if excerpts[position].kind not in STRUCTURE] or free
    alone = [
        position for position in said if all(excerpts[need].kind in STRUCTURE for need in excerpts[position].needs)
    ]
    return [min(alone or said, key=lambda each: excerpts[each].token_count)]


def _open_at_end(material: Material) -> list[int]:
    """Returns the headings under which the next text goes on, innermost last."""
    excerpts, last = material.excerpts, len(material.excerpts) - 1
    if material.ends_document or not excerpts:
        return []
    position = last if excerpts[last].kind is BlockKind.HEADING else excerpts[last].section
    chain: list[int] = []
    while position >= 0:
        chain.append(position)
        position = excerpts[position].section
    return chain[::-1]


def _with_use(material: Material, positions: Sequence[int]) -> list[int]:
    """Leaves out headings and labels with nothing below them."""
    excerpts, useful = material.excerpts, set(_open_at_end(material))
    for position in reversed(positions):  # what stands below comes first
        if position in useful or excerpts[position].kind not in STRUCTURE:
            useful |= {position, *excerpts[position].needs}
    return [position for position in positions if position in useful]
