"""Tokenizes a text into words, or a model's tokens, with offsets; and folds sentences, so that equal ones can be found.

A word is what stands between spaces, hyphens, slashes and brackets, without punctuation around it and a possessive 's.
"AT&T", "C++", "U.S" (of "U.S.") and "Labor" (of "Labor's") are words. Each CJK character is a word of its own.
"""

import re
import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from pipeline.protocols import Tokenizer
from pipeline.reading.blocks import BULLET_MARK, CHECK_BOX, STEP_MARK
from pipeline.reading.characters import Int32, nfkc

_EDGES, _APOSTROPHES = ".,‘`´*_~·", "'’"
_SEPARATORS = '-‐‑—–―/\\|()[]{}<>“”"„«»…;:!?。、「」『』【】《》'
_CJK = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_CJK_CHARACTER = re.compile(_CJK)
_LONGEST_WORD = 200  # a longer one is cut, so that evidence never quotes megabytes
_LETTER, _EDGE, _APOSTROPHE, _SEPARATOR, _WORD = range(5)  # what a character is; a CJK character is a word


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one text."""

    starts: Int32  # shape (words,); first character of each, rising
    ends: Int32  # shape (words,); exclusive

    def __len__(self) -> int:
        return len(self.starts)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Returns the characters from word `first` up to, not including, word `last`; clipped to the text."""
        return int(self.starts[max(first, 0)]), int(self.ends[min(last, len(self)) - 1])


def split_words(text: str) -> Words:
    """Returns the words of a text in order. Linear in the length of the text."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = _kinds()[codes]
    borders = (kinds >= _SEPARATOR).astype(np.int8)
    borders[1:] += kinds[:-1] == _WORD
    letters = np.flatnonzero((kinds == _LETTER) | (kinds == _WORD)).astype(np.int32)
    number = borders.cumsum(dtype=np.int32)[letters]  # of the word that a letter is of
    is_next = number[1:] != number[:-1]
    starts = np.concatenate((letters[:1], letters[1:][is_next]))
    ends = np.concatenate((letters[:-1][is_next], letters[-1:])) + 1
    is_possessive = (ends > starts + 2) & (kinds[ends - 2] == _APOSTROPHE) & (codes[ends - 1] | 32 == ord("s"))
    return _cut_overlong(starts, ends - np.where(is_possessive, np.int32(2), np.int32(0)))


def _cut_overlong(starts: Int32, ends: Int32) -> Words:
    if (ends - starts).max(initial=0) <= _LONGEST_WORD:
        return Words(starts, ends)
    counts = -(-(ends - starts) // _LONGEST_WORD)
    numbers = np.arange(counts.sum(), dtype=np.int32) - np.repeat(counts.cumsum(dtype=np.int32) - counts, counts)
    starts = np.repeat(starts, counts) + numbers * _LONGEST_WORD
    return Words(starts, np.minimum(starts + _LONGEST_WORD, np.repeat(ends, counts)))


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    kinds = np.full(sys.maxunicode + 1, _LETTER, dtype=np.uint8)
    kinds[_codes(_EDGES)] = _EDGE
    kinds[_codes(_APOSTROPHES)] = _APOSTROPHE
    kinds[_codes(_SEPARATORS)] = _SEPARATOR
    for code in range(0x10000):  # neither white space nor these scripts lie above
        if (character := chr(code)).isspace():
            kinds[code] = _SEPARATOR
        elif _CJK_CHARACTER.match(character):
            kinds[code] = _WORD
    return kinds


def _codes(characters: str) -> list[int]:
    return list(map(ord, characters))


# As much as fits, up to and including white space, else as much as fits. Word pieces never cross white space.
_PIECE_CHARS = 8_000
_PIECE = re.compile(rf"[\s\S]{{0,{_PIECE_CHARS - 1}}}\s|[\s\S]{{1,{_PIECE_CHARS}}}")


def token_offsets(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """Returns start and end of every token of `text`, in code points.

    The tokenizer goes over a long text in short steps. It may hold Python's global lock while it works (1.5 s for
    1 MB); between steps other threads get their turn.
    """
    if len(text) <= _PIECE_CHARS:
        return list(tokenizer.offsets(text))
    return [
        (piece.start() + start, piece.start() + end)
        for piece in _PIECE.finditer(text)
        for start, end in tokenizer.offsets(piece.group())
    ]


def count_words(text: str) -> int:
    """Counts what stands between white space; a character of a script without spaces counts as one."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK_CHARACTER.findall(text)))


def fold_case(text: str) -> str:
    """Returns the form in which words are compared: without capitals, apostrophes straight. Nobody else folds."""
    return text.casefold().replace("’", "'")


_MARKS = re.compile(rf"^(?:\s*(?:>|#{{1,6}}(?=\s)|(?:{BULLET_MARK}|{STEP_MARK}|{CHECK_BOX})(?=\s)))*\s*")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`")
_AROUND_SENTENCES = " \t|.;:,"


def fold(text: str) -> str:
    """Returns the form in which sentences are compared: no marks, emphasis and closing stop, white space as one space.

    Capitals stay but for the first letter: "5 MW" and "5 mW" are two values.
    """
    plain = _EMPHASIS.sub("", nfkc(text)[0])
    words = " ".join(_MARKS.sub("", plain, count=1).replace("|", " ").split()).strip(_AROUND_SENTENCES)
    return words[:1].lower() + words[1:]
