"""The parts of a text that are checked one by one: sentences, list items, table rows and lines of code."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.reading.sentences import BlockKind, split_sentences

_MAX_SENTENCE_CHARS = 2_000
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_MARKS = re.compile(
    r"(?:\s*(?:>|#{1,6}(?=\s)|[-*+•‣◦▪·](?=\s)|\(?\d{1,3}[.)](?=\s)|\(?[a-z]\)(?=\s)|\[[ xX]\](?=\s)))*\s*"
)
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`")
_EDGES = " \t|.;:,"


@dataclass(frozen=True, slots=True)
class AnswerPart:
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


def split_parts(text: str) -> list[AnswerPart]:
    """Returns the parts of a Markdown text in order; those without a letter or digit are left out."""
    parts: list[AnswerPart] = []
    for start, end, is_code in _regions(text):
        if is_code:
            parts += [AnswerPart(first, last, None) for first, last in _lines(text, start, end)]
        else:
            found = split_sentences(text[start:end], _MAX_SENTENCE_CHARS)
            parts += [AnswerPart(start + one.start, start + one.end, one.kind) for one in found]
    return parts


def _regions(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yields what stands between fences and what does not, without the fences themselves."""
    start = position = 0
    in_code = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            yield start, position, in_code
            start, in_code = position + len(line), not in_code
        position += len(line)
    yield start, len(text), in_code


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start
    for line in text[start:end].splitlines(keepends=True):
        words = line.strip()
        if any(map(str.isalnum, words)):
            first = position + line.index(words)
            yield first, first + len(words)
        position += len(line)


def fold(text: str) -> str:
    """Returns the form in which sentences are compared: no marks, emphasis and closing stop, white space as one space.

    Capitals stay but for the first letter: "5 MW" and "5 mW" are two values.
    """
    plain = _EMPHASIS.sub("", unicodedata.normalize("NFKC", text))
    words = " ".join(plain[_end_of_marks(plain) :].replace("|", " ").split()).strip(_EDGES)
    return words[:1].lower() + words[1:]


def _end_of_marks(text: str) -> int:
    match = _MARKS.match(text)
    return match.end() if match else 0
