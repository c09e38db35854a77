"""ROUGE-1, ROUGE-2 and summary-level ROUGE-L (Lin 2004): F1, Porter stems, the best over the references.

Words are cut as the package rouge-score cuts them: runs of a-z and 0-9 in lower case, stemmed from four letters on.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import snowballstemmer
from rapidfuzz.distance import LCSseq

Gram = TypeVar("Gram", str, tuple[str, str])

_WORD = re.compile(r"[a-z0-9]+")
_SHORTEST_STEMMED = 4
_STEMMER = snowballstemmer.stemmer("porter")


class Rouge(NamedTuple):
    """F1 in [0, 1]."""

    one: float
    two: float
    longest: float


def rouge(sentences: Sequence[str], references: Sequence[Sequence[str]]) -> Rouge:
    """Scores a summary; each figure is the best over the references.

    Args:
        sentences: of the summary.
        references: each as its sentences.
    """
    scores = [_against(sentences, reference) for reference in references]
    return Rouge(*(max(each) for each in zip(*scores, strict=True)))


def words(text: str) -> list[str]:
    """Returns the stems that are compared."""
    return [_stem(word) for word in _WORD.findall(text.lower())]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word)) if len(word) >= _SHORTEST_STEMMED else word


def _against(sentences: Sequence[str], reference: Sequence[str]) -> Rouge:
    told, wanted = [words(each) for each in sentences], [words(each) for each in reference]
    flat, other = list(chain.from_iterable(told)), list(chain.from_iterable(wanted))
    return Rouge(
        _f1(Counter(flat), Counter(other)),
        _f1(Counter(pairwise(flat)), Counter(pairwise(other))),
        _summary_lcs(told, wanted),
    )


def _f1(told: Counter[Gram], wanted: Counter[Gram]) -> float:
    shared = (told & wanted).total()
    total = told.total() + wanted.total()
    return 2 * shared / total if total else 0.0


def _summary_lcs(told: list[list[str]], wanted: list[list[str]]) -> float:
    """Returns the F1 of the union of longest common subsequences, each word counted once."""
    told_counts, wanted_counts = Counter(chain.from_iterable(told)), Counter(chain.from_iterable(wanted))
    total = told_counts.total() + wanted_counts.total()
    hits = 0
    for sentence in wanted:
        union: set[int] = set()
        for candidate in told:
            for block in LCSseq.opcodes(sentence, candidate):
                if block.tag == "equal":
                    union.update(range(block.src_start, block.src_end))
        for position in sorted(union):
            word = sentence[position]
            if told_counts[word] > 0 and wanted_counts[word] > 0:
                hits, told_counts[word], wanted_counts[word] = hits + 1, told_counts[word] - 1, wanted_counts[word] - 1
    return 2 * hits / total if total else 0.0
