"""Normalizes a text to NFKC and remembers where every character came from.

NFKC makes "ﬁ" and "fi", "２" and "2", "é" as one or two code points the same, for models and for fuzzy matching.
It changes lengths, so that positions in the derived text (decoded, normalised) are mapped back to the text that the
caller sent. A text that cannot be worked on is refused.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pipeline.errors import InvalidInputError
from pipeline.reading.passage import LEFT_OUT, TextSpan

Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class OffsetMap:
    """Says for each derived character which original characters it comes from."""

    # shape (derived characters,); first original character of each, never falling. None: the identity.
    starts: Int32 | None = None
    ends: Int32 | None = None  # likewise, exclusive. None exactly when `starts` is.

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        """Returns the smallest original span that holds everything a derived span, `end` excluded, comes from."""
        if self.starts is None or self.ends is None:
            return start, end
        return int(self.starts[start]), int(self.ends[end - 1])

    def then(self, later: "OffsetMap") -> "OffsetMap":
        """Returns the map of two steps: this one first, `later` applied to its result."""
        if self.starts is None or self.ends is None:
            return later
        if later.starts is None or later.ends is None:
            return self
        return OffsetMap(self.starts[later.starts], self.ends[later.ends - 1])


# An ASCII character never merges with what stands before it, so that runs can be normalised one by one.
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_NON_ASCII_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


# Of the original, in a quote: normalisation and what a page needs to decorate a text are well below.
_MOST_PER_READ, _MOST_UNREAD = 8, 1_000


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """One of the caller's texts, ready to be cut into sentences, chunks and words."""

    text_id: str  # path of the text in the request
    original: str  # as the caller sent it
    text: str  # NFKC-normalised; all positions inside the pipeline count its code points
    offsets: OffsetMap  # the way back to `original`

    def passage(self, start: int, end: int, text: str | None = None) -> TextSpan:
        """Returns a part of the text, with offsets that hold in the original.

        Args:
            text: what models should read instead of the characters between the two.
        """
        first, last = self.offsets.to_original(start, end)
        read = " ".join(self.text[start:end].split()) if text is None else text
        return TextSpan(self.text_id, first, last, self.quote(first, last, end - start), read)

    def quote(self, first: int, last: int, read_chars: int) -> str:
        """Returns the original from first to last; the ends of it when far fewer characters are read."""
        if last - first <= _MOST_PER_READ * read_chars + _MOST_UNREAD:
            return self.original[first:last]
        kept = (read_chars + _MOST_UNREAD) // 2
        return LEFT_OUT.join((self.original[first : first + kept], self.original[last - kept : last]))

    def whole(self) -> TextSpan:
        """Returns all of a text that is not empty."""
        return self.passage(0, len(self.text))


def normalize(text_id: str, original: str) -> NormalizedText:
    """Normalises a text as the caller sent it."""
    return NormalizedText(text_id, original, *nfkc(original))


def normalize_decoded(text_id: str, original: str, decoded: str, offsets: OffsetMap) -> NormalizedText:
    """Normalises a text that was decoded from the original, for example from JSON; `offsets` lead back from it."""
    text, normalization = nfkc(decoded)
    return NormalizedText(text_id, original, text, offsets.then(normalization))


def nfkc(text: str) -> tuple[str, OffsetMap]:
    """Returns a text in NFKC and the way back. Linear in the length of the text, whatever marks it holds.

    `unicodedata.normalize` sorts the marks of a letter in quadratic time; more than 64 of them are sorted in parts.
    """
    if unicodedata.is_normalized("NFKC", text):
        return text, OffsetMap()
    pieces: list[str] = []
    starts, ends = array("i"), array("i")

    def keep(start: int, end: int) -> None:
        pieces.append(text[start:end])
        places = np.arange(start, end + 1, dtype=np.int32)
        starts.frombytes(places[:-1].tobytes())
        ends.frombytes(places[1:].tobytes())

    position = 0
    for run in _NON_ASCII_RUN.finditer(text):
        if unicodedata.is_normalized("NFKC", run.group()):
            continue
        keep(position, run.start())
        for start, end in _clusters(text, run.start(), run.end()):
            mark = "^" if text[start] in _RAISED and text[start - 1 : start].isdecimal() else ""  # 10⁶ is not 106
            piece = mark + unicodedata.normalize("NFKC", text[start:end])
            pieces.append(piece)
            starts.extend([start] * len(piece))
            ends.extend([end] * len(piece))
        position = run.end()
    keep(position, len(text))
    return "".join(pieces), OffsetMap(np.frombuffer(starts, dtype=np.int32), np.frombuffer(ends, dtype=np.int32))


def _clusters(text: str, start: int, end: int, most: int = 64) -> Iterator[tuple[int, int]]:
    """Cuts a run into the smallest parts that normalise independently of each other; no script has `most` marks."""
    first = start
    for position in range(start + 1, end):
        if position - first >= most or _starts_cluster(text[position]):
            yield first, position
            first = position
    yield first, end


@lru_cache(maxsize=1 << 16)
def _starts_cluster(character: str) -> bool:
    """Tells whether a character can neither be reordered with nor merged into the one before it.

    Marks and vowel signs can, and so do the vowels and finals of Hangul.
    """
    first = unicodedata.normalize("NFKD", character)[0]
    return not (unicodedata.category(first).startswith("M") or "\u1160" < first < "\u1200")


def check_text(field: str, text: str, max_chars: int, *, may_be_blank: bool = False) -> None:
    """Checks length, blankness and encoding, in this order.

    Raises:
        InvalidInputError: the text is too long, blank, or holds half a surrogate pair, which no UTF-8 can carry.
    """
    if len(text) > max_chars:
        raise InvalidInputError(field, f"at most {max_chars} characters", f"{len(text)} characters")
    if not may_be_blank and not text.strip():
        raise InvalidInputError(field, "a text", "only white space")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError(field, "valid Unicode", f"a lone surrogate at character {error.start}") from error
