"""The sentences that say what a text is about: close to its middle, early, long enough, and different from each other.

Without vectors (a long text is embedded in part) frequent words stand in for the middle.
"""

from collections.abc import Sequence

import numpy as np

from pipeline.judge.evidence.reading import ReadText
from pipeline.judge.evidence.relevance import Closeness, Float64, WordIndex

_MIDDLE_WEIGHT, _WORDS_WEIGHT, _LEAD_WEIGHT = 0.5, 0.3, 0.2
_LEAD_SENTENCES, _LEAD_SHARE = 10.0, 0.1  # after so many, or this share of all, 63% of the lead bonus is gone
_FULL_LENGTH_WORDS = 10
_RELEVANCE_WEIGHT = 0.7  # of MMR; the rest goes to difference
_MOST_SHARED_STEMS = 0.6  # mutually exclusive: of the shorter sentence's words
_MOST_COSINE = 0.8


def word_centrality(text: ReadText, index: WordIndex) -> Float64:
    """Scores sentences by how frequent their words are in the text, shape (sentences,), in [0, 1]."""
    means = []
    for words in text.ranges:
        stems = dict.fromkeys(text.table.content_stems(words))
        frequencies = [np.log1p(index.sentence_count(stem) - 1) for stem in stems]
        means.append(sum(frequencies) / max(len(frequencies), 5))
    return _scaled(np.array(means, dtype=np.float64))


def rank_centrality(text: ReadText, index: WordIndex, closeness: Closeness) -> Float64:
    """Scores sentences, shape (sentences,), in [0, 1]."""
    count = len(text.sentences)
    if not count:
        return np.zeros(0)
    total = closeness.vectors.sum(axis=0)
    middle = total / max(np.linalg.norm(total), np.finfo(np.float64).tiny)
    content = np.array([sum(text.table.content[word] for word in words) for words in text.ranges], dtype=np.float64)
    score = (
        _MIDDLE_WEIGHT * _scaled(closeness.cosines(middle, 1))
        + _WORDS_WEIGHT * word_centrality(text, index)
        + _LEAD_WEIGHT * np.exp(-np.arange(count) / max(_LEAD_SENTENCES, _LEAD_SHARE * count))
    )
    return np.asarray(score * np.minimum(content / _FULL_LENGTH_WORDS, 1))


def choose_distinct(
    text: ReadText, centrality: Float64, closeness: Closeness, *, allowed: Sequence[int], most: int
) -> list[int]:
    """Chooses sentences by maximal marginal relevance, best first; none repeats what another says.

    Args:
        text: read.
        centrality: shape (sentences,).
        closeness: vectors of the sentences.
        allowed: indices of the sentences to choose from, rising.
        most: sentences to choose.
    """
    stems = {index: frozenset(text.table.content_stems(text.ranges[index])) for index in allowed}
    open_ones = [index for index in allowed if stems[index]]
    likeness = np.zeros(len(text.sentences))
    chosen: list[int] = []
    while open_ones and len(chosen) < most:
        scores = [_RELEVANCE_WEIGHT * centrality[i] - (1 - _RELEVANCE_WEIGHT) * likeness[i] for i in open_ones]
        best = open_ones[int(np.argmax(scores))]
        chosen.append(best)
        cosines = closeness.cosines(closeness.vectors[best], 1)
        likeness = np.maximum(likeness, cosines)
        open_ones = [
            index
            for index in open_ones
            if index != best and cosines[index] < _MOST_COSINE and not _overlap(stems[index], stems[best])
        ]
    return chosen


def _overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    return len(left & right) > _MOST_SHARED_STEMS * min(len(left), len(right))


def _scaled(values: Float64) -> Float64:
    """Returns the values on a scale from 0 (the smallest) to 1; all 1 if they are equal."""
    if not len(values):
        return values
    width = values.max() - values.min()
    return np.ones_like(values) if width <= 0 else np.asarray((values - values.min()) / width)
