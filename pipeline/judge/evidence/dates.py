"""Parts of dates: years, months, days of the month, weekdays. A claim's parts are looked for one by one."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


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
        kind: what it is.
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
_DATE = re.compile(
    rf"""
    \b(?P<month1>{_MONTH})\s(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s(?P<year1>[12]\d{{3}})\b)?
    |\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month2>{_MONTH})\b(?:,?\s(?P<year2>[12]\d{{3}})\b)?
    |\b(?P<month3>{_MONTH}),?\s(?P<year3>[12]\d{{3}})\b
    |\b(?:in|since|last|next|this|early|late|mid|until|by|from|every|of)[\s-](?P<month4>{_PLAIN_MONTH}|march|may|august)\b(?!,?\s\d)
    |\b(?P<month5>{_PLAIN_MONTH})\b
    |\b(?P<year5>1[5-9]\d\d|20\d\d)\b(?![,.]\d|\s?(?:%|per\s?cent))
    |\b(?P<weekday>{_WEEKDAY_NAMES.replace(" ", "|")})\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GROUPS = {"year": DatePartKind.YEAR, "month": DatePartKind.MONTH, "day": DatePartKind.DAY}
_LAST_DAY = 31


@lru_cache(maxsize=1 << 12)
def find_date_parts(text: str) -> tuple[DatePart, ...]:
    """Returns the parts of dates in a normalised text, in order. Linear in its length."""
    parts = []
    for match in _DATE.finditer(text):
        for group, found in match.groupdict().items():
            if found is None:
                continue
            kind = _GROUPS.get(group.rstrip("12345"), DatePartKind.WEEKDAY)
            value = _value(kind, found.lower().rstrip("."))
            if kind is not DatePartKind.DAY or 1 <= value <= _LAST_DAY:
                parts.append(DatePart(*match.span(group), kind, value))
    return tuple(sorted(parts, key=lambda part: part.start))


def _value(kind: DatePartKind, text: str) -> int:
    if kind is DatePartKind.MONTH:
        return _MONTHS[text]
    return _WEEKDAYS[text] if kind is DatePartKind.WEEKDAY else int(text)
