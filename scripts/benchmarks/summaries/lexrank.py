"""LexRank (Erkan and Radev 2004): sentences ranked by the walks on the graph of their TF-IDF cosines."""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

_WORD = re.compile(r"[a-z0-9]+")
_THRESHOLD, _DAMPING, _ROUNDS = 0.1, 0.85, 100


def lexrank(sentences: Sequence[str]) -> list[int]:
    """Returns the positions of sentences, the most central first."""
    counts = [Counter(_WORD.findall(sentence.lower())) for sentence in sentences]
    frequency = Counter(word for count in counts for word in count)
    columns = {word: column for column, word in enumerate(frequency)}
    vectors = np.zeros((len(sentences), len(columns)), dtype=np.float32)
    for row, count in enumerate(counts):
        for word, times in count.items():
            vectors[row, columns[word]] = times * math.log(len(sentences) / frequency[word])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    links = vectors @ vectors.T
    links[links < _THRESHOLD] = 0
    links /= np.maximum(links.sum(axis=1, keepdims=True), 1e-9)
    rank = np.full(len(sentences), 1 / len(sentences))
    for _ in range(_ROUNDS):
        rank = (1 - _DAMPING) / len(sentences) + _DAMPING * (links.T @ rank)
    return [int(position) for position in np.argsort(-rank, kind="stable")]


def within(sentences: Sequence[str], ranked: Sequence[int], words: int) -> list[str]:
    """Returns the best sentences in their order, exactly so many words of them: the last one taken is cut."""
    chosen: dict[int, str] = {}
    left = words
    for position in ranked:
        if left <= 0:
            break
        taken = sentences[position].split()[:left]
        chosen[position] = " ".join(taken)
        left -= len(taken)
    return [chosen[position] for position in sorted(chosen)]
