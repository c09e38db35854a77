"""Reads the word lists of `data/`: one file a list, words apart by white space, and its source in the first comment."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


@cache
def word_list(name: str) -> frozenset[str]:
    """Returns the words of `data/NAME.txt`. A line that begins with "#" is a comment."""
    return frozenset(word for line in _lines(name) for word in line.split())


@cache
def phrase_list(name: str) -> tuple[str, ...]:
    """Returns the lines of `data/NAME.txt` in order, for a list whose entries have several words."""
    return tuple(_lines(name))


def _lines(name: str) -> list[str]:
    lines = (_FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]
