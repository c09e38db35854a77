"""The values of an input, exactly: numbers with their units, dates, codes and names. Does it have those of a sentence?

"1,403" and "1403", "5.0" and "5", "5 mm", "5mm" and "5 millimetres", "1 May 2024" and "2024-05-01" are the same. There
is no arithmetic: a sum or a converted unit is a value that the input does not have.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipeline.reading.values import (
    Day,
    Measure,
    Quantity,
    TermKind,
    exact,
    find_days,
    find_numbers,
    find_terms,
    plain_units,
    unit_of,
)
from pipeline.reading.word_lists import FUNCTION_WORDS
from pipeline.reading.word_table import stem
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.retention import Mentions

_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d])")
_COUNTED_BY_HAND = 3  # "both", "two pumps": writers count what the input lists


@dataclass(slots=True)
class KnownNumbers:
    """The numbers, units and dates of an input."""

    numbers: set[str] = field(default_factory=set)
    amounts: set[tuple[str, str]] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    units: set[str] = field(default_factory=set)
    negatives: set[str] = field(default_factory=set)
    days: set[Day] = field(default_factory=set)

    @classmethod
    def of(cls, text: str) -> "KnownNumbers":
        """Reads an input. Linear in its length."""
        known, line = cls(), plain_units(text)
        for number in find_numbers(line):
            known.numbers.update(number.readings)
            if not number.is_part:
                known.numbers.add(exact(number.value))
            if number.unit:
                known.amounts.update((reading, number.unit) for reading in number.readings)
            elif not number.is_word:
                known.bare.update(number.readings)
            if number.is_negative:
                known.negatives.update(number.readings)
        known.numbers.update(exact(match.group().replace(" ", "")) for match in _SPACED.finditer(line))
        known.bare |= known.numbers - {number for number, _ in known.amounts}
        words = {word.strip(".,;:()[]|*\"'") for word in line.split()}
        known.units = {unit for _, unit in known.amounts} | {unit_of(word, is_attached=True) or word for word in words}
        known.days = {day for days in find_days(line).values() for day in days}
        return known

    def faults(self, text: str) -> Iterator[tuple[FaultKind, str]]:
        """Yields the numbers, units and dates of a sentence that the input does not have."""
        line = plain_units(text)
        days = find_days(line)
        for (start, end), meant in days.items():
            if not any(self._has_day(day) for day in meant):
                yield FaultKind.DATE, line[start:end]
        spaced = [match.span() for match in _SPACED.finditer(line)]
        for start, end in spaced:
            parts = line[start:end].split()
            if not (exact("".join(parts)) in self.numbers or self.numbers.issuperset(map(exact, parts))):
                yield FaultKind.NUMBER, line[start:end]
        for number in find_numbers(line):
            is_dated = any(start <= number.start < end for start, end in (*days, *spaced))
            if fault := None if is_dated and not number.is_word else self._fault(number):
                yield fault, line[number.start : number.unit_end]

    def _fault(self, number: Quantity) -> FaultKind | None:
        if number.is_word:
            is_read = number.measure is Measure.ORDINAL or number.value <= _COUNTED_BY_HAND
            return None if is_read or exact(number.value) in self.numbers else FaultKind.NUMBER
        if self.numbers.isdisjoint(number.readings):
            return FaultKind.NUMBER
        if number.is_scaled and exact(number.value) not in self.numbers:
            return FaultKind.NUMBER
        if number.is_negative and self.negatives.isdisjoint(number.readings):
            return FaultKind.NUMBER
        if number.unit is None or any((reading, number.unit) in self.amounts for reading in number.readings):
            return None
        may_be_column = not self.bare.isdisjoint(number.readings) and number.unit in self.units  # it is in its head
        return None if may_be_column else FaultKind.UNIT

    def _has_day(self, day: Day) -> bool:
        return any(
            all(mine is None or mine == theirs for mine, theirs in zip(day, known, strict=True)) for known in self.days
        )


_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"))
_EMPHASIS = re.compile(r"\*+|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_BETWEEN_PIECES = str.maketrans(dict.fromkeys("/,;|()[]{}<>=\"'“”‘’`:", " "))
_WORD = re.compile(r"[^\W_]+")
_CODES = {TermKind.VERSION, TermKind.PART_NUMBER, TermKind.PATH, TermKind.COMMAND}
_LEAST_KNOWN = 0.5  # of a name's words: writers add "Mr" and "Street"


def comparable(text: str) -> str:
    """Returns a text with one kind of dash and without emphasis, as codes and names are looked for."""
    return _EMPHASIS.sub("", text.translate(_DASHES))


@dataclass(frozen=True, slots=True, eq=False)
class InputWords:
    """The words of an input.

    Attributes:
        mentions: its terms and words.
        pieces: what its words are made of: "P-1" and "P-2" of "P-1/P-2".
        stems: of its words.
        initials: of runs of its words.
    """

    mentions: Mentions
    pieces: frozenset[str]
    stems: frozenset[str]
    initials: str

    @classmethod
    def of(cls, text: str) -> "InputWords":
        """Reads an input. Linear in its length."""
        line = comparable(text)
        mentions = Mentions.of(line)
        pieces = frozenset(_pieces(line))
        words = _WORD.findall(line.lower())
        return cls(mentions, pieces, frozenset(map(stem, {*words, *pieces})), "".join(word[0] for word in words))

    def faults(self, text: str, *, with_names: bool) -> Iterator[tuple[FaultKind, str]]:
        """Yields the codes and names of a sentence that the input does not have."""
        line = comparable(text)
        for term in find_terms(line):
            if term.kind in _CODES and not self.has_code(term.text):
                yield FaultKind.CODE, term.text
            elif term.kind is TermKind.ENTITY and with_names and not self._has_name(term.text):
                yield FaultKind.NAME, term.text

    def has_code(self, code: str) -> bool:
        """Tells whether the input has a code, or all that it is made of."""
        if any((kind, code) in self.mentions.terms for kind in TermKind) or self.mentions.says(code):
            return True
        pieces = list(_pieces(code))
        return all(piece in self.pieces for piece in pieces) if pieces else True

    def _has_name(self, name: str) -> bool:
        words = [word for word in _WORD.findall(name) if word not in FUNCTION_WORDS]
        known = sum(stem(word) in self.stems or self._is_initials(word) for word in words)
        return known >= _LEAST_KNOWN * len(words)

    def _is_initials(self, word: str) -> bool:
        return 3 <= len(word) <= 6 and word in self.initials  # noqa: PLR2004 - NATO; shorter ones are there by chance


def _pieces(text: str) -> Iterator[str]:
    pieces = (piece.strip(".!?*_-") for piece in text.lower().translate(_BETWEEN_PIECES).split())
    return filter(None, pieces)
