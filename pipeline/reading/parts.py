"""Splits a marked text into parts that are compared one by one: sentences, list items, table rows and lines of code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.reading.sentences import BlockKind, split_sentences

_MAX_SENTENCE_CHARS = 2_000
FENCE = re.compile(r"[ \t]*(?:```|~~~)")
"""What begins and ends code."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """One part.

    Attributes:
        start: its first character.
        end: exclusive.
        kind: of the block it stands in; None for a line of code.
    """

    start: int
    end: int
    kind: BlockKind | None

    @property
    def is_prose(self) -> bool:
        """Whether it is a sentence or a list item: what a model can compare with a passage."""
        return self.kind in (BlockKind.PROSE, BlockKind.LIST_ITEM)


def split_parts(text: str) -> list[TextPart]:
    """Returns the parts of a Markdown text in order; those without a letter or digit are left out."""
    parts: list[TextPart] = []
    for start, end, is_code in _regions(text):
        if is_code:
            parts += [TextPart(start + first, start + last, None) for first, last in split_lines(text[start:end])]
        else:
            found = split_sentences(text[start:end], _MAX_SENTENCE_CHARS)
            parts += [TextPart(start + one.start, start + one.end, one.kind) for one in found]
    return parts


def split_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yields the lines of a text that have a letter or digit, without white space around them."""
    position = 0
    for line in text.splitlines(keepends=True):
        words = line.strip()
        if any(map(str.isalnum, words)):
            first = position + line.index(words)
            yield first, first + len(words)
        position += len(line)


def _regions(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yields what stands between fences and what does not, without the fences themselves."""
    start = position = 0
    in_code = False
    for line in text.splitlines(keepends=True):
        if FENCE.match(line):
            yield start, position, in_code
            start, in_code = position + len(line), not in_code
        position += len(line)
    yield start, len(text), in_code
