"""Numbers, their units, and dates of a text, as values that can be compared; everybody who reads one reads it here.

Numbers are read as they are written: "67 million", "76m", "five", "1,403", "$1.2bn", "20 per cent", "third". Digits may
have several readings: "1.403" is one thousand in German. Dates are read in parts, which are looked for one by one:
years, months, days of the month, weekdays.

Terms are what a reader of a manual would miss: numbers, units, versions, part numbers and names. Words are classified
one by one and remembered, since a manual repeats its words; only what stands side by side (a number and its unit, the
words of a name) is looked at in place. About 20 MB/s on one core.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from math import isclose, isnan, nan
from typing import NamedTuple, TypeVar

from pipeline.off_loop import stoppable
from pipeline.reading.passage import Span
from pipeline.reading.word_lists import NO_NAMES, any_of, phrase_list, word_list

_UNITS = {name: line.split()[0] for line in phrase_list("units") for name in line.split()}
_LONGEST_UNIT = 24
_EXPONENTS, _BEFORE_EXPONENTS = "¹²³23", "^-−"
_FACTORS, _PRODUCT = str.maketrans("·⋅*μ", "///µ"), str.maketrans("μ", "µ", "·⋅*")
_DEGREES = re.compile(r"(?:degrees?|°)\s?([CF]\b|[Cc]elsius|[Ff]ahrenheit)")


def unit_of(word: str, *, is_attached: bool) -> str | None:
    """Returns the unit that a word is, alone or composed ("N·m", "m/s²", "l/min"), in the spelling that is compared.

    Args:
        word: as it stands, without punctuation around it.
        is_attached: True if it touches the number before it.
    """
    if not word or len(word) > _LONGEST_UNIT:
        return None
    if word in _UNITS:
        return _UNITS[word] if is_attached or word not in word_list("units_only_attached") else None
    factors = word.translate(_FACTORS).split("/")
    is_unit = all(factor in _UNITS or _without_exponent(factor) in _UNITS for factor in factors)
    return word.translate(_PRODUCT) if is_unit else None


def _without_exponent(factor: str) -> str:
    base = factor.rstrip(_EXPONENTS)
    return base.rstrip(_BEFORE_EXPONENTS) if base != factor else factor


def plain_units(text: str) -> str:
    """Returns a text with units of two words as one: "20 degrees Celsius", "20 per cent"."""
    return _DEGREES.sub(lambda match: f"°{match[1][0].upper()}", text).replace("per cent", "percent")


class Measure(StrEnum):
    """What a number counts. Only numbers of one measure are compared."""

    PLAIN = "plain"
    PERCENT = "percent"
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True)
class Quantity(Span):
    """One number, from a sign of currency to its magnitude ("million") or percent sign.

    Attributes:
        unit_end: exclusive; the unit included as well.
        value: not a number where digits are a code's, as those of "1.2.3".
        step: the smallest difference its writing can show: 1e6 for "67 million", 0.1 for "2.5".
        is_lower_bound: "more than 40", "over 40", "at least 40".
        is_approximate: "about 40", "nearly 40".
        is_scaled: "4.2 million", not "4.2m", which may be metres.
        is_part: of a word, as the digits of "A380" and "1.2.3".
        readings: what its digits may mean, "5" for "05" and "5.0"; the likeliest in English first.
        unit: in the spelling that is compared; None without any.
    """

    unit_end: int
    value: float
    measure: Measure
    step: float
    is_lower_bound: bool
    is_approximate: bool
    is_negative: bool
    is_word: bool
    is_scaled: bool
    is_part: bool
    readings: tuple[str, ...]
    unit: str | None


def _numbers_of(name: str) -> dict[str, float]:
    return {word: float(value) for word, value in map(str.split, phrase_list(name))}


_NUMBER_WORDS, _ORDINALS = _numbers_of("number_words"), _numbers_of("ordinals")
_MAGNITUDES = _numbers_of("magnitudes")
_SCALES = _MAGNITUDES | _numbers_of("short_magnitudes")
_SMALL, _MAGNITUDE = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True)), "|".join(_MAGNITUDES)
_CURRENCY = r"(?:[$£€¥]\s?)?"
_QUANTITY = re.compile(
    rf"""
    {_CURRENCY}(?<!\d)(?P<digits>\d+(?:[.,]\d+)*)
        (?:(?P<nth>st|nd|rd|th)\b|[\s-]?(?P<scale>{_MAGNITUDE}|mn|bn|tn)s?\b|(?P<short>[kmb])(?![\w%]))?
    |\b(?P<words>(?:{_SMALL}|a(?=\s(?:{_MAGNITUDE}))|half\sa(?=\s(?:{_MAGNITUDE})))
        (?:(?:\s|-|\sand\s)(?:{_SMALL}|{_MAGNITUDE}))*)\b
    |\b(?P<ordinal>{"|".join(_ORDINALS)})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PERCENT = re.compile(r"\s?(?:%|per\s?cent\b|percentage points?\b)", re.IGNORECASE)
