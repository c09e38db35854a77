"""Numbers and dates of a text, as values that can be compared.

Numbers are read as they are written: "67 million", "76m", "five", "1,403", "$1.2bn", "20 per cent", "third". Dates are
read in parts, which are looked for one by one: years, months, days of the month, weekdays.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isclose
from typing import TypeVar

from pipeline.off_loop import stoppable
from pipeline.remember import remember_short


class Measure(StrEnum):
    """What a number counts. Only numbers of one measure are compared."""

    PLAIN = "plain"
    PERCENT = "percent"
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number.

    Attributes:
        start: first character.
        end: exclusive; magnitude ("million") and percent sign included.
        step: the smallest difference its writing can show: 1e6 for "67 million", 0.1 for "2.5".
        is_lower_bound: "more than 40", "over 40", "at least 40".
        is_approximate: "about 40", "nearly 40".
    """

    start: int
    end: int
    value: float
    measure: Measure
    step: float
    is_lower_bound: bool
    is_approximate: bool
    is_word: bool


_SMALL_LIST = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_TENS_NAMES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: value for value, word in enumerate(_SMALL_LIST.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_NAMES, start=2)}
_MAGNITUDES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0,
    "k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9, "tn": 1e12,
}  # fmt: skip
_ORDINAL_ONES = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_ONES.split(), start=1)}
_SMALL_WORD = "|".join(sorted((*_SMALL, *_TENS), key=len, reverse=True))
_MAGNITUDE_WORD = "hundred|thousand|million|billion|trillion|dozen"
_QUANTITY = re.compile(
    rf"""
    (?<![\w.,])(?:[$£€¥]\s?)?(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
        (?:(?P<nth>st|nd|rd|th)\b|[\s-]?(?P<scale>{_MAGNITUDE_WORD}|mn|bn|tn)s?\b|(?P<short>[kmb])(?![\w%]))?
    |\b(?P<words>(?:{_SMALL_WORD}|a(?=\s(?:{_MAGNITUDE_WORD}))|half\sa(?=\s(?:{_MAGNITUDE_WORD})))
        (?:(?:\s|-|\sand\s)(?:{_SMALL_WORD}|{_MAGNITUDE_WORD}))*)\b
    |\b(?P<ordinal>{"|".join(_ORDINALS)})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PERCENT = re.compile(r"\s?(?:%|per\s?cent\b|percentage points?\b)", re.IGNORECASE)
_LOWER_BOUND = re.compile(
    r"(?:more than|over|at least|upwards of|above|no (?:less|fewer) than)\s+(?:[$£€¥]\s?)?$", re.IGNORECASE
)
_APPROXIMATE = re.compile(
    r"(?:about|around|some|nearly|almost|roughly|approximately|close to|up to|circa|under|below|less than|fewer than|"
    r"just over|just under)\s+(?:[$£€¥]\s?)?$",
    re.IGNORECASE,
)
_LEAD_CHARS = 24
_LONGEST_REMEMBERED = 1000  # characters: claims and sentences, not whole sources
_APPROXIMATE_TOLERANCE, _BOUND_TOLERANCE = 0.1, 0.35


@remember_short(1 << 12, most_chars=_LONGEST_REMEMBERED)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Returns the numbers of a normalised text in order. Linear in its length."""
    found = []
    for match in stoppable(_QUANTITY.finditer(text)):
        value, step = _read(match)
        percent = _PERCENT.match(text, match.end())
        is_ordinal = bool(match["ordinal"] or match["nth"])
        measure = Measure.ORDINAL if is_ordinal else Measure.PERCENT if percent else Measure.PLAIN
        lead = text[max(0, match.start() - _LEAD_CHARS) : match.start()]
        found.append(
            Quantity(
                start=match.start(),
                end=percent.end() if percent else match.end(),
                value=value,
                measure=measure,
                step=step,
                is_lower_bound=bool(_LOWER_BOUND.search(lead)),
                is_approximate=bool(_APPROXIMATE.search(lead)),
                is_word=match["digits"] is None,
            )
        )
    return tuple(found)


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


def _read(match: re.Match[str]) -> tuple[float, float]:
    """Returns value and step of a number."""
    if match["ordinal"]:
        return float(_ORDINALS[match["ordinal"].lower()]), 1.0
    if match["words"]:
        return _read_words(match["words"].lower()), 1.0
    digits = match["digits"].replace(",", "")
    scale = _MAGNITUDES.get((match["scale"] or match["short"] or "").lower(), 1.0)
    decimals = len(digits.partition(".")[2])
    value = float(digits)
    # "67,000" may be rounded: its step is that of its last digit that is not 0. Years and ages keep theirs.
    zeros = len(digits) - len(digits.rstrip("0")) if not decimals and value >= 1_000 else 0  # noqa: PLR2004
    return value * scale, scale * 10.0 ** (zeros - decimals)


def _read_words(text: str) -> float:
    """Reads "two hundred and fifty thousand"; words that stand side by side without sense are added up."""
    total = current = 0.0
    for word in re.split(r"[\s-]+", text):
        if word in _SMALL or word in _TENS:
            current += _SMALL.get(word, _TENS.get(word, 0))
        elif word == "a":
            current = current or 1.0
        elif word == "half":
            current = 0.5
        elif word in _MAGNITUDES:
            current = (current or 1.0) * _MAGNITUDES[word]
            if _MAGNITUDES[word] >= 1e3:  # noqa: PLR2004
                total, current = total + current, 0.0
    return total + current


class DatePartKind(StrEnum):
    """What a part of a date is. Only parts of one kind compete."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    WEEKDAY = "weekday"


@dataclass(frozen=True, slots=True)
class DatePart:
    """A part of a date, such as "july" of "July 1, 1969".

    Attributes:
        start: first character.
        end: exclusive.
        value: 1 for January and for Monday.
    """

    start: int
    end: int
    kind: DatePartKind
    value: int


_MONTH_NAMES = "january february march april may june july august september october november december"
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_MONTHS = {name: index for index, name in enumerate(_MONTH_NAMES.split(), start=1)}
_MONTHS |= {name[:3]: index for name, index in _MONTHS.items()} | {"sept": 9}
_WEEKDAYS = {name: index for index, name in enumerate(_WEEKDAY_NAMES.split(), start=1)}
_PLAIN_MONTH = "|".join(name for name in _MONTH_NAMES.split() if name not in ("march", "may", "august"))
# "may" and "march" are verbs and "august" an adjective: months only beside a day, a year, or a word that dates.
_ABBREVIATED = "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec"
_MONTH = rf"(?:{_PLAIN_MONTH}|march|may|august|(?:{_ABBREVIATED})\.?)"
_COUNTED = (  # what follows a number that is no year: "2000 people"
    "people|men|women|children|workers|employees|staff|members|students|pupils|soldiers|troops|patients|residents|"
    "visitors|passengers|jobs|homes|houses|cars|vehicles|tickets|seats|votes|copies|deaths|cases|years|days|hours|"
    "times|euros?|dollars?|pounds?|met(?:re|er)s|kilomet(?:re|er)s|km|miles|feet|yards|acres|hectares|lit(?:re|er)s|"
    "kilograms?|kg|tons|tonnes|watts|calories"
)
_DATE = re.compile(
    rf"""
    \b(?P<month1>{_MONTH})\s(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s(?P<year1>[12]\d{{3}})\b)?
    |\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month2>{_MONTH})\b(?:,?\s(?P<year2>[12]\d{{3}})\b)?
    |\b(?P<month3>{_MONTH}),?\s(?P<year3>[12]\d{{3}})\b
    |\b(?:in|since|last|next|this|early|late|mid|until|by|from|every|of)[\s-](?P<month4>{_PLAIN_MONTH}|march|may|august)\b(?!,?\s\d)
    |\b(?P<month5>{_PLAIN_MONTH})\b
    |\b(?P<year6>[12]\d{{3}})-(?P<month6>0[1-9]|1[0-2])-(?P<day6>0[1-9]|[12]\d|3[01])\b
    |\b(?P<year5>1[5-9]\d\d|20\d\d)\b(?![,.]\d|\s?(?:%|per\s?cent))
        (?:(?<=\bin\s\d{{4}})|(?<=\bsince\s\d{{4}})|(?<=\buntil\s\d{{4}})|(?!\s(?:{_COUNTED})\b))
    |\b(?P<weekday>{_WEEKDAY_NAMES.replace(" ", "|")})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GROUPS = {"year": DatePartKind.YEAR, "month": DatePartKind.MONTH, "day": DatePartKind.DAY}
_LAST_DAY = 31


@remember_short(1 << 12, most_chars=_LONGEST_REMEMBERED)
def find_date_parts(text: str) -> tuple[DatePart, ...]:
    """Returns the parts of dates in a normalised text, in order. Linear in its length."""
    parts = []
    for match in stoppable(_DATE.finditer(text)):
        for group, found in match.groupdict().items():
            if found is None:
                continue
            kind = _GROUPS.get(group.rstrip("123456"), DatePartKind.WEEKDAY)
            value = _value(kind, found.lower().rstrip("."))
            if kind is not DatePartKind.DAY or 1 <= value <= _LAST_DAY:
                parts.append(DatePart(*match.span(group), kind, value))
    return tuple(sorted(parts, key=lambda part: part.start))


def _value(kind: DatePartKind, text: str) -> int:
    if kind is DatePartKind.MONTH:
        return _MONTHS[text] if text in _MONTHS else int(text)
    return _WEEKDAYS[text] if kind is DatePartKind.WEEKDAY else int(text)


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
