"""Values of a text: quantities with their units, times of day and dates; everybody who compares two asks `agree`.

A number is read as it is written: "67 million", "76m", "five", "1,403", "1 403", "$1.2bn", "20 per cent", "third". It
may have several meanings: "1.403" is one thousand in German, "5m" are metres or millions, "pounds" mass or money. Units
of one dimension are converted, and never across: a percent is no percentage point. Dates have parts that both may say.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain, product
from math import isclose
from operator import attrgetter
from typing import NamedTuple

from pipeline.off_loop import stop_if_nobody_waits, stoppable
from pipeline.reading.passage import Span
from pipeline.reading.word_lists import any_of, phrase_list, word_list


class Unit(NamedTuple):
    """A unit: how many of its dimension's base unit it is; temperatures have a zero of their own."""

    name: str
    dimension: str  # "length2", "force·length", "mass/mass/time": the factors of each kind in order
    factor: float = 1.0
    zero: float = 0.0
    rate: str = ""  # what money or a share is counted by: "/mass1000.0" of "$5 a tonne"

    def with_factor(self, other: "Unit", *, is_divided: bool) -> "Unit":
        """Returns the product or the rate of two units; "12% a year" are 12% where nothing else says of what time."""
        above, *below = self.dimension.split("/")
        if above in _CURRENCIES or above in _SHARES:
            return self._replace(rate=f"{self.rate}/{other.dimension}{other.factor}") if is_divided else self
        if is_divided:
            name, factor, below = f"{self.name}/{other.name}", self.factor / other.factor, [*below, other.dimension]
        else:
            name, factor = f"{self.name}·{other.name}", self.factor * other.factor
            above = "·".join(sorted((*above.split("·"), other.dimension)))
        return Unit(name, "/".join((above, *sorted(below))), factor)


def _read_units(name: str) -> dict[str, tuple[Unit, ...]]:
    units: dict[str, tuple[Unit, ...]] = {}
    for line in phrase_list(name):
        word, dimension, size, *others = line.split()
        factor, _, zero = size.partition("+")
        unit = Unit(word, dimension, float(factor), float(zero or 0))
        units |= {each: (*units.get(each, ()), unit) for each in (word, *others)}
    return units


_CURRENCIES, _UNITS = _read_units("currencies"), _read_units("units")
_DIMENSIONS = {unit.dimension for units in _UNITS.values() for unit in units}
_UNITS |= {
    way.format(word): (Unit(f"{unit.name}{power}", f"{unit.dimension}{power}", unit.factor ** int(power)),)
    for power, *ways in map(str.split, phrase_list("powers"))
    for word, (unit, *_) in _UNITS.items()
    for way in ways
    if unit.dimension in {"length", "time"}
}
_UNITS |= {word: (*_UNITS.get(word, ()), *units) for word, units in _CURRENCIES.items()}
_SPACED = {word: units for word, units in _UNITS.items() if word not in word_list("units_only_attached")}


def unit_of(word: str, *, is_attached: bool) -> Unit | None:
    """Returns the unit that a bare word is, or a rate ("l/min"); one that is attached touches its number."""
    units, end = _units_behind(word if is_attached else f" {word}", 0)
    return units[0] if units and end >= len(word) and units[0].dimension not in _CURRENCIES else None


class Amount(NamedTuple):
    """One meaning of a number."""

    dimension: str  # amounts of one are compared; empty without a unit
    value: float  # in base units
    size: float  # the same, counted from the zero of its own scale, without sign
    step: float  # the smallest difference its writing can show: 0.1 for "2.5"; 0 for what is unlikely, and not rounded
    unit: str  # its name
    rate: str = ""  # of the unit

    @classmethod
    def of(cls, number: tuple[float, float], unit: Unit) -> "Amount":
        """Returns a number, with its step, of a unit."""
        value, step = number
        size = value * unit.factor
        return cls(unit.dimension, size + unit.zero, abs(size), step * unit.factor, unit.name, unit.rate)

    @property
    def meaning(self) -> tuple[str, str]:
        """What makes it the same as another one: the value in digits that no rounding of a conversion changes."""
        return self.dimension, f"{self.value:.13e}{self.rate}"


_NO_UNIT, _ORDINAL = Unit("", ""), Unit("", "ordinal")
_CLOCK, _ZONED = "clock", ("winter", "summer")  # of UTC, by the offset of each
_SHARES = ("percent", "points")
_STRICT = {*_SHARES, _ORDINAL.dimension, _CLOCK, *_ZONED}  # a number without them is another number


