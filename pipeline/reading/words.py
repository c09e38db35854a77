"""Tokenizes a text into words, or a model's tokens, with offsets; and folds sentences, so that equal ones can be found.

A word is what stands between spaces, hyphens, slashes and brackets, without punctuation around it and without a
possessive 's: "AT&T", "C++", "U.S" (of "U.S."), "Labor" (of "Labor's"). Each CJK character is a word of its own.
"""

import re
from array import array
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.off_loop import stoppable
from pipeline.protocols import Tokenizer
from pipeline.reading.blocks import BULLET_MARK, CHECK_BOX, STEP_MARK
from pipeline.reading.characters import nfkc

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SEPARATORS = r"\s—–―/\\|()\[\]{}<>“”\"„«»…;:!?。、「」『』【】《》"
# A word of more than 200 characters is cut, so that evidence never quotes megabytes.
_RAW_WORD = re.compile(rf"[{_CJK}]|[^{_CJK}{_SEPARATORS}‐‑-]{{1,200}}")
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_EDGES = ".,'’‘`´*_~·"
_POSSESSIVES = ("'s", "’s", "'S", "’S")
_MAY_BE_TRIMMED = f"{_EDGES}sS"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of one text."""

    starts: npt.NDArray[np.int32]  # shape (words,); first character of each, rising
    ends: npt.NDArray[np.int32]  # shape (words,); exclusive

    def __len__(self) -> int:
        return len(self.starts)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Returns the characters from word `first` up to, not including, word `last`; clipped to the text."""
        return int(self.starts[max(first, 0)]), int(self.ends[min(last, len(self)) - 1])


def split_words(text: str) -> Words:
    """Returns the words of a text in order. Linear in the length of the text."""
    starts, ends = array("i"), array("i")
    for match in stoppable(_RAW_WORD.finditer(text)):
        start, end = match.span()
        if text[start] in _EDGES or text[end - 1] in _MAY_BE_TRIMMED:
            trimmed = text[start:end].lstrip(_EDGES)
            start, word = end - len(trimmed), trimmed.rstrip(_EDGES)
            end = start + len(word) - (2 if word.endswith(_POSSESSIVES) else 0)
        if start < end:
            starts.append(start)
            ends.append(end)
    return Words(np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32))


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
