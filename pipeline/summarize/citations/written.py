"""Finds what in a document a written sentence was made from: the passage that the model reads, and its sentences."""

import unicodedata
from dataclasses import dataclass

from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.passages import Passage, PassageFinder, claim_weights
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import Hypothesis, SupportConfig

_MOST_SENTENCES = 4  # of a citation
_LEAST_SHARE = 0.2  # of the weight of a sentence's words: less is chance
_LEAST_GAIN = 0.15  # of it, that one more sentence of the passage must say


@dataclass(frozen=True, slots=True)
class Located:
    """What the document has of a written sentence.

    Attributes:
        claim: what a model reads.
        spans: of the sentences that have its words, in the document's text; none if no sentence has enough of them.
    """

    claim: Hypothesis
    spans: tuple[tuple[int, int], ...]


class WrittenSources:
    """A document, read once. About 0.5 s for 1 MB."""

    def __init__(self, text: str, config: SupportConfig) -> None:
        """Reads the text."""
        self._config = config
        self._read = ReadText.of("document", text, config.max_sentence_chars)
        self._index = WordIndex(self._read)
        self._finder = PassageFinder(self._read, self._index, config.passage_chars)

    def locate(self, sentence: str) -> Located:
        """Finds what speaks of a sentence."""
        table = WordTable.of(unicodedata.normalize("NFKC", sentence))
        weights = claim_weights(table, range(len(table)), self._index)
        passages = self._finder.for_claim(weights, self._config.short_passage_chars) if weights else ()
        words = " ".join(sentence.replace("|", " ").split())
        spans = self._spans(passages[0], weights) if passages else ()
        texts = tuple(passage.span.text for passage in passages) if spans else ()
        return Located(Hypothesis(words, texts, self._index.known_share(weights)), spans)

    def _spans(self, passage: Passage, weights: dict[str, float]) -> tuple[tuple[int, int], ...]:
        """Returns the sentences of a passage that say what it is cited for, each something that the others do not."""
        total = sum(weights.values())
        missing, left, chosen = dict(weights), list(passage.sentences), list[int]()
        while left and len(chosen) < _MOST_SENTENCES:
            gains = {at: sum(missing[stem] for stem in missing if self._index.has(at, stem)) for at in left}
            best = max(left, key=lambda at: (gains[at], -at))
            if gains[best] < total * (_LEAST_GAIN if chosen else _LEAST_SHARE):
                break
            chosen.append(best)
            left.remove(best)
            missing = {stem: weight for stem, weight in missing.items() if not self._index.has(best, stem)}
        passages = self._read.passages
        return tuple((passages[at].start, passages[at].end) for at in sorted(chosen))