@dataclass(frozen=True, slots=True)
class Quantity(Span):
    """One number, from a sign of currency to its magnitude ("million") or percent sign."""

    unit_end: int  # exclusive; the unit included as well
    amounts: tuple[Amount, ...]  # what it may mean, the likeliest first
    numbers: tuple[Amount, ...]  # the same without units
    is_lower_bound: bool = False  # "more than 40", "over 40", "at least 40"
    is_approximate: bool = False  # "about 40", "nearly 40"
    is_word: bool = False  # not in digits

    @property
    def dimensions(self) -> set[str]:
        """Those of its meanings."""
        return {amount.dimension for amount in self.amounts}

    @property
    def is_measured(self) -> bool:
        """Whether a unit stands with it that is no money."""
        return not self.dimensions.issubset({"", _ORDINAL.dimension, _CLOCK, *_ZONED, *_CURRENCIES})

    @property
    def is_counted(self) -> bool:
        """Whether writers may have counted what a text lists: "both", "two pumps", "the second"."""
        is_small = self.numbers[0].value in _COUNTED_BY_HAND
        return self.is_word and (is_small or _ORDINAL.dimension in self.dimensions)


Day = tuple[int | None, int | None, int | None, int | None]
"""Year, month, day, weekday; None where one is not said, 1 for January and for Monday."""


@dataclass(frozen=True, slots=True)
class Date(Span):
    """A date or a part of one; it may mean several days: "3/4/2024" is in March or in April."""

    unit_end: int  # its end, as that of a number
    days: frozenset[Day]


Value = Quantity | Date


def agree(claimed: Value, stated: Value) -> bool:
    """Tells whether the claimed value may stand for the stated one: equal, converted, rounded, or bounded by words."""
    if isinstance(claimed, Quantity) and isinstance(stated, Quantity):
        return any(_is_same(claimed, mine, stated, theirs) for mine, theirs in product(*_comparable(claimed, stated)))
    return any(
        all(ours == other for ours, other in shared)
        and (mine[2] is None or theirs[2] is not None or theirs[1] is None)  # a day is not in what says its month
        for mine, theirs, shared in _days_of(claimed, stated)
    )


def competes(claimed: Value, stated: Value) -> bool:
    """Tells whether a stated value could stand in the claimed one's place: "5 km" beside "3 miles", not beside "3"."""
    if isinstance(claimed, Date) or isinstance(stated, Date):
        return any(True for _ in _days_of(claimed, stated))
    mine, theirs = _comparable(claimed, stated) if "" in claimed.dimensions else (claimed.amounts, stated.amounts)
    return not set(chain(*map(_rivals, mine))).isdisjoint(chain(*map(_rivals, theirs)))


def _rivals(amount: Amount) -> tuple[str, ...]:
    """Returns what competes although nobody converts it: any money, clocks of any zone, as many percents as points."""
    if amount.dimension in _SHARES:
        return amount.meaning
    return ("money" if amount.dimension in _CURRENCIES else _CLOCK if amount.dimension in _ZONED else amount.dimension,)


def _comparable(left: Quantity, right: Quantity) -> tuple[tuple[Amount, ...], tuple[Amount, ...]]:
    """Returns the meanings of two numbers; without units or zones where one of them has none, and no unit is shared."""
    both = left.dimensions ^ right.dimensions
    is_bare = "" in both and left.dimensions.isdisjoint(right.dimensions) and _STRICT.isdisjoint(both)
    is_bare |= both == {_CLOCK, *_ZONED}
    return (left.amounts + left.numbers, right.amounts + right.numbers) if is_bare else (left.amounts, right.amounts)


def _days_of(claimed: Value, stated: Value) -> Iterator[tuple[Day, Day, list[tuple[int, int]]]]:
    """Yields the days that two dates may mean, each with each, and the parts that both say; none if one is no date."""
    if isinstance(claimed, Date) and isinstance(stated, Date):
        for mine, theirs in product(claimed.days, stated.days):
            pairs = zip(mine, theirs, strict=True)
            if shared := [(ours, other) for ours, other in pairs if ours is not None and other is not None]:
                yield mine, theirs, shared


_EXACTLY = 1e-14  # relative: ids of 14 digits are told apart, and no conversion is worse
_CONVERTED, _APPROXIMATE, _BOUND = 0.02, 0.1, 0.35  # relative tolerances


