"""Where German sentences end.

German writes ordinals with a full stop ("am 3. Mai", "im 2. Stock"), and every noun with a capital letter, so that
the letter after a full stop says little. What decides is the word before a number, and the first word after it.
"""

import re
from collections.abc import Iterator

from pipeline.reading.word_lists import any_of, word_list
from pipeline.reading.words import fold_case

_READ_CHARS = 20_000
_FEWEST_WORDS = 3
_AROUND_WORDS = '.,;:!?()„“”"*_'
_ABBREVIATED = re.compile(rf"(?<![\w-])(?:{any_of('german_abbreviations')}|[A-Za-z]|§§?)\.$")
_ORDINAL = re.compile(r"(?:(?<![\w.,-])([^\W\d_]+)\s+)?(?<![\w.,])\(?\d{1,3}\.$")
_MONTH = re.compile(rf"\s*{any_of('german_months')}\b")
_GERMAN_DAY = re.compile(r"\b(?:am|bis|de[mnr]|seit|vom|zum)\s+\d{1,2}\.$")
_OPENERS = any_of("german_openers")
_OPENER = re.compile(rf"\s*{_OPENERS}\b")
_MISSED = re.compile(rf"(?<=[a-zäöüß]{{4}}[.!?])\s++(?={_OPENERS}\s)")
_LOOK_BACK = 60


def is_german(text: str) -> bool:
    """Tells whether a text is German, by its first 20,000 characters."""
    words = [word.strip(_AROUND_WORDS) for word in text[:_READ_CHARS].split()]
    german = [word for word in words if word in word_list("german_words")]
    english = sum(word in word_list("english_words") for word in words)
    return len(set(german)) >= _FEWEST_WORDS and len(german) > 2 * english


def german_ends(text: str, ends: set[int]) -> set[int]:
    """Returns the ends of sentences of a German text, given those that a splitter for English found. Linear."""
    kept = {end for end in ends if not _goes_on(text, end)}
    return kept | {match.start() for match in _missed(text)}


def is_german_day(text: str, end: int) -> bool:
    """Tells whether the day of a date ends here: "am 3. Mai"."""
    before = text[max(0, end - _LOOK_BACK) : end].rstrip()
    return before[-2:-1].isdigit() and bool(_GERMAN_DAY.search(before) and _MONTH.match(text, end))


def _goes_on(text: str, end: int) -> bool:
    before = text[max(0, end - _LOOK_BACK) : end].rstrip()
    after = text[end : end + _LOOK_BACK].lstrip()
    if not before.endswith(".") or not after:
        return False
    if after[0].islower():
        return True
    if _OPENER.match(after):
        return False
    ordinal = _ORDINAL.search(before)
    if ordinal is None or _MONTH.match(after):
        return ordinal is not None or _ABBREVIATED.search(before) is not None
    return fold_case(ordinal.group(1) or "") in word_list("german_before_ordinals")


def _missed(text: str) -> Iterator[re.Match[str]]:
    """Yields the space between sentences that a word of four letters, no abbreviation, and an opening word part."""
    for match in _MISSED.finditer(text):
        if not _ABBREVIATED.search(text, max(0, match.start() - _LOOK_BACK), match.start()):
            yield match
