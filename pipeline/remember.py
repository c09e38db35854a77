"""Remembers what was found out about short texts.

`lru_cache` counts entries, not bytes: of texts that callers send, thousands of any length would stay in memory.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Found = TypeVar("Found")


def remember_short(entries: int, *, most_chars: int) -> Callable[[Callable[[str], Found]], Callable[[str], Found]]:
    """Decorates a function of one text: its last results are kept, but for texts longer than `most_chars`.

    Args:
        entries: kept at most, those of the last texts.
    """

    def decorate(function: Callable[[str], Found]) -> Callable[[str], Found]:
        remembered = lru_cache(maxsize=entries)(function)

        @wraps(function)
        def call(text: str) -> Found:
            return remembered(text) if len(text) <= most_chars else function(text)

        return call

    return decorate
