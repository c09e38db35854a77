"""The values of an input, exactly: numbers with their units, dates, codes and names. Does it have those of a sentence?

"1,403" and "1403", "5.0" and "5", "5 mm", "5mm" and "5 millimetres", "1 May 2024" and "2024-05-01" are the same. There
is no arithmetic: a sum or a converted unit is a value that the input does not have.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from pipeline.reading.function_words import FUNCTION_WORDS
from pipeline.reading.terms import TermKind, find_terms, is_unit
from pipeline.reading.values import DatePartKind, Measure, find_date_parts, find_quantities
from pipeline.reading.word_table import stem
from pipeline.summarize.gate.findings import FaultKind
from pipeline.summarize.retention import Mentions

_LONGEST_NUMBER = 40
_DIGITS = re.compile(r"(?<!\d)\d+(?:[.,]\d+)*")
_LIST, _THOUSANDS, _MEMBER = re.compile(r"\d+(?:,\d+){2,}"), re.compile(r"\d{1,3}(?:,\d{3})+"), re.compile(r"\d+")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d])")
_BEHIND = re.compile(r"(\s?-?)([^\s\d,;:()\[\]{}|.!?\"“”–—]{1,24})")
_NEGATIVE = re.compile(r"(?:^|[\s(=:~|])[-−–]$")
_SCALED = re.compile(r"hundred|thousand|million|billion|trillion|dozen|\d\s?(?:bn|mn|tn)$", re.IGNORECASE)
_COUNTED_BY_HAND = 3  # "both", "two pumps": writers count what the input lists
_ONE_UNIT = (
    (re.compile(r"(?:degrees?|°)\s?(?:Celsius|celsius|C\b)|℃"), "°C"),
    (re.compile(r"(?:degrees?|°)\s?(?:Fahrenheit|fahrenheit|F\b)|℉"), "°F"),
    (re.compile(r"\bper\s?cent\b"), "percent"),
    (re.compile(r"(?<=[A-Za-z])[·⋅*](?=[A-Za-z])"), ""),  # N·m
)
_ALIASES_LIST = """
    mm millimeter millimeters millimetre millimetres/ cm centimeter centimeters centimetre centimetres/
    km kilometer kilometers kilometre kilometres/ m meter meters metre metres/ µm um micron microns/
    in inch inches/ ft foot feet/ yd yard yards/ mi mile miles/ g gram grams/ kg kilogram kilograms/
    lb lbs pound pounds/ oz ounce ounces/ t tonne tonnes/ ton tons/ l L liter liters litre litres/ gal gallon gallons/
    s sec secs second seconds/ min mins minute minutes/ h hr hrs hour hours/ d day days/ week weeks/ month months/
    year years/ ms millisecond milliseconds/ µs microsecond microseconds/ V volt volts/ A amp amps ampere amperes/
    W watt watts/ kW kilowatt kilowatts/ J joule joules/ N newton newtons/ Pa pascal pascals/ Hz hertz/ kHz kilohertz/
    MHz megahertz/ GHz gigahertz/ ° degree degrees/ °C C celsius/ °F F fahrenheit/ K kelvin/ % percent/ bit bits b/
    B byte bytes/ kB KB kilobyte kilobytes/ MB megabyte megabytes/ GB gigabyte gigabytes/ TB terabyte terabytes/
    psi PSI/ rpm RPM r/min/ gpm GPM/ cfm CFM/ hp HP/ Ω ohm ohms/ km/h kph/ mil mils/ cycle cycles/ line lines/
    pixel pixels px/ character characters
"""
_ALIASES = {
    name: names[0] for group in _ALIASES_LIST.split("/ ") for names in [group.split()] for name in names
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it stands.

    Attributes:
        readings: what it may mean: "1.403" is one thousand in German.
        unit: in its canonical form; None without any.
    """

    start: int
    end: int
    readings: frozenset[str]
    unit: str | None
    is_negative: bool


def find_amounts(text: str) -> Iterator[Amount]:
    """Yields the numbers of a plain text, in order. Linear in its length."""
    for match in _numbers(text):
        behind = _BEHIND.match(text, match.end())
        unit = None
        if behind and is_unit(behind.group(2), is_attached=not behind.group(1)):
            unit = _ALIASES.get(behind.group(2), behind.group(2))
        before = text[max(0, match.start() - 2) : match.start()]
        end = behind.end() if behind and unit else match.end()
        is_negative = bool(_NEGATIVE.search(before))
        yield Amount(match.start(), end, readings(match.group()), unit, is_negative)


def _numbers(text: str) -> Iterator[re.Match[str]]:
    """Yields the numbers of a text; each of a list such as "0,2,4" by itself."""
    for match in _DIGITS.finditer(text):
        if _LIST.fullmatch(text, *match.span()) and not _THOUSANDS.fullmatch(text, *match.span()):
            yield from _MEMBER.finditer(text, *match.span())
        else:
            yield match


def readings(digits: str) -> frozenset[str]:
    """Returns the values that digits with points and commas may stand for."""
    groups = re.split(r"[.,]", digits)
    first, last = groups[0], groups[-1]
    found: set[str] = set()
    if len(groups) == 1:
        found.add(digits)
    elif all(len(group) == 3 for group in groups[1:]) and len(first) <= 3:  # noqa: PLR2004 - thousands
        found.add("".join(groups))
    separators = [character for character in digits if character in ".,"]
    if len(separators) == 1 or (separators and separators[-1] not in separators[:-1]):
        found.add(f"{''.join(groups[:-1])}.{last}")
    return frozenset(map(_canonical, found or {digits}))


