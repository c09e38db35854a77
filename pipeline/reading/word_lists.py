"""Reads the word lists of `data/`: one file a list, whose first line is a comment with its source.

A line that begins with "#" is a comment.
"""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


@cache
def word_list(name: str) -> frozenset[str]:
    """Returns the words of `data/NAME.txt`, which stand apart by white space."""
    return frozenset(_words(name))


@cache
def phrase_list(name: str) -> tuple[str, ...]:
    """Returns the lines of `data/NAME.txt` in order, for a list whose entries have several words."""
    return tuple(_lines(name))


@cache
def any_of(name: str) -> str:
    """Returns a regular expression for any word of `data/NAME.txt`; a word may be a regular expression itself."""
    return f"(?:{'|'.join(_words(name))})"


def _words(name: str) -> list[str]:
    return [word for line in _lines(name) for word in line.split()]


def _lines(name: str) -> list[str]:
    lines = (_FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]
