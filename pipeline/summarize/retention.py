"""Measures what share of the technical terms of an input survives in an output, and of its values with their subject.

A value that is kept without what it is the value of is lost. Its subject are the content words of its sentence or row.
Where these are too few ("The default is 8 MB."), those of the part or heading before it count as well. The value is
kept where one part of the output has it with two words of its subject, or with all if there are fewer.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from pipeline.reading.blocks import BlockKind
from pipeline.reading.sentences import Sentence, split_sentences
from pipeline.reading.terms import Term, TermKind, find_terms, fold_words
from pipeline.reading.values import Quantity, find_values, unit_of
from pipeline.reading.word_lists import STOP_WORDS
from pipeline.reading.word_table import stem
from pipeline.reading.words import fold_case

_MOST_MISSING = 20


@dataclass(frozen=True, slots=True)
class Kept:
    """How much survived of something: distinct terms of one kind, or values with what they are the values of."""

    input_count: int = 0
    kept_count: int = 0  # those that the output has too; at most `input_count`
    missing: tuple[str, ...] = ()  # some that were lost, in the order of the input; examples, not all of them

    @property
    def share(self) -> float:
        """In [0, 1]; 1 when there was nothing to keep."""
        return self.kept_count / self.input_count if self.input_count else 1.0


@dataclass(frozen=True, slots=True)
class TermRetention(Kept):
    """How many distinct terms of one kind survived."""

    kind: TermKind = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Retention:
    """What survived, one entry for each kind, in the order of `TermKind`."""

    kinds: tuple[TermRetention, ...]
    values: Kept = Kept()  # with their subjects; of nothing where that was not measured

    @property
    def share(self) -> float:
        """Of the terms of all kinds together, in [0, 1]."""
        return Kept(*_total(self.kinds)).share

    def of(self, kind: TermKind) -> TermRetention:
        """Returns the entry of a kind."""
        return next(entry for entry in self.kinds if entry.kind is kind)


@lru_cache(1 << 14)
def meaning(term: Term) -> tuple[str, str]:
    """Returns what makes a term the same as another one: "5mm", "5 mm" and "0.5 cm"; other terms have their words."""
    values = find_values(term.text) if term.kind in (TermKind.NUMBER, TermKind.UNIT) else ()
    quantities = [value for value in values if isinstance(value, Quantity)]
    return quantities[0].amounts[0].meaning if len(quantities) == 1 else ("", term.text.replace(" ", ""))


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """A text as it is searched for terms."""

    terms: Mapping[Term, None]  # in order
    meanings: frozenset[tuple[str, str]]  # of its numbers with units
    words: frozenset[str]  # folded
    line: str  # the same words in order, with spaces between and around

    @classmethod
    def of(cls, text: str) -> "Mentions":
        """Reads a text once. Linear in its length."""
        words, terms = fold_words(text), find_terms(text)
        meanings = frozenset(meaning(term) for term in terms if term.kind is TermKind.UNIT)
        return cls(terms, meanings, frozenset(words), f" {' '.join(words)} ")

    def has(self, term: Term) -> bool:
        """Tells whether a term is there, a quantity in whatever unit of its dimension."""
        is_converted = term.kind is TermKind.UNIT and meaning(term) in self.meanings
        return is_converted or term in self.terms or self.says(term.text)

    def says(self, words: str) -> bool:
        """Tells whether folded words are there in this order: a name at the start of a sentence is no term."""
        if " " not in words:
            return words in self.words
        return all(word in self.words for word in words.split()) and f" {words} " in self.line


def measure(input_terms: Iterable[Term], outputs: Sequence[Mentions]) -> Retention:
    """Counts the distinct terms of an input that at least one of the outputs mentions."""
    counts: Counter[TermKind] = Counter()
    missing: dict[TermKind, list[str]] = {kind: [] for kind in TermKind}
    for term in input_terms:
        counts[term.kind] += 1
        if not any(output.has(term) for output in outputs):
            missing[term.kind].append(term.text)
    return Retention(
        tuple(
            TermRetention(counts[kind], counts[kind] - len(lost), tuple(lost[:_MOST_MISSING]), kind=kind)
            for kind, lost in missing.items()
        )
    )


def add_up(retentions: Iterable[Retention]) -> Retention:
    """Adds the counts of several calls: a term that two inputs have counts twice, and must survive twice."""
    given = list(retentions)
    kinds = (TermRetention(*_total([each.of(kind) for each in given]), kind=kind) for kind in TermKind)
    return Retention(tuple(kinds), Kept(*_total([each.values for each in given])))


def _total(parts: Sequence[Kept]) -> tuple[int, int, tuple[str, ...]]:
    lost = dict.fromkeys(label for part in parts for label in part.missing)
    return sum(part.input_count for part in parts), sum(part.kept_count for part in parts), tuple(lost)[:_MOST_MISSING]


_KINDS = {TermKind.NUMBER, TermKind.UNIT, TermKind.VERSION, TermKind.PART_NUMBER}
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENOUGH = 2


class Stated(NamedTuple):
    """A value with its subject."""

    value: Term
    subject: frozenset[str]  # stems
    label: str  # value and subject as people read them


def find_stated(text: str, parts: Sequence[Sentence] | None = None) -> list[Stated]:
    """Returns the values of a text, which may be split already, with their subjects, in order, each once."""
    by_part = _by_part(text, split_sentences(text) if parts is None else parts)
    return list(dict.fromkeys(chain.from_iterable(stated for _, stated in by_part)))


def _by_part(text: str, parts: Sequence[Sentence]) -> Iterator[tuple[Sentence, list[Stated]]]:
    before: dict[str, str] = {}  # of the part or heading before that names something
    for part in parts:
        values, own = _read_part(text[part.said : part.end])  # when somebody speaks is no value of what is said
        is_named = len(own) >= _ENOUGH
        subject = own if is_named else {**own, **before}
        label = " ".join(list(subject.values())[:4])
        yield part, [Stated(value, frozenset(subject), f"{value.text} {label}".rstrip()) for value in values]
        before = own if is_named or part.kind is BlockKind.HEADING else before


def _read_part(words: str) -> tuple[list[Term], dict[str, str]]:
    """Returns the values of a part, a number with its unit as one, and words that it is about by their stems."""
    terms = [term for term in find_terms(words) if term.kind in _KINDS] if any(map(str.isdigit, words)) else []
    measured = {term.text.split(" ")[0] for term in terms if term.kind is TermKind.UNIT}
    subject: dict[str, str] = {}
    for root, folded in filter(None, map(_subject_word, _WORD.findall(words))):
        subject.setdefault(root, folded)
    return [term for term in terms if term.kind is not TermKind.NUMBER or term.text not in measured], subject


@lru_cache(1 << 14)
def _subject_word(word: str) -> tuple[str, str] | None:
    """Returns the stem of a word, and how people read it; None of a unit and of what says nothing by itself."""
    folded = fold_case(word)
    return None if folded in STOP_WORDS or unit_of(word, is_attached=False) else (stem(folded), folded)


def measure_recall(stated: Iterable[Stated], outputs: Sequence[str]) -> Kept:
    """Counts the values of an input that at least one of the outputs keeps with their subject."""
    told, given = _told(outputs), list(stated)
    missing = [one.label for one in given if not _is_told(one, told)]
    return Kept(len(given), len(given) - len(missing), tuple(missing[:_MOST_MISSING]))


def lost_parts(text: str, parts: Sequence[Sentence], outputs: Sequence[str]) -> list[Sentence]:
    """Returns the parts of an input that state a value which none of the outputs keeps with its subject."""
    told = _told(outputs)
    return [part for part, stated in _by_part(text, parts) if not all(_is_told(one, told) for one in stated)]


_Told = Mapping[tuple[str, str], Collection[frozenset[str]]]


def _told(outputs: Sequence[str]) -> _Told:
    """Returns the subjects of each value of some texts."""
    told: defaultdict[tuple[str, str], set[frozenset[str]]] = defaultdict(set)
    for output in outputs:
        for _, stated in _by_part(output, split_sentences(output)):
            for one in stated:
                told[meaning(one.value)].add(one.subject)
    return told


def _is_told(one: Stated, told: _Told) -> bool:
    needed = min(_ENOUGH, len(one.subject))
    return any(len(one.subject & subject) >= needed for subject in told.get(meaning(one.value), ()))
