"""The word lists of `data/`: one file a list, whose first line is a comment with its source.

A line that begins with "#" is a comment. Words that say nothing by themselves are listed for each reader. The lists are
English, with what of German, French and Spanish none may lack.
"""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


@cache
def phrase_list(name: str) -> tuple[str, ...]:
    """Returns the lines of `data/NAME.txt` in order, for a list whose entries have several words."""
    lines = (_FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line.strip() and not line.startswith("#"))


@cache
def word_list(name: str) -> frozenset[str]:
    """Returns the words of `data/NAME.txt`, which stand apart by white space."""
    return frozenset(" ".join(phrase_list(name)).split())


@cache
def any_of(name: str) -> str:
    """Returns a regular expression for any word of `data/NAME.txt`; a word may be a regular expression itself."""
    return f"(?:{'|'.join(' '.join(phrase_list(name)).split())})"


@cache
def any_phrase(name: str) -> str:
    """Returns a regular expression for any line of `data/NAME.txt`; a line may be a regular expression itself."""
    return f"(?:{'|'.join(phrase_list(name))})"


_SHARED = word_list("shared_words")
_COMMON = _SHARED | word_list("common_words")

FUNCTION_WORDS = _COMMON | word_list("function_words")
"""The judge compares texts without them; negations are compared on their own."""

STOP_WORDS = _COMMON | word_list("stop_words")
"""No key phrase holds one of them: words of manuals that name no subject."""

PROSE_WORDS = _SHARED | word_list("prose_words")
"""By their share prose is told from listings."""

NO_NAMES = _SHARED | word_list("capitalised_words")
"""A single one of them, capitalised, is no name."""

POINTING_WORDS = word_list("pointing_words")
"""A sentence that begins with one of them points back to what was said before it."""

FINITE_VERBS = word_list("finite_verbs")
"""Casefolded words that are verbs with a subject, nearly always."""
_MAYBE_VERBS = word_list("maybe_verbs")  # without an object they may be participles or nouns
_NAMING = word_list("naming_verbs")
_SHORTEST_PAST = 5


def is_verb(word: str) -> bool:
    """Tells whether an English word may be a verb that states something: by lists, and by its ending."""
    is_past = word.endswith("ed") and len(word) >= _SHORTEST_PAST and word not in _NAMING
    return is_past or word in FINITE_VERBS or word in _MAYBE_VERBS
