"""The document as citations point into it: its chunks as one text, and what stands where in it, word for word.

A sentence of a summary stands in the document when it is a whole sentence, item, row or line of it.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pipeline.off_loop import stoppable
from pipeline.reading.parts import split_lines, split_parts
from pipeline.reading.words import fold
from pipeline.summarize.citations.places import MAX_PLACES, SourcePlace
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.extractive.read_excerpts import join_texts

Span = tuple[int, int]

_MOST_PLACES = 1_000  # of one sentence that are remembered; all are counted
MAX_READ_CHARS = 8_000_000
"""Of a document in which written sentences are looked for; a longer one is searched for whole sentences alone."""


@dataclass(slots=True)
class Occurrences:
    """Where a sentence stands in the document.

    Attributes:
        spans: the first of them, in the document's text.
        count: all of them.
    """

    spans: list[Span]
    count: int


class CitedDocument:
    """The chunks of a document as one text. What is expensive to read is read when it is first needed."""

    def __init__(self, chunks: Sequence[SourceChunk]) -> None:
        """Joins the chunks: a sentence may go on in the next one."""
        self._chunks = chunks
        self.text, self._starts = join_texts([chunk.text for chunk in chunks])
        self._own_starts = [0, *accumulate(len(chunk.text) for chunk in chunks)]

    def places(self, spans: Sequence[Span]) -> tuple[SourcePlace, ...]:
        """Returns spans of the text as places of chunks, one for each chunk that a span touches."""
        found = [place for span in sorted(spans) for place in self._places(*span)]
        return tuple(found[:MAX_PLACES])

    def _places(self, start: int, end: int) -> Iterator[SourcePlace]:
        at = max(0, bisect_right(self._starts, start) - 1)
        while at < len(self._chunks) and self._starts[at] < end:
            chunk, offset = self._chunks[at], self._starts[at]
            first, last = max(start - offset, 0), min(end - offset, len(chunk.text))
            inside = chunk.text[first:last]
            first += len(inside) - len(inside.lstrip())
            if first < last and inside.strip():
                yield SourcePlace(chunk.chunk_index, chunk.page_number, first, last, self._own_starts[at] + first)
            at += 1

    def occurrences(self, wanted: Collection[str]) -> Mapping[str, Occurrences]:
        """Returns where folded sentences stand. Linear in the length of the document, and bounded."""
        known = frozenset(wanted)
        found: defaultdict[str, Occurrences] = defaultdict(lambda: Occurrences([], 0))
        for span in stoppable(self._units()):
            if (folded := fold(self.text[slice(*span)])) not in known:
                continue
            one = found[folded]
            if not one.spans or span[0] >= one.spans[-1][1]:  # a line of one sentence is that sentence
                one.count += 1
                if len(one.spans) < _MOST_PLACES:
                    one.spans.append(span)
        return dict(found)

    def _units(self) -> list[Span]:
        """Returns the sentences, and the lines that do not begin or end inside one."""
        parts = [(part.start, part.end) for part in split_parts(self.text)]
        whole = [line for line in split_lines(self.text) if not _cuts(parts, line)]
        return sorted({*parts, *whole}, key=lambda span: (span[0], -span[1]))


def _cuts(parts: Sequence[Span], line: Span) -> bool:
    """Tells whether a line begins or ends inside a sentence."""
    before = bisect_left(parts, (line[0], 0)) - 1
    last = bisect_left(parts, (line[1], 0)) - 1
    return (before >= 0 and parts[before][1] > line[0]) or (last >= 0 and parts[last][1] > line[1])
