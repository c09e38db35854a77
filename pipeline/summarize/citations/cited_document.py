"""The document as citations point into it: its chunks as one text, and what stands where in it, word for word.

A sentence of a summary stands in the document when it is a whole sentence, item, row or line of it. Where both texts
are not cut alike, because a chunk ends inside a sentence or a sentence has lost its neighbours, it is searched for as
a string that begins and ends where the document's sentences or lines do.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from pipeline.off_loop import stop_if_nobody_waits, stoppable
from pipeline.reading.characters import Int32, nfkc
from pipeline.reading.sentences import split_lines, split_parts
from pipeline.reading.words import fold
from pipeline.summarize.citations.places import MAX_PLACES, SourcePlace
from pipeline.summarize.document import SourceChunk

Span = tuple[int, int]

_SEPARATOR = "\n\n"
_MOST_PLACES = 1_000  # of one sentence that are remembered; all are counted
_MOST_SEARCHED_CHARS = 2_000_000_000  # by all searches of a summary together: about 2 s
MAX_READ_CHARS = 8_000_000
"""Of a document in which written sentences are looked for; a longer one is searched for whole sentences alone."""
_FEWEST_WORDS = 3  # of what is searched for as a string; less stands anywhere
_FOLDED = re.compile(r"[*_`\s](?:(?<=\*)\**|(?<=_)_{1,2}|(?<=`)|(?<=\s)\s+|(?<=[^\S ]))")
_STOPS, _FULL_STOPS = ".!?|", "。！？"
_MARKS = " \t\r\n\f\"'“”‘’«»()[]{}*_`>#+•‣◦▪·-–"
_EDGE_CHARS = 16


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
        """Joins the chunks; those that do not bring white space themselves are set apart by a blank line."""
        self._chunks = chunks
        pieces: list[str] = []
        for chunk in chunks:
            if pieces and not pieces[-1][-1:].isspace() and not chunk.text[:1].isspace():
                pieces.append(_SEPARATOR)
            pieces.append(chunk.text)
        self.text = "".join(pieces)
        ends = list(accumulate(map(len, pieces)))
        is_chunk = [piece is not _SEPARATOR for piece in pieces]
        self._starts = [end - len(piece) for end, piece, own in zip(ends, pieces, is_chunk, strict=True) if own]
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
        left = _MOST_SEARCHED_CHARS if len(self.text) <= MAX_READ_CHARS else 0
        for folded in sorted(known - found.keys(), key=len, reverse=True):
            stop_if_nobody_waits()
            left -= len(self.text)
            if left < 0:
                break
            if len(folded.split()) >= _FEWEST_WORDS and (spans := list(self._search(folded))):
                found[folded] = Occurrences(spans, len(spans))
        return dict(found)

    def _units(self) -> list[Span]:
        """Returns the sentences, and the lines that do not begin or end inside one."""
        parts = [(part.start, part.end) for part in split_parts(self.text)]
        whole = [line for line in split_lines(self.text) if not _cuts(parts, line)]
        return sorted({*parts, *whole}, key=lambda span: (span[0], -span[1]))

    def _search(self, folded: str) -> Iterator[Span]:
        """Yields the places of a string that are whole sentences or lines; the first few."""
        text, starts, ends = self._folded
        begin = text.find(folded[1:])  # the first letter may have been folded
        for _ in range(MAX_PLACES):
            if begin < 1:
                return
            if text[begin - 1].lower() == folded[0].lower():
                start, end = int(starts[begin - 1]), int(ends[begin + len(folded) - 2])
                if self._opens(start) and self._closes(end):
                    yield start, end
            begin = text.find(folded[1:], begin + 1)

    def _opens(self, start: int) -> bool:
        """Tells whether a sentence, item or line begins at a character."""
        before = self.text[max(0, start - _EDGE_CHARS) : start]
        stem = before.rstrip(_MARKS)
        gap = before[len(stem) :]
        if not stem or "\n\n" in gap:
            return True
        is_new = "\n" in gap or stem[-1] in _FULL_STOPS or (bool(gap) and stem[-1] in _STOPS)
        return is_new and not self.text[start].islower()

    def _closes(self, end: int) -> bool:
        """Tells whether one ends before a character."""
        behind = self.text[end : end + _EDGE_CHARS]
        if self.text[end - 1] in _STOPS + _FULL_STOPS or (behind[:1] in _STOPS and not behind[1:2].isalnum()):
            return True
        rest = behind.lstrip(_MARKS + ";:,")
        return not rest or ("\n" in behind[: len(behind) - len(rest)] and not rest[0].islower())

    @cached_property
    def _folded(self) -> tuple[str, Int32, Int32]:
        """The text as `fold` leaves sentences, and where each of its characters begins and ends in the text."""
        normal, offsets = nfkc(self.text)
        starts = np.arange(len(normal), dtype=np.int32) if offsets.starts is None else offsets.starts
        ends = np.arange(1, len(normal) + 1, dtype=np.int32) if offsets.ends is None else offsets.ends
        kept = np.ones(len(normal), dtype=bool)
        pieces, done = list[str](), 0
        for match in _FOLDED.finditer(normal):
            first, last = match.span()
            is_space = normal[first].isspace()
            kept[first + is_space : last] = False
            pieces += (normal[done:first], " " if is_space else "")
            done = last
        return "".join((*pieces, normal[done:])), starts[kept], ends[kept]


def _cuts(parts: Sequence[Span], line: Span) -> bool:
    """Tells whether a line begins or ends inside a sentence."""
    before = bisect_left(parts, (line[0], 0)) - 1
    last = bisect_left(parts, (line[1], 0)) - 1
    return (before >= 0 and parts[before][1] > line[0]) or (last >= 0 and parts[last][1] > line[1])
