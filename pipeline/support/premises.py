"""Finds the premises of a statement: the passages of a document that speak of it."""

import unicodedata
from dataclasses import dataclass

from pipeline.reading.document import ReadText
from pipeline.reading.index import WordIndex
from pipeline.reading.passages import Passage, PassageFinder, claim_weights
from pipeline.reading.word_table import WordTable
from pipeline.support.claim_support import MAX_SENTENCE_CHARS, PASSAGE_CHARS, SHORT_PASSAGE_CHARS, Hypothesis


@dataclass(frozen=True, slots=True)
class Premises:
    """What a document has of a statement.

    Attributes:
        hypothesis: what a model reads.
        passages: the premises, the longest first.
        weights: of the statement's content words, by stem.
    """

    hypothesis: Hypothesis
    passages: tuple[Passage, ...]
    weights: dict[str, float]


class PremiseFinder:
    """A document, read once. About 0.5 s for 1 MB.

    Attributes:
        read: its sentences and words.
        index: of its words.
        passages: finds what it says about a statement.
    """

    def __init__(self, text: str | ReadText, *, has_turns: bool = True) -> None:
        """Reads the text, unless that is done.

        Args:
            has_turns: whether it may be a dialogue, whose sentences are read with their speaker in front.
        """
        self.read = ReadText.of("document", text, MAX_SENTENCE_CHARS) if isinstance(text, str) else text
        self.index = WordIndex(self.read)
        self.passages = PassageFinder(self.read, self.index, PASSAGE_CHARS, has_turns=has_turns)

    def find(self, statement: str) -> Premises:
        """Returns what the document has of a statement."""
        weights = self.weights(statement)
        passages = self.passages.for_claim(weights, SHORT_PASSAGE_CHARS) if weights else ()
        words = " ".join(statement.replace("|", " ").split())
        texts = tuple(passage.span.text for passage in passages)
        return Premises(Hypothesis(words, texts, self.index.known_share(weights)), passages, weights)

    def weights(self, statement: str) -> dict[str, float]:
        """Returns the weights of a statement's content words, by stem."""
        table = WordTable.of(unicodedata.normalize("NFKC", statement))
        return claim_weights(table, range(len(table)), self.index)
