"""Finds what in a document a written sentence was made from: the passage that the model reads, and its sentences."""

from dataclasses import replace

from pipeline.reading.passages import Passage
from pipeline.support.claim_support import Hypothesis
from pipeline.support.premises import PremiseFinder

_MOST_SENTENCES = 4  # of a citation
_LEAST_SHARE = 0.2  # of the weight of a sentence's words: less is chance
_LEAST_GAIN = 0.15  # of it, that one more sentence of the passage must say


class WrittenSources:
    """A document, read once."""

    def __init__(self, text: str) -> None:
        """Reads the text."""
        self._finder = PremiseFinder(text)

    def locate(self, sentence: str) -> tuple[Hypothesis, list[tuple[int, int]]]:
        """Returns what a model reads of a sentence, and the spans of the sentences of the document with its words.

        None of either if no sentence has enough of them.
        """
        found = self._finder.find(sentence)
        spans = self._spans(found.passages[0], found.weights) if found.passages else []
        return (found.hypothesis if spans else replace(found.hypothesis, premises=())), spans

    def _spans(self, passage: Passage, weights: dict[str, float]) -> list[tuple[int, int]]:
        """Returns the sentences of a passage that say what it is cited for, each something that the others do not."""
        index, total = self._finder.index, sum(weights.values())
        missing, left, chosen = dict(weights), list(passage.sentences), list[int]()
        while left and len(chosen) < _MOST_SENTENCES:
            gains = {at: sum(missing[stem] for stem in missing if index.has(at, stem)) for at in left}
            best = max(left, key=lambda at: (gains[at], -at))
            if gains[best] < total * (_LEAST_GAIN if chosen else _LEAST_SHARE):
                break
            chosen.append(best)
            left.remove(best)
            missing = {stem: weight for stem, weight in missing.items() if not index.has(best, stem)}
        passages = self._finder.read.passages
        return [(passages[at].start, passages[at].end) for at in sorted(chosen)]
