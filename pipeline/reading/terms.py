"""Extracts the technical terms whose loss a reader would notice: numbers, units, versions, part numbers and names.

Words are classified one by one and remembered, since a manual repeats its words; only what stands side by side (a
number and its unit, the words of a name) is looked at in place. About 20 MB/s on one core.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from pipeline.reading.function_words import NO_NAMES
from pipeline.reading.values import unit_of


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
    """One term in the form that is compared, so that "5 mm", "5mm" and "**5** mm" are the same.

    Attributes:
        text: in lower case but for units; numbers without thousands separators.
    """

    kind: TermKind
    text: str


class _Word(NamedTuple):
    """What a word says by itself.

    Attributes:
        number: the number that it is, which a unit may follow; None if it is none.
        is_acronym: two capital letters or more.
        opens: punctuation before it that separates it from the word before.
        closes: punctuation after it that separates it from the next word.
        ends_sentence: the next word begins a sentence, and its capital letter says nothing.
        says_nothing: it is none of all that, as most words are.
    """

    core: str
    terms: tuple[Term, ...]
    number: str | None
    is_name: bool
    is_acronym: bool
    opens: bool
    closes: bool
    ends_sentence: bool
    says_nothing: bool


_OPENING = '([{<"“‘„«|'
_CLOSING = '.,;:!?)]}>"”’»|…'
_ENDING = ".:!?|…"
_EDGES = ".,;:!?()[]{}<>\"'“”‘’„«»*_`|…"
_MOST_NAME_WORDS = 5
_LONGEST_WORD = 200
_CODE = re.compile(r"`([^`\n]{2,120})`")
_NUMBER = re.compile(r"[-+−±~≈<>≤≥=$€£]*(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(.*)", re.DOTALL)
_INNER_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")
# The first that matches a whole word says what it is; a path and a part number only what is no quantity. Paths are URLs
# and paths with a beginning, mail addresses, files or hosts, and paths without a beginning that are no dates.
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
    begins_sentence = True
    number: str | None = None
    for word in map(_classify, line.split()):
        if word.says_nothing and number is None and not name:
            begins_sentence = False
            continue
        if number is not None and not word.opens and unit_of(word.core, is_attached=False):
            terms[Term(TermKind.UNIT, f"{number} {word.core}")] = None
            is_name, number = False, None  # "PSI" is no name here
        else:
            for term in word.terms:
                terms[term] = None
            is_name, number = word.is_name, None if word.closes else word.number
        if name and (word.opens or not is_name):
            _add_name(name, terms)
            name = []
        if is_name and not is_heading and (word.is_acronym or not begins_sentence):
            name.append(word.core)
        if name and word.closes:
            _add_name(name, terms)
            name = []
        begins_sentence = word.ends_sentence or (begins_sentence and not word.core)  # after a list mark too
    if name:
        _add_name(name, terms)


def _add_name(words: list[str], terms: dict[Term, None]) -> None:
    """Adds the name that capitalised neighbours form, if it is one."""
    if len(words) == 1 and words[0].lower() in NO_NAMES:
        return
    for start in range(0, len(words), _MOST_NAME_WORDS):
        terms[Term(TermKind.ENTITY, " ".join(words[start : start + _MOST_NAME_WORDS]).lower())] = None


@lru_cache(maxsize=1 << 15)
def _classify(raw: str) -> _Word:
    core = raw.strip(_EDGES)
    for possessive in ("'s", "’s"):
        core = core.removesuffix(possessive)
    start = raw.find(core) if core else 0
    before, after = raw[:start], raw[start + len(core) :]
    if core and after.startswith(")") and "(" in core:  # apt(8)
        core, after = core + ")", after[1:]
    may_be_term = not core.isalpha() and len(core) <= _LONGEST_WORD  # no pattern of a term matches letters alone
    terms, number = _terms_of(core) if may_be_term else ((), None)
    is_capital = core[:1].isupper() and not terms
    is_acronym = is_capital and bool(_ACRONYM.fullmatch(core))
    is_name = is_acronym or (is_capital and len(core) > 1)
    opens = any(character in _OPENING for character in before)
    closes = any(character in _CLOSING for character in after)
    ends_sentence = any(character in _ENDING for character in after) or (not core and raw not in "—–&")
    says_nothing = bool(core) and not (terms or is_name or opens or closes or ends_sentence)
    return _Word(core, terms, number, is_name, is_acronym, opens, closes, ends_sentence, says_nothing)


def _terms_of(core: str) -> tuple[tuple[Term, ...], str | None]:
    """Returns the terms that one word is, and the number that may go on with a unit in the next word."""
    found = _TERM.fullmatch(core)
    kind = str(found.lastgroup) if found else ""
    if kind in {"", "path", "part_number"} and (quantity := _quantity(core)):
        return quantity
    if kind:
        return (Term(TermKind.PATH if kind == "address" else TermKind(kind), core.lower()),), None
    numbers = dict.fromkeys(_THOUSANDS.sub("", match.group()) for match in _INNER_NUMBER.finditer(core))
    return tuple(Term(TermKind.NUMBER, number) for number in numbers), None


def _quantity(core: str) -> tuple[tuple[Term, ...], str | None] | None:
    """Reads "1,403", "-5", "10mm" and "95%"; None for anything else."""
    match = _NUMBER.fullmatch(core)
    if not match:
        return None
    number = _THOUSANDS.sub("", match.group(1))
    rest = match.group(2).strip("-–*_")
    term = Term(TermKind.NUMBER, number)
    if not rest:
        return (term,), number
    if unit_of(rest, is_attached=True):
        return (term, Term(TermKind.UNIT, f"{number} {rest}")), None
    return None