_UNIT = re.compile(r"(\s?-?)([^\s\d,;:()\[\]{}|.!?\"“”–—]{1,24})")
_MINUS, _BEFORE_MINUS = ("-", "−", "–"), "(=:~|"
_LOWER_BOUND = re.compile(rf"{any_of('lower_bounds')}\s+{_CURRENCY}$", re.IGNORECASE)
_APPROXIMATE = re.compile(rf"{any_of('approximations')}\s+{_CURRENCY}$", re.IGNORECASE)
_LEAD_CHARS = 24
_LONGEST_REMEMBERED = 1000  # characters: claims and sentences, not whole sources, for a cache counts no bytes
_APPROXIMATE_TOLERANCE, _BOUND_TOLERANCE = 0.1, 0.35
_LONGEST_NUMBER, _MOST_ZEROS, _GROUP = 40, 300, 3  # digits
_SHORTEST_LIST = 3


def find_numbers(text: str) -> tuple[Quantity, ...]:
    """Returns all numbers of a normalised text in order, those inside codes too. Linear in its length."""
    return _remembered_numbers(text) if len(text) <= _LONGEST_REMEMBERED else _numbers(text)


def _numbers(text: str) -> tuple[Quantity, ...]:
    return tuple(number for match in stoppable(_QUANTITY.finditer(text)) for number in _read(text, match))


_remembered_numbers = lru_cache(1 << 12)(_numbers)


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Returns the numbers of a normalised text that count or order something, in order. Linear in its length."""
    return tuple(number for number in find_numbers(text) if not number.is_part)


def agree(claimed: Quantity, stated: Quantity) -> bool:
    """Tells whether the claimed number may stand for the stated one: equal, rounded, or bounded by words."""
    if claimed.measure is not stated.measure:
        return False
    coarser = max(claimed.step, stated.step)
    if isclose(claimed.value, stated.value, rel_tol=1e-9) or (
        claimed.step > stated.step and abs(claimed.value - stated.value) <= coarser / 2
    ):
        return True
    if claimed.is_lower_bound or stated.is_lower_bound:
        low, high = (claimed.value, stated.value) if claimed.is_lower_bound else (stated.value, claimed.value)
        return low <= high <= low * (1 + _BOUND_TOLERANCE)
    if claimed.is_approximate or stated.is_approximate:
        return isclose(claimed.value, stated.value, rel_tol=_APPROXIMATE_TOLERANCE)
    return False


def _read(text: str, match: re.Match[str]) -> Iterator[Quantity]:
    """Yields the number that a match is, or each of a list such as "0,2,4"."""
    at, digits = match.start("digits"), match["digits"] or ""
    groups = digits.split(",")
    if len(groups) < _SHORTEST_LIST or "." in digits or _is_grouped(groups):
        yield _quantity(text, match, digits, match.span())
        return
    for group in groups:
        yield _quantity(text, match, group, (at, at + len(group)))
        at += len(group) + 1


def _quantity(text: str, match: re.Match[str], digits: str, span: tuple[int, int]) -> Quantity:
    start, end = span
    first = max(start, match.start("digits"))
    before, lead = text[max(0, first - 2) : first], text[max(0, start - _LEAD_CHARS) : start]
    percent = _PERCENT.match(text, end)
    is_ordinal = bool(match["ordinal"] or match["nth"])
    value, step, readings = _read_digits(digits, match) if digits else _read_words(match)
    unit, unit_end = _unit_behind(text, first + len(digits)) if digits else (None, end)
    return Quantity(
        start=start,
        end=percent.end() if percent else end,
        unit_end=max(end, unit_end),
        value=value,
        measure=Measure.ORDINAL if is_ordinal else Measure.PERCENT if percent else Measure.PLAIN,
        step=step,
        is_lower_bound=bool(_LOWER_BOUND.search(lead)),
        is_approximate=bool(_APPROXIMATE.search(lead)),
        is_negative=bool(digits) and _is_minus(before),
        is_word=not digits,
        is_scaled=bool(match["scale"]),
        is_part=bool(digits) and (isnan(value) or _is_inside(text, match.start("digits"))),
        readings=readings,
        unit=unit,
    )


def _is_minus(before: str) -> bool:
    """Tells whether the two characters before digits are a sign, and no dash between words."""
    return before.endswith(_MINUS) and (len(before) == 1 or before[0].isspace() or before[0] in _BEFORE_MINUS)


def _is_inside(text: str, at: int) -> bool:
    """Tells whether digits go on with a word or a number."""
    before = text[max(0, at - 1) : at]
    return before.isalnum() or before in {"_", ".", ","}


def _unit_behind(text: str, end: int) -> tuple[str | None, int]:
    """Returns the unit behind a number, and where it ends."""
    behind = _UNIT.match(text, end)
    unit = unit_of(behind[2], is_attached=not behind[1]) if behind else None
    return unit, behind.end() if behind and unit else end


def _read_digits(digits: str, match: re.Match[str]) -> tuple[float, float, tuple[str, ...]]:
    """Returns value, step and readings of digits."""
    found = _readings(digits)
    readings = tuple(map(exact, found))
    number = found[0]
    if "," in number or number.count(".") > 1:
        return nan, 1.0, readings
    scale = _SCALES[(match["scale"] or match["short"]).lower()] if match["scale"] or match["short"] else 1.0
    decimals, value = len(number.partition(".")[2]), float(number)
    # "67,000" may be rounded: its step is that of its last digit that is not 0. Years and ages keep theirs.
    zeros = len(number) - len(number.rstrip("0")) if not decimals and value >= 1_000 else 0  # noqa: PLR2004
    return value * scale, scale * 10.0 ** (min(zeros, _MOST_ZEROS) - decimals), readings


def _readings(digits: str) -> list[str]:
    """Returns what digits with points and commas may stand for, the likeliest in English first."""
    groups = digits.replace(",", ".").split(".")
    separators = [character for character in digits if character in ".,"]
    found = ["".join(groups)] if _is_grouped(groups) else []
    if separators and separators.count(separators[-1]) == 1:
        found.insert(0 if separators[-1] == "." else 1, f"{''.join(groups[:-1])}.{groups[-1]}")
    return found or [digits]


def _is_grouped(groups: list[str]) -> bool:
    """Tells whether digits stand in thousands."""
    return len(groups[0]) <= _GROUP and all(len(group) == _GROUP for group in groups[1:])


def exact(value: float | str) -> str:
    """Returns a number as readings have it: "5" for "05" and "5.0"; what is no number, such as "1.2.3", as it is."""
    digits = str(value)
    if len(digits) > _LONGEST_NUMBER or digits.count(".") > 1 or "," in digits:
        return digits
    return f"{Decimal(digits).normalize():f}"


def _read_words(match: re.Match[str]) -> tuple[float, float, tuple[str, ...]]:
    """Reads "two hundred and fifty thousand"; words that stand side by side without sense are added up."""
    if match["ordinal"]:
        value = _ORDINALS[match["ordinal"].lower()]
        return value, 1.0, (exact(value),)
    total = current = 0.0
    for word in match["words"].lower().replace("-", " ").split():
        if word in _NUMBER_WORDS:
            current += _NUMBER_WORDS[word]
        elif word == "a":
            current = current or 1.0
        elif word == "half":
            current = 0.5
        elif word in _MAGNITUDES:
            current = (current or 1.0) * _MAGNITUDES[word]
            if _MAGNITUDES[word] >= 1e3:  # noqa: PLR2004
                total, current = total + current, 0.0
    return total + current, 1.0, (exact(total + current),)


class DatePartKind(StrEnum):
    """What a part of a date is. Only parts of one kind compete."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    WEEKDAY = "weekday"


