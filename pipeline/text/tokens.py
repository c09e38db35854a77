"""Tokenizes a text of any length in short steps.

A tokenizer may hold Python's global lock while it works (1.5 s for 1 MB); between steps other threads get their turn.
"""

import re

from pipeline.protocols import Tokenizer

# As much as fits, up to and including white space, else as much as fits. Word pieces never cross white space.
_PIECE = re.compile(r"[\s\S]{0,7999}\s|[\s\S]{1,8000}")


def token_offsets(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """Returns start and end of every token of `text`, in code points."""
    return [
        (piece.start() + start, piece.start() + end)
        for piece in _PIECE.finditer(text)
        for start, end in tokenizer.offsets(piece.group())
    ]
