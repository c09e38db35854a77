"""Finds what a model quotes in the texts that it was shown."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from pipeline.text.normalize import NormalizedText
from pipeline.text.passage import Passage

_EDGES = " \t\r\n\"'“”‘’«»`.,;:"
_LEAST_CHARS = 8  # less stands in almost any text


def find_quotes(quotes: Iterable[str], texts: Sequence[NormalizedText]) -> tuple[Passage, ...]:
    """Returns the places of those quotes that stand in one of the texts, in order, each place once.

    Case, white space and punctuation at the edges do not count. A quote of less than eight characters proves nothing.
    """
    places = (_find(quote, texts) for quote in quotes)
    return tuple(dict.fromkeys(place for place in places if place is not None))


def _find(quote: str, texts: Sequence[NormalizedText]) -> Passage | None:
    words = unicodedata.normalize("NFKC", quote).strip(_EDGES).split()
    if sum(map(len, words)) < _LEAST_CHARS:
        return None
    pattern = re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE)
    for text in texts:
        if match := pattern.search(text.text):
            return text.passage(*match.span())
    return None
