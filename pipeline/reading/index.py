"""How close the sentences of a text are to something: by shared words, weighted by rarity, and by cosines."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log1p

import numpy as np
import numpy.typing as npt

from pipeline.off_loop import stop_if_nobody_waits
from pipeline.reading.document import ReadText

Float64 = npt.NDArray[np.float64]

_LEAST_WORDS = 3  # fewer stand together by chance
_LEAST_SHARE = 0.5  # of the stems, weighted by rarity
_WIDESPREAD = 50
"""Words that make up a source's subject; among 10 to 80 it matters little how many, measured on two data sets."""


class WordIndex:
    """An inverted index: which sentences of a text have which stems."""

    def __init__(self, text: ReadText) -> None:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for sentence, words in enumerate(text.ranges):
            for stem in dict.fromkeys(text.content_stems(words)):
                places[stem].append(sentence)
        self._count = len(text.sentences)
        self._places = dict(places)

    def rarity(self, stem: str) -> float:
        """Returns the weight of a stem, at least 0.69: a stem of one sentence in 30 weighs 3.4, of all 0.69."""
        return log1p(self._count / max(1, len(self._places.get(stem, ()))))

    def sentence_count(self, stem: str) -> int:
        """Returns how many sentences have a stem."""
        return len(self._places.get(stem, ()))

    def salient_share(self, stems: Collection[str]) -> float:
        """Returns the share of the salient words among some stems, each weighted by its number of sentences.

        Returns:
            In [0, 1]; 0 for a text without content words.
        """
        ranked = sorted(self._places, key=lambda stem: -len(self._places[stem]))[:_WIDESPREAD]
        total = sum(map(self.sentence_count, ranked))
        return sum(self.sentence_count(stem) for stem in ranked if stem in stems) / total if total else 0.0

    def has(self, sentence: int, stem: str) -> bool:
        """Tells whether a sentence has a stem."""
        places = self._places.get(stem, [])
        position = bisect_left(places, sentence)
        return position < len(places) and places[position] == sentence

    def weighted(self, weights: Mapping[str, float]) -> Float64:
        """Returns the summed weight of those stems that each sentence has, shape (sentences,)."""
        stop_if_nobody_waits()
        found = np.zeros(self._count)
        for stem, weight in weights.items():
            found[self._places.get(stem, [])] += weight
        return found

    def have_together(self, stems: Iterable[str]) -> bool:
        """Tells whether two neighbouring sentences have 3 of some stems, and half of their weight, between them."""
        weights = {stem: self.rarity(stem) for stem in stems}
        found = [(weight, self._places[stem]) for stem, weight in weights.items() if stem in self._places]
        if len(found) < _LEAST_WORDS or not self._count:
            return False
        total, counts = np.zeros(self._count), np.zeros(self._count)
        for weight, places in found:
            pairs = np.union1d(places, np.maximum(0, np.array(places) - 1))  # a pair is known by its first sentence
            total[pairs] += weight
            counts[pairs] += 1
        return bool(np.any((counts >= _LEAST_WORDS) & (total >= _LEAST_SHARE * sum(weights.values()))))

    def is_about(
        self, stems: Sequence[str], among: Collection[int] | None = None, least_share: float = _LEAST_SHARE
    ) -> bool:
        """Tells whether the text has two of some stems, and so much of their weight.

        Args:
            among: sentences that may have them; None: all.
        """
        weights = {stem: self.rarity(stem) for stem in stems}
        known = [
            weight
            for stem, weight in weights.items()
            if (stem in self._places if among is None else any(self.has(at, stem) for at in among))
        ]
        return len(known) > 1 and sum(known) >= least_share * sum(weights.values())

    def known_share(self, weights: Mapping[str, float]) -> float:
        """Returns the share of some stems' weight that the text has anywhere, in [0, 1]; 1 without any weight."""
        total = sum(weights.values())
        return sum(weight for stem, weight in weights.items() if stem in self._places) / total if total else 1.0

    def shares(self, weights: Mapping[str, float]) -> Float64:
        """Returns which share of some stems' weight each sentence has, shape (sentences,), in [0, 1]; 0 without any."""
        total = sum(weights.values())
        return self.weighted(weights) / total if total else np.zeros(self._count)


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

    def cosines(self, vector: Float64) -> Float64:
        """Returns the cosine of a vector of length 1 with each sentence; 0 where none was embedded."""
        return np.asarray(np.clip(self.vectors @ vector, -1, 1))