def _canonical(digits: str) -> str:
    """Returns "5" for "05" and "5.0"; what is no number, such as "1.2.3", as it is."""
    if len(digits) > _LONGEST_NUMBER or digits.count(".") > 1 or "," in digits:
        return digits
    return f"{Decimal(digits).normalize():f}"


def plain(text: str) -> str:
    """Returns a text with every unit that has several words as one."""
    for pattern, unit in _ONE_UNIT:
        text = pattern.sub(unit, text)
    return text


Day = tuple[int | None, int | None, int | None]
_NUMERIC_DATE = re.compile(
    r"(?<![\d.])(?:(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{1,2})([-/.])(\d{1,2})\6(\d{4}))(?![\d])"
)
_BETWEEN_PARTS = 6  # characters: "1st of May, 2024"


def find_days(text: str) -> dict[tuple[int, int], frozenset[Day]]:
    """Returns the places of dates with what they may mean: year, month, day; None where one is not said."""
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
        known, line = cls(), plain(text)
        for amount in find_amounts(line):
            known.numbers |= amount.readings
            if amount.unit:
                known.amounts |= {(reading, amount.unit) for reading in amount.readings}
            else:
                known.bare |= amount.readings
            if amount.is_negative:
                known.negatives |= amount.readings
        for match in _SPACED.finditer(line):
            known.numbers.add(_canonical(match.group().replace(" ", "")))
        for quantity in find_quantities(line):
            known.numbers.add(_canonical(str(quantity.value)))
        known.bare |= known.numbers - {number for number, _ in known.amounts}
        words = {word.strip(".,;:()[]|*\"'") for word in line.split()}
        known.units = {unit for _, unit in known.amounts} | {_ALIASES.get(word, word) for word in words}
        known.days = {day for days in find_days(line).values() for day in days}
        return known

    def faults(self, text: str) -> Iterator[tuple[FaultKind, str]]:
        """Yields the numbers, units and dates of a sentence that the input does not have."""
        line = plain(text)
        days = find_days(line)
        for (start, end), meant in days.items():
            if not any(self._has_day(day) for day in meant):
                yield FaultKind.DATE, line[start:end]
        spaced = [match.span() for match in _SPACED.finditer(line)]
        for start, end in spaced:
            parts = line[start:end].split()
            if not (_canonical("".join(parts)) in self.numbers or self.numbers.issuperset(map(_canonical, parts))):
                yield FaultKind.NUMBER, line[start:end]
        for amount in find_amounts(line):
            if any(start <= amount.start < end for start, end in (*days, *spaced)):
                continue
            if fault := self._fault(amount):
                yield fault, line[amount.start : amount.end]
        yield from self._worded(line)

    def _fault(self, amount: Amount) -> FaultKind | None:
        if amount.readings.isdisjoint(self.numbers):
            return FaultKind.NUMBER
        if amount.is_negative and amount.readings.isdisjoint(self.negatives):
            return FaultKind.NUMBER
        unit = amount.unit
        if unit is None or any((reading, unit) in self.amounts for reading in amount.readings):
            return None
        may_be_column = not amount.readings.isdisjoint(self.bare) and unit in self.units  # the unit is in its head
        return None if may_be_column else FaultKind.UNIT

    def _worded(self, line: str) -> Iterator[tuple[FaultKind, str]]:
        for quantity in find_quantities(line):
            words = line[quantity.start : quantity.end]
            is_counted = quantity.is_word and quantity.value <= _COUNTED_BY_HAND
            is_read = quantity.measure is Measure.ORDINAL or is_counted
            is_exact = quantity.is_word or bool(_SCALED.search(words))
            if is_exact and not is_read and _canonical(str(quantity.value)) not in self.numbers:
                yield FaultKind.NUMBER, words

    def _has_day(self, day: Day) -> bool:
        return any(
            all(mine is None or mine == theirs for mine, theirs in zip(day, known, strict=True)) for known in self.days
        )


_DASHES = re.compile("[\u2010\u2011\u2012\u2013\u2212]")
_EMPHASIS = re.compile(r"\*+|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_PIECES = re.compile(r"[/,;|()\[\]{}<>=\"'“”‘’`:]+")
_CODES = {TermKind.VERSION, TermKind.PART_NUMBER, TermKind.PATH, TermKind.COMMAND}
_LEAST_KNOWN = 0.5  # of a name's words: writers add "Mr" and "Street"


def comparable(text: str) -> str:
    """Returns a text with one kind of dash and without emphasis, as codes and names are looked for."""
    return _EMPHASIS.sub("", _DASHES.sub("-", text))


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
        words = re.findall(r"[^\W_]+", line.lower())
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
        words = [word for word in re.findall(r"[^\W_]+", name) if word not in FUNCTION_WORDS]
        known = sum(stem(word) in self.stems or self._is_initials(word) for word in words)
        return known >= _LEAST_KNOWN * len(words)

    def _is_initials(self, word: str) -> bool:
        return 3 <= len(word) <= 6 and word in self.initials  # noqa: PLR2004 - NATO; shorter ones are there by chance


def _pieces(text: str) -> Iterator[str]:
    for word in text.lower().split():
        for piece in _PIECES.split(word):
            if clean := piece.strip(".,;:!?*_-"):
                yield clean
