"""Terms of a text: what a reader of a manual would miss, as numbers, units, versions, part numbers and names.

About 10 MB/s a core.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from pipeline.reading.values import Quantity, find_values, readings
from pipeline.reading.word_lists import NO_NAMES


class TermKind(StrEnum):
    """What a term is. The values are the words of responses, reports and logs."""

    NUMBER = "number"
    UNIT = "unit"  # a number with its unit
    VERSION = "version"
    PART_NUMBER = "part_number"  # letters and digits mixed: part numbers, standards, model names
    PATH = "path"  # files, URLs, hosts, addresses
    COMMAND = "command"  # options, functions, manual pages, what stands in `code`
    ENTITY = "entity"  # names and acronyms

    __hash__ = str.__hash__  # Enum's own is written in Python, and every lookup of a term calls it


class Term(NamedTuple):
    """One term in the form that is compared, so that "5 mm", "5mm" and "**5** mm" are the same."""

    kind: TermKind
    text: str  # in lower case but for units; numbers without thousands separators


class _Word(NamedTuple):
    """What a word says by itself."""

    core: str  # without punctuation around it
    terms: tuple[Term, ...]
    is_name: bool
    is_acronym: bool  # two capital letters or more
    opens: bool  # punctuation before it that separates it from the word before
    closes: bool  # punctuation after it that separates it from the next word
    ends_sentence: bool  # the next word begins a sentence, and its capital letter says nothing


_OPENING = '([{<"“‘„«|'
_CLOSING = '.,;:!?)]}>"”’»|…'
_ENDING = ".:!?|…"
_EDGES = ".,;:!?()[]{}<>\"'“”‘’„«»*_`|…"
_LONGEST_WORD, _MOST_NAME_WORDS, _MOST_VALUE_WORDS = 200, 5, 6
_CODE = re.compile(r"`([^`\n]{2,120})`")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# The first that matches a whole word says what it is; a path and a part number only what is no quantity. Paths are
# addresses, URLs and paths with a beginning, mail addresses, files or hosts, and paths without a beginning that are no
# dates.
_TERM = re.compile(
    r"""
    (?P<address>(?=.*\d)(?i:\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?|[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,7}(?:/\d+)?))
    |(?P<version>(?i:v\d+(?:\.\d+)*(?:[-+~][\w.~+-]+)?
        |\d+(?:\.\d+){2,}(?:[-+~_:]?[a-z][\w.~+-]*|[-+~][\w.~+-]+)?))
    |(?P<command>--?[a-z][\w-]*(?:=\S+)?|-[A-Za-z]|[A-Za-z][\w.:-]*\(\d?\)|[A-Za-z]\w*(?:_\w+)+|\$\w+)
    |(?P<path>(?:[a-z][\w+.-]*://|~?/|\.{1,2}/|[A-Za-z]:\\)\S+
        |[\w.+-]+@[\w-]+(?:\.[\w-]+)+
        |[\w+~-]+(?:[./][\w+~-]+)*\.[a-z]{2,6}\d?
        |(?![\d/.-]+$)\w[\w.-]*(?:/[\w.*+-]+){2,})
    |(?P<part_number>(?!\d+(?:st|nd|rd|th|s|x)$)(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])
        [A-Za-z0-9]+(?:[-./_+:#][A-Za-z0-9]+)*)
    """,
    re.VERBOSE,
)
_ACRONYM = re.compile(r"(?:[A-Z]{2,}[A-Z0-9&+/-]*|(?:[A-Z]\.){2,})s?")


def find_terms(text: str) -> dict[Term, None]:
    """Returns the distinct terms of a text in the order in which they first stand there. Linear in its length."""
    terms: dict[Term, None] = {}
    for line in text.splitlines():
        _read_line(line, terms)
    for match in _CODE.finditer(text):
        code = " ".join(match.group(1).split()).lower()
        if not any(Term(kind, code) in terms for kind in TermKind):
            terms[Term(TermKind.COMMAND, code)] = None
    return terms


def fold_words(text: str) -> list[str]:
    """Returns the words of a text as terms hold them: without punctuation around them, in lower case."""
    return [word.strip(_EDGES) for word in text.lower().split()]


def _read_line(line: str, terms: dict[Term, None]) -> None:
    """Adds the terms of one line; names never cross lines."""
    is_heading = line.lstrip().startswith("#")
    name: list[str] = []
    begins_sentence, after_unit = True, 0
    words = [_classify(raw) for raw in line.split()]
    for at, word in enumerate(words):
        is_unit = at < after_unit  # "PSI" is no name behind a number
        if not is_unit and word.terms:
            found, count = _measured(words[at : at + _MOST_VALUE_WORDS])
            terms.update(dict.fromkeys(found))
            after_unit = at + count
        if name and (word.opens or is_unit or not word.is_name):
            _end_name(name, terms)
        if word.is_name and not (is_heading or is_unit) and (word.is_acronym or not begins_sentence):
            name.append(word.core)
        if name and word.closes:
            _end_name(name, terms)
        begins_sentence = word.ends_sentence or (begins_sentence and not word.core)  # after a list mark too
    _end_name(name, terms)


def _end_name(words: list[str], terms: dict[Term, None]) -> None:
    """Adds the name that capitalised neighbours form, if it is one; the next one begins without words."""
    if len(words) != 1 or words[0].lower() not in NO_NAMES:
        for start in range(0, len(words), _MOST_NAME_WORDS):
            terms[Term(TermKind.ENTITY, " ".join(words[start : start + _MOST_NAME_WORDS]).lower())] = None
    words.clear()


@lru_cache(maxsize=1 << 15)
def _classify(raw: str) -> _Word:
    core = raw.strip(_EDGES).removesuffix("'s").removesuffix("’s")
    before, _, after = raw.partition(core) if core else (raw, "", "")
    if core and after.startswith(")") and "(" in core:  # apt(8)
        core, after = core + ")", after[1:]
    may_be_term = not core.isalpha() and len(core) <= _LONGEST_WORD  # no pattern of a term matches letters alone
    terms = _terms_of(core) if may_be_term else ()
    is_capital = core[:1].isupper() and not terms
    is_acronym = is_capital and bool(_ACRONYM.fullmatch(core))
    is_name = is_acronym or (is_capital and len(core) > 1)
    opens, closes = not set(before).isdisjoint(_OPENING), not set(after).isdisjoint(_CLOSING)
    ends_sentence = not set(after).isdisjoint(_ENDING) or (not core and raw not in "—–&")
    return _Word(core, terms, is_name, is_acronym, opens, closes, ends_sentence)


def _terms_of(core: str) -> tuple[Term, ...]:
    """Returns the terms that one word is by its letters: a code, or the numbers in it."""
    if found := _TERM.fullmatch(core):
        kind = str(found.lastgroup)
        return (Term(TermKind.PATH if kind == "address" else TermKind(kind), core.lower()),)
    return tuple(Term(TermKind.NUMBER, number) for number in dict.fromkeys(map(_bare, _NUMBER.findall(core))))


def _measured(words: Sequence[_Word]) -> tuple[tuple[Term, ...], int]:
    """Returns the terms of the first word, with the unit that stands in it or behind it, and of how many words."""
    first, digits = words[0], _NUMBER.search(words[0].core)
    if digits and not any(map(str.isalnum, first.core[: digits.start()])):
        parted = (at for at in range(1, len(words)) if words[at - 1].closes or words[at].opens)
        text = " ".join(word.core for word in words[: next(parted, None)])
        for value in find_values(text)[:1] if len(text) > digits.end() else ():
            number, unit = _bare(digits[0]), text[digits.end() : value.unit_end].strip(" -")
            is_whole = value.start == digits.start() and value.unit_end >= len(first.core)
            if unit and is_whole and isinstance(value, Quantity) and value.is_measured:
                terms = Term(TermKind.NUMBER, number), Term(TermKind.UNIT, f"{number} {unit}")
                return terms, text.count(" ", 0, value.unit_end) + 1
    return first.terms, 1


def _bare(number: str) -> str:
    """Returns a number without what parts its thousands."""
    return next(iter(readings(number)), number)
