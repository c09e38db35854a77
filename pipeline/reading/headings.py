"""Headings: those that only name what follows state nothing. English only."""

from collections.abc import Sequence

from pipeline.reading.rules import Rule
from pipeline.reading.sentences import BlockKind, Sentence
from pipeline.reading.word_lists import is_verb
from pipeline.reading.word_table import WordTable

_FEWEST_WORDS = 9  # a heading with more is a statement


HEADINGS = Rule(
    "headings",
    "reading",
    "A heading without a verb, a full stop and nine words states nothing.",
    "## The old bridge",
    "no statement",
)


def statements(text: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Returns the sentences without headings that only name what follows; a text of nothing else keeps them."""
    if not HEADINGS.is_on:
        return list(sentences)
    stated = [one for one in sentences if one.kind is not BlockKind.HEADING or _states(text[one.start : one.end])]
    return stated or list(sentences)


def _states(heading: str) -> bool:
    """Tells whether a heading says what happened: it ends like a sentence, is as long as one, or has a verb."""
    words = WordTable.of(heading).words
    return heading.rstrip("*_# ").endswith((".", "!")) or len(words) >= _FEWEST_WORDS or any(map(is_verb, words[1:]))
