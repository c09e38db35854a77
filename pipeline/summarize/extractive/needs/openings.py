"""Tells by its first words whether a sentence can stand without what is before it.

"It is read at start.", "If this is not set, ..." and "The default is 8 MB." say nothing without their antecedent.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto

from pipeline.reading.function_words import FUNCTION_WORDS, POINTING_WORDS, PROSE_WORDS

_EXPLETIVE = {"there", "we", "both"}  # "There are two pumps.", "Both pumps run."
_CONNECTIVE_LIST = """
    thus therefore hence moreover furthermore additionally similarly likewise but and or so nevertheless
    nonetheless conversely consequently still yet finally afterwards afterward meanwhile again other others she'd he'd
    it's it'll he's she's they're they've they'd that's this's hers theirs its itself themselves subsequently else
    accordingly conversely sadly
"""
_PRONOUN_LIST = "he she it they his her its their him them this that these those such"
_PRONOUNS = frozenset(_PRONOUN_LIST.split())
_CONNECTIVES = (POINTING_WORDS - _PRONOUNS - _EXPLETIVE) | frozenset(_CONNECTIVE_LIST.split())
_PHRASE = re.compile(
    r"in (?:addition|contrast|turn|other words|particular|such cases?)|for (?:example|instance)|unlike"
    r"|as a (?:result|consequence)|on the (?:other hand|contrary)|at the same time|of (?:course|these|those|them)"
    r"|among (?:them|these)|(?:second|third|fourth|fifth)(?:ly|,)",
    re.IGNORECASE,
)
# What belongs to something that was named before: "The default is 8 MB.", "The latter runs."
_RELATIVE_LIST = """
    default defaults value values setting settings option options parameter parameters variable argument arguments
    latter former same second third other others rest result results reason remaining resulting above previous
    corresponding alternative difference
"""
_RELATIVES = frozenset(_RELATIVE_LIST.split())
# A text speaks of itself ("In this chapter, ..."), or says at once who is meant ("Those who ...").
_ITSELF_LIST = "article appendix book chapter document guide manual page paper part report section"
_ITSELF = frozenset(_ITSELF_LIST.split())
_SAID_BEHIND = frozenset(["who", "which", "whose", "whom", "with"])
_BEFORE_PRONOUNS_LIST = """
    after all although any because before besides both despite during each either most none once since some though
    unless until upon while without
"""
_BEFORE_PRONOUNS = PROSE_WORDS | frozenset(_BEFORE_PRONOUNS_LIST.split())
_MOST_WORDS_BEFORE = 4
_OBJECTS = frozenset(["it", "them"])
_CLAUSE_NUMBER = re.compile(r"(?<!\s)\s*+\d{1,3}(?:\.\d{1,3}){1,9}\.?\s+")  # "10.2 It renews for a year."
_EDGES = "\"'“”‘’(),;:.!?*_`[]…"


class Opening(Enum):
    """What the first words of a sentence need."""

    FREE = auto()
    ENTRY = auto()  # what it is about, such as the parameter: "The default is 8 MB.", "This option is on."
    PREVIOUS = auto()  # the sentence before it


def opening_of(text: str) -> Opening:
    """Returns what a sentence needs to be understood."""
    stripped = _CLAUSE_NUMBER.sub("", text, count=1).lstrip(_EDGES)
    words = [word.strip(_EDGES).replace("’", "'").lower() for word in stripped.split(None, _MOST_WORDS_BEFORE + 2)]
    if not words:
        return Opening.FREE
    if words[0] == "the":
        return Opening.ENTRY if words[1:2] and words[1] in _RELATIVES else Opening.FREE
    if words[0] in _CONNECTIVES or _PHRASE.match(stripped):
        return Opening.PREVIOUS
    for before, word in enumerate(words[: _MOST_WORDS_BEFORE + 1]):
        following = words[before + 1] if before + 1 < len(words) else ""
        if word in _PRONOUNS and following not in _ITSELF and not (word == "those" and following in _SAID_BEHIND):
            return Opening.ENTRY if following in _RELATIVES else Opening.PREVIOUS
        if word in _PRONOUNS or not (word in _BEFORE_PRONOUNS or word.endswith("ing")):
            break
    return Opening.PREVIOUS if _lacks_object(words) else Opening.FREE


def _lacks_object(words: Sequence[str]) -> bool:
    """Tells whether first words act on what they do not name: "Menu 8.1 shows them", "To install it", "Store it"."""
    place = next((place for place, word in enumerate(words) if word in _OBJECTS), 0)
    if not 0 < place < _MOST_WORDS_BEFORE or words[place - 1] in FUNCTION_WORDS:  # "which makes it", "and them"
        return False
    if words[place] == "it":  # of one thing the words before may well speak
        return place == 1 + (words[0] == "to")
    return not any(word == "and" or word.endswith("s") for word in words[: place - 1])


def starts_inside(text: str) -> bool:
    """Tells whether a text begins in the middle of a sentence: with a small letter or a closing mark."""
    return text[:1] in ",;:)]}" or text.lstrip("([\"'“‘")[:1].islower()
