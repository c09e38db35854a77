"""Tells which chunks of a document may hold a sentence: to split and fold all of them takes five times as long."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pipeline.off_loop import stoppable

_WORD = re.compile(r"[^\W_]+")
_JOINED_BY_FOLDING = re.compile(r"[*_`](?<=[^\W_].)(?:(?<=[*`])|(?=[*_`]))[*_`]*[^\W_]")  # "re**start**ed"
_MAY_BE_CUT = re.compile(r"[^ \n]{1000}")  # in the midst of a word


class ChunkWords:
    """The words of each chunk, whatever their case. Linear in the length of the document."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._holders: defaultdict[str, set[int]] = defaultdict(set)
        self._unsure: set[int] = set()
        self._all: set[int] = set()
        for number, text in enumerate(stoppable(texts)):
            self._all.add(number)
            if _keeps_its_words(text):
                for word in set(_WORD.findall(text.casefold())):
                    self._holders[word].add(number)
            else:
                self._unsure.add(number)

    def may_hold(self, folded: Iterable[str]) -> Sequence[int]:
        """Returns the chunks, in order, of which a part may be one of some folded sentences; all that are."""
        found = set(self._unsure)
        for sentence in stoppable(folded):
            holders = [self._holders.get(word, set()) for word in _WORD.findall(sentence.casefold())]
            found |= set.intersection(*sorted(holders, key=len)) if holders else self._all
        return sorted(found)


def _keeps_its_words(text: str) -> bool:
    """Tells whether every part of a text, folded, is made of words that the text has."""
    is_normal = unicodedata.is_normalized("NFKC", text)
    return is_normal and not _JOINED_BY_FOLDING.search(text) and not _MAY_BE_CUT.search(text)