def _is_same(claimed: Quantity, mine: Amount, stated: Quantity, theirs: Amount) -> bool:
    is_counted_alike = mine.rate.startswith(theirs.rate) or theirs.rate.startswith(mine.rate)
    if mine.dimension != theirs.dimension or not is_counted_alike:
        return False
    if isclose(mine.value, theirs.value, rel_tol=_EXACTLY, abs_tol=_EXACTLY):
        return True
    if not mine.step or not theirs.step:
        return False
    gap = abs(mine.value - theirs.value)
    is_converted = mine.unit != theirs.unit and gap <= _CONVERTED * theirs.size
    if (mine.step > theirs.step or is_converted) and gap <= max(mine.step, theirs.step) / 2:
        return True
    if claimed.is_lower_bound or stated.is_lower_bound:
        low, high = (mine, theirs) if claimed.is_lower_bound else (theirs, mine)
        return low.value <= high.value <= low.value + _BOUND * low.size
    return (claimed.is_approximate or stated.is_approximate) and gap <= _APPROXIMATE * max(mine.size, theirs.size)


def _numbers_of(name: str) -> dict[str, float]:
    return {word: float(value) for word, value in map(str.split, phrase_list(name))}


_NUMBER_WORDS, _ORDINALS, _MAGNITUDES = map(_numbers_of, ("number_words", "ordinals", "magnitudes"))
_PARTS, _CLOCK_WORDS, _CLOCK_MINUTES = map(_numbers_of, ("parts", "clock_words", "clock_minutes"))
_ZONES = {zone: tuple(map(float, ahead)) for zone, *ahead in map(str.split, phrase_list("time_zones"))}
_SCALES = _MAGNITUDES | _numbers_of("short_magnitudes")


