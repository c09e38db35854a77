"""Windows of neighbouring sentences, and their relevance: shared words, weighted by rarity, and cosines."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np
import numpy.typing as npt

from pipeline.judge.evidence.text.read import ReadText
from pipeline.text.passage import TextSpan
from pipeline.text.windows import sliding_windows


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences.

    Attributes:
        passage: where they stand, and what models read.
        first: index of the first sentence.
    """

    passage: TextSpan
    first: int
    size: int

    @property
    def sentences(self) -> range:
        """Indices of its sentences."""
        return range(self.first, self.first + self.size)


@dataclass(frozen=True, slots=True)
class Region:
    """Where the source speaks about a claim.

    Attributes:
        near: sentences of the best windows and their neighbours, as character spans of the normalised source.
        beside: words of the windows that the claim is laid beside, best first.
    """

    near: tuple[tuple[int, int], ...]
    beside: tuple[range, ...]


def make_windows(text: ReadText, sizes: Sequence[int]) -> dict[int, tuple[Window, ...]]:
    """Returns the windows of each size, by position; a text shorter than every size is one window of its length."""
    count = len(text.sentences)
    usable = [size for size in sorted(sizes) if size <= count] or ([count] if count else [])
    return {
        size: tuple(
            Window(passage, first, size)
            for first, passage in enumerate(sliding_windows(text.text, text.sentences, [size]))
        )
        for size in usable
    }


Float64 = npt.NDArray[np.float64]


class WordIndex:
    """An inverted index: which sentences of a text have which stems."""

    def __init__(self, text: ReadText) -> None:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for sentence, words in enumerate(text.ranges):
            for stem in dict.fromkeys(text.table.content_stems(words)):
                places[stem].append(sentence)
        self._count = len(text.sentences)
        self._places = dict(places)

    def rarity(self, stem: str) -> float:
        """Returns the weight of a stem, at least 0.69: a stem of one sentence in 30 weighs 3.4, of all 0.69."""
        return log1p(self._count / max(1, len(self._places.get(stem, ()))))

    def sentence_count(self, stem: str) -> int:
        """Returns how many sentences have a stem."""
        return len(self._places.get(stem, ()))

    def widespread(self, most: int) -> dict[str, int]:
        """Returns the stems of most sentences with their number of sentences; first in the text first on a tie."""
        ranked = sorted(self._places.items(), key=lambda item: -len(item[1]))
        return {stem: len(places) for stem, places in ranked[:most]}

    def has(self, sentence: int, stem: str) -> bool:
        """Tells whether a sentence has a stem."""
        places = self._places.get(stem, [])
        position = bisect_left(places, sentence)
        return position < len(places) and places[position] == sentence

    def counts(self, stems: Iterable[str]) -> Float64:
        """Returns how many of some distinct stems each sentence has, shape (sentences,)."""
        found = np.zeros(self._count)
        for stem in stems:
            found[self._places.get(stem, [])] += 1
        return found

    def shares(self, stems: Iterable[str], size: int) -> Float64:
        """Returns which share of some stems, by weight, each window of neighbouring sentences has.

        Args:
            stems: of the content words that are looked for.
            size: sentences in a window, at most as many as the text has.

        Returns:
            Shape (windows,), in [0, 1]; all 0 without stems.
        """
        found = np.zeros(max(0, self._count - size + 1))
        total = 0.0
        for stem in dict.fromkeys(stems):
            weight = self.rarity(stem)
            total += weight
            if stem in self._places:
                has = np.zeros(self._count, dtype=bool)
                has[self._places[stem]] = True
                window_has = has[: len(found)].copy()
                for shift in range(1, size):
                    window_has |= has[shift : shift + len(found)]
                found += weight * window_has
        return found / total if total else found


class Closeness:
    """Cosines with the sentences of a text, some of which may not have been embedded."""

    def __init__(self, vectors: Float64, positions: Sequence[int], sentence_count: int) -> None:
        """Spreads the vectors of some sentences over all.

        Args:
            vectors: shape (positions, dimension), rows of length 1.
            positions: of the sentences that were embedded, rising.
            sentence_count: of the text.
        """
        self.vectors = np.zeros((sentence_count, vectors.shape[1]))
        self.vectors[list(positions)] = vectors

    def cosines(self, vector: Float64, size: int) -> Float64:
        """Returns the cosine of a vector with the mean of each window; 0 where no sentence was embedded."""
        count = max(0, len(self.vectors) - size + 1)
        sums = sum(self.vectors[shift : shift + count] for shift in range(size))
        lengths = np.maximum(np.linalg.norm(sums, axis=1), np.finfo(np.float64).tiny)
        return np.asarray(np.clip((sums @ vector) / lengths, -1, 1))


def most_relevant(windows: Sequence[Window], relevance: Float64, most: int) -> tuple[Window, ...]:
    """Returns the windows with the highest relevance, best first; the first ones on a tie."""
    return tuple(windows[index] for index in np.argsort(-relevance, kind="stable")[:most])