@dataclass(frozen=True, slots=True)
class DatePart(Span):
    """A part of a date, such as "july" of "July 1, 1969"; its value is 1 for January and for Monday."""

    kind: DatePartKind
    value: int


_MONTHS = {name: index for index, line in enumerate(phrase_list("months"), start=1) for name in line.split()}
_WEEKDAYS = {name: index for index, name in enumerate(phrase_list("weekdays"), start=1)}
# "may" and "march" are verbs and "august" an adjective: months only beside a day, a year, or a word that dates.
_VERBS = tuple(phrase_list("months_that_are_words"))
_PLAIN_MONTH = "|".join(name for line in phrase_list("months") if (name := line.split()[0]) not in _VERBS)
_NAMED_MONTH = f"(?:{_PLAIN_MONTH}|{'|'.join(_VERBS)})"
_MONTH = (
    rf"(?:{_NAMED_MONTH}|(?:{'|'.join(name for line in phrase_list('months') for name in line.split()[1:])}|may)\.?)"
)
_DATE = re.compile(
    rf"""
    \b(?P<month1>{_MONTH})\s(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s(?P<year1>[12]\d{{3}})\b)?
    |\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month2>{_MONTH})\b(?:,?\s(?P<year2>[12]\d{{3}})\b)?
    |\b(?P<month3>{_MONTH}),?\s(?P<year3>[12]\d{{3}})\b
    |\b{any_of("before_months")}[\s-](?P<month4>{_NAMED_MONTH})\b(?!,?\s\d)
    |\b(?P<month5>{_PLAIN_MONTH})\b
    |\b(?P<year6>[12]\d{{3}})-(?P<month6>0[1-9]|1[0-2])-(?P<day6>0[1-9]|[12]\d|3[01])\b
    |\b(?P<year5>1[5-9]\d\d|20\d\d)\b(?![,.]\d|\s?(?:%|per\s?cent))
        (?:(?<=\bin\s\d{{4}})|(?<=\bsince\s\d{{4}})|(?<=\buntil\s\d{{4}})|(?!\s{any_of("counted_things")}\b))
    |\b(?P<weekday>{"|".join(_WEEKDAYS)})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GROUPS = {"year": DatePartKind.YEAR, "month": DatePartKind.MONTH, "day": DatePartKind.DAY}
_LAST_DAY = 31


def find_date_parts(text: str) -> tuple[DatePart, ...]:
    """Returns the parts of dates in a normalised text, in order. Linear in its length."""
    return _remembered_date_parts(text) if len(text) <= _LONGEST_REMEMBERED else _date_parts(text)


def _date_parts(text: str) -> tuple[DatePart, ...]:
    parts = []
    for match in stoppable(_DATE.finditer(text)):
        for group, found in match.groupdict().items():
            if found is None:
                continue
            kind = _GROUPS.get(group.rstrip("123456"), DatePartKind.WEEKDAY)
            name = found.lower().rstrip(".")
            value = int(name) if name.isdigit() else (_MONTHS | _WEEKDAYS)[name]
            if kind is not DatePartKind.DAY or 1 <= value <= _LAST_DAY:
                parts.append(DatePart(*match.span(group), kind, value))
    return tuple(sorted(parts, key=lambda part: part.start))


_remembered_date_parts = lru_cache(1 << 12)(_date_parts)


Day = tuple[int | None, int | None, int | None]
"""Year, month, day; None where one is not said."""
_NUMERIC_DATE = re.compile(
    r"(?<![\d.])(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}))(?![\d])"
)
_BETWEEN_PARTS = 6  # characters: "1st of May, 2024"


def find_days(text: str) -> dict[tuple[int, int], frozenset[Day]]:
    """Returns the places of dates with what they may mean: "3/4/2024" is in March or in April."""
    days: dict[tuple[int, int], frozenset[Day]] = {}
    for match in _NUMERIC_DATE.finditer(text):
        if match[1]:
            days[match.span()] = frozenset({(int(match[1]), int(match[3]), int(match[4]))})
        else:
            year, one, other = int(match[8]), int(match[5]), int(match[7])
            days[match.span()] = frozenset({(year, one, other), (year, other, one)})
    group: dict[DatePartKind, int] = {}
    start = end = 0
    for part in (*find_date_parts(text), None):
        if part and group and part.start - end <= _BETWEEN_PARTS and part.kind not in group:
            group[part.kind], end = part.value, part.end
            continue
        if DatePartKind.MONTH in group:
            day = group.get(DatePartKind.YEAR), group[DatePartKind.MONTH], group.get(DatePartKind.DAY)
            days[start, end] = frozenset({day})
        if part:
            group, start, end = {part.kind: part.value}, part.start, part.end
    return days


Placed = TypeVar("Placed", Quantity, DatePart)

_PRONOUN = "one"


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Numbers and parts of dates, each in order; a number inside a date is no number of its own."""

    quantities: tuple[Quantity, ...]
    date_parts: tuple[DatePart, ...]

    @classmethod
    def of(cls, text: str) -> "Values":
        """Reads a normalised text. Linear in its length."""
        parts = find_date_parts(text)
        starts = [part.start for part in parts]
        quantities = tuple(
            quantity
            for quantity in stoppable(find_quantities(text))
            if not _covers(parts, starts, quantity) and text[quantity.start : quantity.end].lower() != _PRONOUN
        )
        return cls(quantities, parts)

    def between(self, start: int, end: int) -> "Values":
        """Returns what begins at `start` or after it, and before `end`."""
        return Values(_slice(self.quantities, start, end), _slice(self.date_parts, start, end))


def _covers(parts: Sequence[DatePart], starts: Sequence[int], quantity: Quantity) -> bool:
    index = bisect_left(starts, quantity.start)
    return index < len(parts) and parts[index].start < quantity.end


def _slice(items: tuple[Placed, ...], start: int, end: int) -> tuple[Placed, ...]:
    starts = [item.start for item in items]
    return items[bisect_left(starts, start) : bisect_left(starts, end)]


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
    if kind in {"", "path", "part_number"} and (quantity := _measured(core)):
        return quantity
    if kind:
        return (Term(TermKind.PATH if kind == "address" else TermKind(kind), core.lower()),), None
    numbers = dict.fromkeys(_THOUSANDS.sub("", match.group()) for match in _INNER_NUMBER.finditer(core))
    return tuple(Term(TermKind.NUMBER, number) for number in numbers), None


def _measured(core: str) -> tuple[tuple[Term, ...], str | None] | None:
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
