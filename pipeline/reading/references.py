"""Tells by its first words whether a sentence can stand without what is before it.

"It is read at start.", "If this is not set, ..." and "The default is 8 MB." say nothing without their antecedent.
"""

from enum import Enum, auto
from itertools import pairwise
from string import digits

from pipeline.reading.word_lists import FUNCTION_WORDS, PROSE_WORDS, phrase_list, word_list

_SAID_BEHIND = ("who", "which", "whose", "whom", "with")  # "Those who ..." says at once who is meant
_MOST_WORDS_BEFORE = 4  # a pronoun
_EDGES = "\"'“”‘’(),;:.!?*_`[]…"


class Antecedent(Enum):
    """What a sentence needs before it."""

    ENTRY = auto()  # what it is about, such as the parameter: "The default is 8 MB.", "This option is on."
    SENTENCE = auto()  # the one before it


def points_back(text: str) -> Antecedent | None:
    """Returns what a sentence needs to be understood; None if it stands alone."""
    opening = text.lstrip(_EDGES + digits + " ")  # "10.2 It renews for a year."
    words = [word.strip(_EDGES).replace("’", "'").lower() for word in opening.split(None, _MOST_WORDS_BEFORE + 2)]
    words += [""] * 2
    if words[0] == "the":
        return Antecedent.ENTRY if words[1] in word_list("relative_words") else None
    phrases = tuple(f"{phrase} " for phrase in phrase_list("connective_phrases"))
    act = int(words[0] == "to")  # on what it does not name: "To install it", "Store them"
    lacks_object = words[act + 1] in ("it", "them") and words[act] not in FUNCTION_WORDS
    if words[0] in word_list("connectives") or " ".join(words).startswith(phrases) or lacks_object:
        return Antecedent.SENTENCE
    for word, following in pairwise(words):
        if word in word_list("pronouns"):
            is_said = following in word_list("parts_of_texts") or (word == "those" and following in _SAID_BEHIND)
            found = Antecedent.ENTRY if following in word_list("relative_words") else Antecedent.SENTENCE
            return None if is_said else found
        if not (word in PROSE_WORDS or word in word_list("words_before_pronouns") or word.endswith("ing")):
            break
    return None


def starts_inside(text: str) -> bool:
    """Tells whether a text begins in the middle of a sentence: with a small letter or a closing mark."""
    return text[:1] in ",;:)]}" or text.lstrip("([\"'“‘")[:1].islower()
