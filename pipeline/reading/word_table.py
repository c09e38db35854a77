"""The words of a text as they are compared: casefolded, stemmed, content words told from function words.

Parts of hyphenated words are words of their own. Stems make "surrendered" and "surrenders" one word. Snowball's English
stemmer serves every language, for both sides of a comparison are stemmed alike. A language that it does not know loses
recall and nothing else.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from snowballstemmer import stemmer

from pipeline.off_loop import stop_if_nobody_waits, stoppable
from pipeline.reading.word_lists import FUNCTION_WORDS, is_verb
from pipeline.reading.words import fold_case, split_words

_CAPITAL_INSIDE = re.compile(r"[^\W\d_A-Z],? [A-Z][^\W\d_]")


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """Words in order; all attributes have the same length."""

    text: str  # normalised; positions count its code points
    starts: list[int]  # first character of each word, rising
    ends: list[int]  # exclusive
    words: list[str]  # casefolded
    stems: list[str]  # of `words`
    content: list[bool]  # whether a word says something by itself
    # whether words stand capitalised inside sentences; if not, capitals do not tell names from other words
    is_cased: bool
    # indices of words that begin a sentence although nothing before them says so
    openings: frozenset[int] = frozenset()

    @classmethod
    def of(cls, text: str) -> "WordTable":
        """Splits a normalised text. Linear in its length."""
        found = split_words(text)
        starts, ends = found.starts.tolist(), found.ends.tolist()
        words = _fold_words(text, starts, ends)
        stems = list(map(stem, stoppable(words)))
        distinct = stoppable(set(words))
        known = {word for word in distinct if word not in FUNCTION_WORDS and any(map(str.isalnum, word))}
        content = [word in known for word in words]
        return cls(text, starts, ends, words, stems, content, bool(_CAPITAL_INSIDE.search(text)))

    def __len__(self) -> int:
        return len(self.starts)

    def between(self, start: int, end: int) -> range:
        """Returns the indices of the words that begin at `start` or after it, and before `end`."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def has_verb(self, words: Iterable[int] | None = None) -> bool:
        """Tells whether some words, or all, may state something: one is a verb, and not "May", which is a month."""
        return any(self.is_verb(at) and self.raw(at) != "May" for at in (range(len(self)) if words is None else words))

    def is_verb(self, index: int) -> bool:
        """Tells whether a word may be a verb."""
        return is_verb(self.words[index])

    def content_words(self, indices: Iterable[int]) -> list[int]:
        """Returns the content words among some words. Every reader of sentences asks, so here work ends for nobody."""
        stop_if_nobody_waits()
        return [index for index in indices if self.content[index]]

    def content_stems(self, indices: Iterable[int]) -> list[str]:
        """Returns the stems of the content words among some words, repeats included."""
        return [self.stems[index] for index in self.content_words(indices)]

    def raw(self, index: int) -> str:
        """Returns a word as it stands."""
        return self.text[self.starts[index] : self.ends[index]]


def _fold_words(text: str, starts: Sequence[int], ends: Sequence[int]) -> list[str]:
    spans = stoppable(zip(starts, ends, strict=True))
    folded = fold_case(text)
    if len(folded) == len(text):  # every character became one, so that positions hold
        return [folded[start:end] for start, end in spans]
    return [fold_case(text[start:end]) for start, end in spans]


_LONGEST_STEMMED = 60  # longer ones are no words; their stem is not worth the time
_stemmer = stemmer("english")
_stemmer_lock = Lock()  # the stemmer keeps the word it works on: two threads would mix theirs


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Returns the stem of a casefolded word."""
    if len(word) > _LONGEST_STEMMED or not word.isalpha():
        return word
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))
