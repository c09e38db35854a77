"""The windows of a text as premises, with the sentences they are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.judge.evidence.reading import ReadText
from pipeline.text.passage import Passage
from pipeline.text.windows import sliding_windows


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring sentences.

    Attributes:
        passage: where they stand, and what models read.
        first: index of the first sentence.
        size: sentences.
    """

    passage: Passage
    first: int
    size: int

    @property
    def sentences(self) -> range:
        """Indices of its sentences."""
        return range(self.first, self.first + self.size)


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