def _any_word(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_SMALL, _MAGNITUDE, _PART, _SCALE = map(_any_word, (_NUMBER_WORDS, _MAGNITUDES, _PARTS, _SCALES.keys() - set("kmb")))
_SIGNS = _any_word(sign for sign in _CURRENCIES if not sign.islower())
_NTH, _RATE, _PAST = (*map(any_of, ("ordinal_endings", "rates")), _any_word(_CLOCK_MINUTES).replace("_", r"\s"))
_INITIALS = {word[0] for word in chain(_NUMBER_WORDS, _ORDINALS, _CLOCK_WORDS, _CURRENCIES, _PARTS, "a")}
_UNIT_WORD = _any_word(filter(str.isalpha, _UNITS))
_LONG_UNIT = _any_word(word for word in _UNITS if "_" in word or "/" in word).replace("_", r"[\s-]")
_OVER = r"\d{1,2}/\d{1,2}"
# "2½" is "21⁄2" when normalised; "3/4" is a fraction beside a whole number or a unit only
_FRACTION = rf"\d+⁄\d{{1,2}}|(?:\d+[ -]{_OVER}|{_OVER}(?=[ -](?:{_UNIT_WORD})\b))(?![\d/])"
_POWER = r"(?:\d+(?:\.\d+)?\s?[×x*]\s?)?10\^[-−]?\d{1,2}(?!\d)"
_DIGITS = rf"{_FRACTION}|\d{{1,3}}(?:(?:,?[ ]|['’])\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+\.[ ]\d+(?![.,]?\d)|\d+(?:[.,]\d+)*"
_COUNTED_PART = rf"(?:an?|{_SMALL})[\s-](?:{_PART})s?\b"
_SHARE = rf"(?:{_COUNTED_PART}(?:(?<=s)|(?=\sof\b))|one-(?:{_PART})\b|half{any_of('half')})"
_QUANTITY = re.compile(
    rf"""
    (?:(?<!\w)|(?:(?<=\d[^\W\d_])|(?<=\d[^\W\d_]{{2}}))(?=\d))
    (?=[\d{re.escape("".join(_INITIALS))}])(?:
    (?<![:.,])(?P<hour>[01]?\d|2[0-4])(?:[:.]?(?P<minute>[0-5]\d|(?<=\D)0)(?::(?P<second>[0-5]\d))?)?
        (?:\s?(?P<half>[ap])(?:m\b|\.m\b\.?)|{any_of("clock_endings")}|(?<=:\d\d|.:0)(?![:.,]?\d))
        (?:\s\(?(?P<zone>(?-i:{"|".join(map(str.upper, _ZONES))}))\b)?
    |(?:(?P<past>{_PAST})\s)?(?P<named>{_any_word(_CLOCK_WORDS)}|(?(past)(?:{_SMALL}|1?\d)|(?!)))\b
    |(?P<currency>(?:{_SIGNS})\s?)?(?<![\d.,])(?P<digits>{_POWER}|{_DIGITS})
        (?:(?P<nth>{_NTH})\b|[\s-]?(?P<scale>{_SCALE})s?\b|(?(currency)\s?)(?P<short>[kmb])(?![\w%/·]))?
    |(?P<words>an?\s(?P<whole>{_UNIT_WORD})\sand\s{_COUNTED_PART}
        |{_SHARE}(?:(?:\sof)?\san?(?=\s)(?:\s(?:{_MAGNITUDE})\b)?)?
        |(?:{_SMALL}|a(?=\s(?:{_MAGNITUDE})))
            (?:[\s-](?:{_SMALL}|(?:{_MAGNITUDE})(?:\sand(?=\s(?:{_SMALL})\b))?))*\b
            (?:[\s-]and[\s-]{_COUNTED_PART}(?:\s(?:{_MAGNITUDE})\b)?)?)
    |(?P<ordinal>{_any_word(_ORDINALS)})\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNIT = re.compile(  # one factor: what joins it to the one before it, how many of it, and its name
    rf"""
    (\s?-?|\s?[/·⋅*]\s?\(?|\s{_RATE}\s)((?:\d+(?:\.\d+)?\s?)?)
    ((?i:{_LONG_UNIT})(?!\w)|['’′](?=\d{{1,2}}(?!\d))
        |(?!['’′]|{_RATE}\b)[^\s\d,;:()\[\]{{}}|.!?\"“”–—/·⋅*²³^-]{{1,24}}+(?:\^?[23](?![\da-z])|[²³])?)
    (?!-\d+(?!\s?[^\W\d]))  # "5W-30" has none
    """,
    re.VERBOSE,
)
_PLAIN = rf"(?:\d+(?:[.,]\d+)*|{_SMALL})"
_BETWEEN = rf"(?:,\s{_PLAIN}){{0,8}}(?:\s?[-–—]\s?|,?\s{any_of('ranges')}\s)"
_LATER = re.compile(rf"{_BETWEEN}{_PLAIN}(?:[\s-]?(?P<of>{_SCALE})s?\b)?", re.IGNORECASE)
_HEDGE = re.compile(rf"(?:({any_of('lower_bounds')})|{any_of('approximations')})\s+$", re.IGNORECASE)
_MINUS, _BEFORE_MINUS = ("-", "−", "–"), " \n\t(=:~|"
_LEAD_CHARS = 24
_LONGEST_REMEMBERED = 1000  # characters: claims and sentences, not whole sources, for a cache counts no bytes
_COUNTED_BY_HAND = range(4)
_PARTS_OF_UNITS = {whole: _UNITS[part][0] for whole, part in map(str.split, phrase_list("subunits"))}
_MOST_ZEROS, _GROUP, _MOST_DECIMALS = 300, 3, 4  # digits
_HALF_DAY, _HOUR = 720, 60  # minutes


def find_values(text: str) -> tuple[Value, ...]:
    """Returns the numbers and dates of a normalised text, in order, none inside words. Linear in its length."""
    return _remembered_values(text) if len(text) <= _LONGEST_REMEMBERED else _values(text)


def _values(text: str) -> tuple[Value, ...]:
    found: list[Value] = [*(dates := list(_find_dates(text)))]
    ends = [date.end for date in dates]
    for match in _QUANTITY.finditer(text):
        after = bisect_left(ends, match.start() + 1)
        if (after == len(dates) or dates[after].start >= match.end()) and (quantity := _quantity(text, match)):
            found.append(quantity)
    whole: list[Value] = []
    for value in sorted(found, key=attrgetter("start")):
        is_of_unit = whole and value.start < whole[-1].unit_end and text[value.start].isalnum()
        if not is_of_unit:  # "100" in "litres per 100 km"
            whole += _compound(text, whole.pop(), value) if whole else (value,)
    numbers = (value for value in whole if not text[value.start - 1 : value.start].isalpha())  # "0x80" is none
    return tuple(value for value in numbers if text[value.start : value.unit_end].lower() != "one")  # a pronoun


def _compound(text: str, first: Value, value: Value) -> tuple[Value, ...]:
    """Returns two values, or the one that they are together: "1 h 30 min", "5 foot 4"; "1 h and 30 min" may be both."""
    gap = text[first.unit_end : value.start]
    if isinstance(first, Date) or isinstance(value, Date):
        return first, value
    is_share = gap.strip() in phrase_list("shares") and first.dimensions == value.dimensions == {""}
    if is_share and (share := first.numbers[0].value / (value.numbers[0].value or 1.0)) < 1:  # "two out of three"
        percent, number = Amount.of((100 * share, 1.0), _UNITS["%"][0]), Amount.of((share, 1.0), _NO_UNIT)
        return (Quantity(first.start, value.end, value.end, (percent,), (number,), is_approximate=True),)
    if gap not in {"", " ", " and "}:
        return first, value
    is_bare = value.dimensions == {""} and gap != " and "
    parts = [part for one in first.amounts if is_bare and (part := _PARTS_OF_UNITS.get(one.unit))]
    others = [*value.amounts, *(Amount.of((one.value, one.step), part) for one in value.numbers for part in parts)]
    amounts = tuple(
        Amount(one.dimension, one.value + other.value, one.size + other.size, other.step, other.unit)
        for one, other in product(first.amounts, others)
        if one.dimension == other.dimension and one.unit != other.unit and one.step > other.size
    )
    if gap == " and " or (is_bare and text[value.end : value.end + 1] == " "):  # "in 2 hours 30 people came"
        return tuple(replace(each, amounts=each.amounts + amounts) for each in (first, value))
    numbers = first.numbers + value.numbers
    joined = replace(first, end=value.end, unit_end=value.unit_end, amounts=amounts, numbers=numbers)
    return (joined,) if amounts else (first, value)


_remembered_values = lru_cache(1 << 12)(_values)


def _time_of_day(text: str, match: re.Match[str]) -> Quantity:
    """Reads a time in minutes; "2:05" may be in the afternoon too."""
    written, half = (match["hour"] or match["named"]).lower(), (match["half"] or "").lower()
    hour = int((_CLOCK_WORDS | _NUMBER_WORDS).get(written, written))
    past = _CLOCK_MINUTES.get("_".join((match["past"] or "").lower().split()), 0)
    minutes = hour * _HOUR + past + int(match["minute"] or 0) + int(match["second"] or 0) / _HOUR
    if half:
        times = [minutes % _HALF_DAY + _HALF_DAY * (half == "p")]
    elif written in _CLOCK_WORDS or hour > _HALF_DAY // _HOUR or written.startswith("0"):
        times = [minutes % (2 * _HALF_DAY)]
    else:
        times = [minutes % _HALF_DAY, minutes % _HALF_DAY + _HALF_DAY]
    clock = tuple(Amount(_CLOCK, time, _HOUR, 1.0, "") for time in times)
    utc = tuple(
        one._replace(dimension=zoned, value=(one.value - ahead) % (2 * _HALF_DAY))
        for zoned, ahead in zip(_ZONED, _ZONES.get((match["zone"] or "").lower(), ()), strict=False)
        for one in clock
    )
    return Quantity(*match.span(), match.end(), utc or clock, clock, *_hedges(text, match.start()))


def _quantity(text: str, match: re.Match[str]) -> Quantity | None:
    """Reads a number; none in the digits of an address."""
    stop_if_nobody_waits()
    if match["hour"] or match["named"]:
        return _time_of_day(text, match)
    (start, end), digits, words = match.span(), match["digits"], match["words"]
    before = text[max(0, start - _LEAD_CHARS) : start].lower().split()[-1:]
    is_name = not (text[end : end + 1].isspace() or word_list("numbered_things").isdisjoint(before))  # "room 12B"
    scale = "" if is_name else (match["scale"] or match["short"] or "").lower()
    said = _read_words(words) if words else _ORDINALS.get((match["ordinal"] or "").lower(), 0.0)
    read = _read_digits(digits, _SCALES.get(scale, 1.0)) if digits else [(said, 1.0)]
    units, unit_end = ((), end) if is_name else _units_of(text, match)
    if not read:
        return None
    if _is_negative(text, max(start, match.start("digits"))):
        read = [(-value, step) for value, step in read]
    least, about = _hedges(text, start)
    amounts = [Amount.of(number, unit) for unit in units or (_NO_UNIT,) for number in read]
    if words and not units and 0 < read[0][0] < 1:  # a part of a whole
        amounts, about = [Amount.of((100 * value, step), _UNITS["%"][0]) for value, step in read], True
    if scale and match["short"] and not match["currency"]:  # "5m"
        others, unit_end = _units_behind(text, end - 1)
        amounts += [Amount.of(number, unit) for unit in others for number in _read_digits(digits, 1.0)]
    if not scale and (later := _LATER.match(text, end)):  # "2 to 5 mm", "$2 to 3 million"
        size, others = _SCALES.get((later["of"] or "").lower(), 1.0), units or _units_behind(text, later.end())[0]
        scaled = [(value * size, step * size) for value, step in read]
        amounts += [Amount.of(number, unit) for unit in others or (_NO_UNIT,) for number in scaled]
    numbers = tuple(Amount.of(number, _NO_UNIT) for number in read)
    unit_end = max(end, unit_end)
    end = unit_end if any(unit.dimension in _STRICT for unit in units) else end
    return Quantity(start, end, unit_end, tuple(dict.fromkeys(amounts)), numbers, least, about, is_word=not digits)


def _is_negative(text: str, start: int) -> bool:
    """Tells whether a minus stands before a number, and neither a dash nor "plus or minus"."""
    before = text[max(0, start - len("or minus ")) : start].lower()
    is_word = before.endswith("minus ") and not before.endswith("or minus ")
    return is_word or (before.endswith(_MINUS) and not before[-2:-1].strip(_BEFORE_MINUS))


def _units_of(text: str, match: re.Match[str]) -> tuple[tuple[Unit, ...], int]:
    """Returns what the unit of a number may be, and where it ends."""
    if match["currency"]:
        return _units_behind(text, match.end(), _CURRENCIES[match["currency"].strip().upper()])
    if match["ordinal"] or match["nth"]:
        return (_ORDINAL,), match.end()
    if match["whole"]:  # "an hour and a half"
        return _UNITS[match["whole"].lower()], match.end()
    return _units_behind(text, match.end())


def _hedges(text: str, start: int) -> tuple[bool, bool]:
    """Tells whether words before a number say that it is the least, or not exact."""
    hedge = _HEDGE.search(text[max(0, start - _LEAD_CHARS) : start])
    return (False, False) if hedge is None else (bool(hedge[1]), not hedge[1])


def _units_behind(text: str, start: int, units: tuple[Unit, ...] = ()) -> tuple[tuple[Unit, ...], int]:
    """Returns what the unit behind a number may be, and where it ends: "mg/kg/day", "litres per 100 km"."""
    before, end, is_divided, is_sure = units, start, False, False
    while part := _UNIT.match(text, end):
        joint, count, written = part.groups()
        sign = joint.strip().strip("-( ")
        is_rate = sign == "/" or sign in word_list("rates")
        name, known = "_".join(written.replace("-", " ").split()), _UNITS if joint == joint.strip(" -") else _SPACED
        folded = name.lower() if len(name) > 1 and name[-1].isalpha() else name  # "67P" is no price
        factors = known.get(name) or _SPACED.get(folded, ())
        if count:
            factors = tuple(one._replace(factor=one.factor * float(count)) for one in factors if is_rate)
        if units:
            is_divided |= is_rate
            others = _DIMENSIONS.difference(one.dimension for one in units)  # of products without a sign: "N m"
            made = (one.with_factor(other, is_divided=is_divided) for one, other in product(units, factors))
            factors = tuple(one for one in made if sign or is_sure or one.dimension in others)
        if not factors or (sign and not units):
            break
        units, end, is_sure = factors, part.end(), name[-1] in "23²³" or "(" in joint
    if text[end : end + 1] == "/":  # of something that is no unit
        return before, start
    return units, end + (text[end : end + 1] == ")" and "(" in text[start:end])


def _read_digits(digits: str, scale: float) -> list[tuple[float, float]]:
    """Returns what digits with points, commas and spaces may stand for, each with its step, the likeliest first."""
    read = []
    for nth, number in enumerate(readings(digits)):
        decimals, value = len(number.partition(".")[2]), float(number)
        # "67,000" may be rounded: its step is that of its last digit that is not 0. Years and ages keep theirs.
        zeros = len(number) - len(number.rstrip("0")) if not decimals and value >= 1_000 else 0  # noqa: PLR2004
        step = 0.0 if nth else scale * 10.0 ** (min(zeros, _MOST_ZEROS) - decimals)
        read.append((value * scale, step))
    return read


def readings(digits: str) -> list[str]:
    """Returns what digits with points, commas and spaces may stand for, the likeliest first; none of an address."""
    digits = digits.replace("'", "").replace("’", "")
    if "^" in digits:  # "3 × 10^8"
        factor, _, power = digits.replace("−", "-").rpartition("10^")
        return [f"{Decimal(factor.rstrip(' ×x*') or 1).scaleb(int(power)):f}"]
    if "⁄" in digits:  # "21⁄2", which was "2½"
        over, _, under = digits.partition("⁄")
        digits = f"{over[:-1]} {over[-1]}/{under}"
    over, slash, under = digits.replace("-", " ").partition("/")
    if slash:  # "2 1/2"
        whole, _, part = over.rpartition(" ")
        return [str(round(float(whole or 0) + float(part) / max(1.0, float(under)), _MOST_DECIMALS))]
    if " " in digits:  # "1 403", "3, 800", "98. 7", or numbers beside each other
        joined = digits.replace(", ", "").replace(" ", "").replace(",", ".")
        return [joined, *(part.strip(".,").replace(",", ".") for part in digits.split())]
    groups = digits.replace(",", ".").split(".")
    separators = [character for character in digits if character in ".,"]
    is_grouped = len(groups[0]) <= _GROUP and groups[0] != "0" and all(len(group) == _GROUP for group in groups[1:])
    found = ["".join(groups)] if len(groups) == 1 or is_grouped else []  # in one piece, or in thousands
    if separators and digits.count(separators[-1]) == 1 and not (found and separators[-1] == ","):
        found.insert(0, f"{''.join(groups[:-1])}.{groups[-1]}")
    return found


def _read_words(words: str) -> float:
    """Reads "two hundred and fifty thousand" and "two and a half"; what stands side by side without sense is added."""
    total = current = last = 0.0
    for word in words.lower().replace("-", " ").split():
        if word in _MAGNITUDES:
            current, last = (current + last or 1.0) * _MAGNITUDES[word], 0.0
            if _MAGNITUDES[word] >= 1e3:  # noqa: PLR2004
                total, current = total + current, 0.0
        elif word.removesuffix("s") in _PARTS:
            last = (last or 1.0) / _PARTS[word.removesuffix("s")]
        elif word in _NUMBER_WORDS or word == "and":
            current, last = current + last, _NUMBER_WORDS.get(word, 0.0)
        elif word in {"a", "an"}:
            last = last or 1.0
    return total + current + last


_MONTHS, _WEEKDAYS = (
    {name: str(index) for index, line in enumerate(phrase_list(names), start=1) for name in line.split()}
    for names in ("months", "weekdays")
)
# "may" and "march" are verbs and "august" an adjective: months only beside a day, a year, or a word that dates.
_VERBS = tuple(phrase_list("months_that_are_words"))
_PLAIN_MONTH = "|".join(name for line in phrase_list("months") if (name := line.split()[0]) not in _VERBS)
_NAMED_MONTH = f"(?:{_PLAIN_MONTH}|{'|'.join(_VERBS)})"
_MONTH = (
    rf"(?:{_NAMED_MONTH}|(?:{'|'.join(name for line in phrase_list('months') for name in line.split()[1:])}|may)\.?)"
)
_LAST_DAY, _LAST_MONTH, _QUARTER, _DECADE, _CENTURY, _LAST_SHORT = 31, 12, 3, 10, 100, 20
_QUARTERS = {word: f"{value:.0f}" for word, value in _ORDINALS.items() if value * _QUARTER <= _LAST_MONTH}
_DATE_WORDS = _MONTHS | _WEEKDAYS | _QUARTERS
_DATE = re.compile(
    rf"""
    (?=\d|\b\w)(?:
    \b(?P<month1>{_MONTH})\s(?P<day1>\d{{1,2}}){_NTH}?\b(?!:)(?:,?\s(?P<year1>[12]\d{{3}})\b)?
    |\b(?P<day2>\d{{1,2}}){_NTH}?\s(?:of\s)?(?P<month2>{_MONTH})\b(?:,?\s(?P<year2>[12]\d{{3}})\b)?
    |\b(?P<month3>{_MONTH}),?\s(?P<year3>[12]\d{{3}})\b
    |\b{any_of("before_months")}[\s-](?P<month4>{_NAMED_MONTH})\b(?!,?\s\d)
    |\b(?P<month5>{_PLAIN_MONTH})\b
    |\b(?P<quarter1>{_any_word(_QUARTERS)})(?:(?<=\d)|[\s-]quarter)\b
    |(?<![\d.])(?P<year6>[12]\d{{3}})(?P<mark>[-/.])(?P<month6>0?[1-9]|1[0-2])(?P=mark)(?P<day6>\d{{1,2}})(?!\d)
    |(?<![\d.])(?P<day7>\d{{1,2}})(?P<either>[-/.])(?P<month7>\d{{1,2}})(?P=either)(?P<year7>[12]\d{{3}})(?!\d)
    |\b(?P<year8>1[5-9]\d\d|20\d\d)\b(?![,.]\d|\s?(?:%|per\s?cent))
        (?:(?<=\bin\s\d{{4}})|(?<=\bsince\s\d{{4}})|(?<=\buntil\s\d{{4}})
            |(?P<unsure>)(?!\s{any_of("counted_things")}\b))
    |(?<![\d.,])(?P<decade>(?:1[5-9]|20)\d0|(?:(?<=['’])|(?<=\bthe\s))\d0)['’]?s\b
    |\b(?P<weekday>{"|".join(_WEEKDAYS)})\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BETWEEN_PARTS, _NO_GAP = 6, frozenset(".;!?\n")  # "1st of May, 2024"


def _find_dates(text: str) -> Iterator[Date]:
    """Yields the dates of a text; parts that stand beside each other are one."""
    said, start, end = dict[str, int](), 0, 0
    for match in chain(stoppable(_DATE.finditer(text)), (None,)):
        if match and match["unsure"] == "" and _units_behind(text, match.end())[0]:
            continue  # "2000 mAh" are no year
        written = {group: found.lower() for group, found in match.groupdict().items() if found} if match else {}
        read = {group.rstrip("12345678"): _DATE_WORDS.get(word.rstrip("."), word) for group, word in written.items()}
        parts = {kind: int(word) if word.isdigit() else 0 for kind, word in read.items()}
        parts = {kind: value for kind, value in parts.items() if kind != "day" or 1 <= value <= _LAST_DAY}
        gap = text[end : match.start()] if match else ""
        is_beside = len(gap) <= _BETWEEN_PARTS and _NO_GAP.isdisjoint(gap)
        if match and said and is_beside and said.keys().isdisjoint(parts):
            said, end = said | parts, match.end()
            continue
        year, month, day, weekday = map(said.get, ("year", "month", "day", "weekday"))
        years = _years(said["decade"]) if "decade" in said else [year]
        last = _QUARTER * said.get("quarter", 0)
        months = range(last - _QUARTER + 1, last + 1) if last else [month]
        days = [(*pair, day, weekday) for pair in product(years, months)]
        if "either" in said:  # day and month in digits may stand in either order
            days.append((year, day, month, weekday))
        if meant := frozenset(one for one in days if any(one) and (one[1] or 1) <= _LAST_MONTH):
            yield Date(start, end, end, meant)
        if match:
            said, start, end = parts, min(map(match.start, written)), match.end()


def _years(decade: int) -> range:
    """Returns the years of "the 1960s" and "the '60s"; of "the 1700s" those of the century."""
    first = decade if decade >= _CENTURY else decade + (1900 if decade > _LAST_SHORT else 2000)
    return range(first, first + (_DECADE if first % _CENTURY else _CENTURY))


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a text, read when somebody asks: of most claims their passages have all."""

    text: str  # normalised

    @cached_property
    def all(self) -> tuple[Value, ...]:
        """Its numbers and dates in order."""
        return find_values(self.text)

    def between(self, start: int, end: int) -> tuple[Value, ...]:
        """Returns what begins at `start` or after it, and before `end`."""
        first, last = (bisect_left(self.all, place, key=attrgetter("start")) for place in (start, end))
        return self.all[first:last]

    @cached_property
    def _dates(self) -> tuple[Date, ...]:
        return tuple({value.days: value for value in self.all if isinstance(value, Date)}.values())

    @cached_property
    def _parts(self) -> set[tuple[int, int | None]]:
        return {part for date in self._dates for day in date.days for part in enumerate(day)}

    @cached_property
    def _quantities(self) -> dict[tuple[str, str], Quantity]:
        """A number of each meaning, with its unit and without."""
        numbers = [value for value in self.all if isinstance(value, Quantity)]
        bare = {number.meaning: value for value in numbers for number in value.numbers}
        return bare | {amount.meaning: value for value in numbers for amount in value.amounts}

    @cached_property
    def _dimensions(self) -> set[str]:
        """Those of all units of the text: in the head of a column they stand without a number."""
        words = {word.strip(".,;:()[]|*\"'") for word in self.text.split()}
        alone = {unit.dimension for word in words if (unit := unit_of(word, is_attached=True))}
        return alone | {dimension for dimension, _ in self._quantities}

    def has_number(self, quantity: Quantity) -> bool:
        """Tells whether a number stands anywhere in the text, of whatever unit."""
        return any(number.meaning in self._quantities for number in quantity.numbers)

    def has_dimension(self, quantity: Quantity) -> bool:
        """Tells whether a number has no unit, or the text has one that it can be converted to."""
        return "" in quantity.dimensions or not self._dimensions.isdisjoint(quantity.dimensions)

    def states(self, value: Value) -> bool:
        """Tells whether a value stands anywhere in the text, or may have been counted there."""
        if isinstance(value, Date):
            parts = [[part for part in enumerate(day) if part[1] is not None] for day in value.days]
            return any(agree(value, date) for date in self._dates) and any(map(self._parts.issuperset, parts))
        if value.is_counted or any(amount.meaning in self._quantities for amount in value.amounts):
            return True
        return any(agree(value, stated) for stated in dict.fromkeys(self._quantities.values()))


def is_certain(value: Value) -> bool:
    """Tells whether a value cannot be of something else: a number without a unit, or "the third", may be."""
    return isinstance(value, Date) or value.dimensions.isdisjoint(("", _ORDINAL.dimension))
