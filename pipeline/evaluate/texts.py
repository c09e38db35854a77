"""A text with its sentences, as the components share it, and the name by which evidence points to it.

The name is the text's path in the request.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.reading.characters import NormalizedText
from pipeline.reading.passage import TextSpan
from pipeline.reading.sentences import Sentence, claims, split_sentences
from pipeline.reading.windows import sentence_passages, sliding_windows


@dataclass(frozen=True, slots=True)
class SplitText:
    """A normalised text and all its sentences, headings included."""

    source: NormalizedText
    sentences: tuple[Sentence, ...]

    @classmethod
    def of(cls, source: NormalizedText, max_sentence_chars: int) -> "SplitText":
        """Splits a text."""
        return cls(source, tuple(split_sentences(source.text, max_sentence_chars)))

    def claims(self) -> tuple[TextSpan, ...]:
        """Returns the sentences that state something: headings are left out."""
        return sentence_passages(self.source, claims(self.sentences))

    def windows(self, sizes: Sequence[int]) -> tuple[TextSpan, ...]:
        """Returns the sliding windows of the sentences that state something."""
        return sliding_windows(self.source, claims(self.sentences), sizes)


GENERATED = "generated.text"
SOURCE = "datum.entry.text"
GOLD_SUMMARY = "datum.summary.summary"
MAIN_THEME = "datum.summary.main_theme"
KEY_FACTS = "datum.summary.key_facts"
OUTLINE = "datum.summary.logical_outline"
ENTITIES = "datum.summary.entity_list"
LISTS = (KEY_FACTS, OUTLINE, ENTITIES)
