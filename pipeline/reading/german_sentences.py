"""Where German sentences end.

German writes ordinals with a full stop ("am 3. Mai", "im 2. Stock"), and every noun with a capital letter, so that
the letter after a full stop says little. What decides is the word before a number, and the first word after it.
"""

import re
from collections.abc import Iterator

_READ_CHARS = 20_000
_FEWEST_WORDS = 3
_GERMAN = re.compile(r"\b(?:der|das|und|ist|nicht|mit|für|wird|werden|ein|eine|einen|den|dem|auf|von|bei|sich)\b")
_ENGLISH = re.compile(r"\b(?:the|of|and|to|is|that|with|for|are|on|by|it)\b")
# Abbreviations behind which a sentence goes on; those that may well end one, such as "usw.", are left out.
_ABBREVIATIONS = """
    Abb Abs Abschn Abt Anh Anl Anm Apr Art Aug Aufl Bd Bsp Bst Dez Dipl Dr Fa Feb Fr Gem Hr Hrsg Ing Jan Kap Lfd Max
    Min Mind Mio Mrd Nov Nr Okt Pkt Pos Prof Rn Sept Sog St Str Tab Tel Tsd Vgl Vors Ziff bspw bzgl bzw ca evtl exkl gem
    ggf inkl insb lfd max min mind sog spez stellv tägl ugs vgl vorl zzgl zul
"""
_ABBREVIATED = re.compile(rf"(?<![\w-])(?:{'|'.join(_ABBREVIATIONS.split())}|[A-Za-z]|§§?)\.$")
_ORDINAL = re.compile(r"(?:(?<![\w.,-])([^\W\d_]+)\s+)?(?<![\w.,])\(?\d{1,3}\.$")
_MONTH = re.compile(
    r"\s*(?:Jan(?:uar)?|Jän|Feb(?:ruar)?|März|Mrz|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?|Sept?(?:ember)?|Okt(?:ober)?"
    r"|Nov(?:ember)?|Dez(?:ember)?)\b"
)
_GERMAN_DAY = re.compile(r"\b(?:am|bis|de[mnr]|seit|vom|zum)\s+\d{1,2}\.$")
_BEFORE_ORDINAL_LIST = """
    ab am an auf beim bis das dem den der des die diese diesem diesen dieser ein eine einem einen einer eines im ins
    jede jedem jeden jeder jedes seit vom vor zum zur als
"""
_BEFORE_ORDINAL = frozenset(_BEFORE_ORDINAL_LIST.split())
# What begins a sentence and never follows an ordinal.
_OPENERS = (
    "Aber|Alle|Als|Am|Auch|Auf|Bei|Beim|Bitte|Da|Dabei|Dadurch|Daher|Damit|Danach|Dann|Das|Dazu|Dem|Den|Der|Des|Die"
    "|Dies|Diese|Dieser|Dieses|Doch|Ein|Eine|Einen|Er|Es|Falls|Für|Hier|Ich|Ihr|Im|In|Jede|Jeder|Kein|Keine|Mit|Nach"
    "|Nicht|Nur|Ob|Sie|Sind|So|Um|Und|Vor|Wenn|Wer|Wie|Wir|Wird|Zu|Zum|Zur"
)
_OPENER = re.compile(rf"\s*(?:{_OPENERS})\b")
_MISSED = re.compile(rf"(?<=[a-zäöüß]{{4}}[.!?])\s++(?=(?:{_OPENERS})\s)")
_LOOK_BACK = 60


def is_german(text: str) -> bool:
    """Tells whether a text is German, by its first 20,000 characters."""
    german = _GERMAN.findall(text, 0, _READ_CHARS)
    return len(set(german)) >= _FEWEST_WORDS and len(german) > 2 * len(_ENGLISH.findall(text, 0, _READ_CHARS))


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
    return (ordinal.group(1) or "").casefold() in _BEFORE_ORDINAL


def _missed(text: str) -> Iterator[re.Match[str]]:
    """Yields the space between sentences that a word of four letters, no abbreviation, and an opening word part."""
    for match in _MISSED.finditer(text):
        if not _ABBREVIATED.search(text, max(0, match.start() - _LOOK_BACK), match.start()):
            yield match
