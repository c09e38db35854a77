"""Cuts a text into parts that fit a number of tokens, at the best place near the limit, without losing a character."""

import re
from collections.abc import Callable

# From best to worst. A part ends behind the match.
_BREAKS = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"[.!?。！？][\"'”’)\]]*\s+|\n"),
    re.compile(r"\s+"),
)
# A break is taken from the last part of what fits, else parts would be far below the limit.
_SEARCHED_SHARE = 0.4
_FIRST_GUESS_CHARS_PER_TOKEN = 8


def split_by_tokens(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> list[str]:
    """Returns parts that joined are the text. Time is linear in the length of the text.

    Args:
        text: of any length.
        max_tokens: of a part, at least 1. A single character of more tokens is a part by itself.
        count_tokens: of a text.
    """
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = _fitting_end(text, start, max_tokens, count_tokens)
        if end < len(text):
            end = _best_break(text, start, end)
        parts.append(text[start:end])
        start = end
    return parts


def head_by_tokens(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
    """Returns the beginning of a text that fits; empty if nothing does."""
    if max_tokens <= 0:
        return ""
    return text if count_tokens(text) <= max_tokens else split_by_tokens(text, max_tokens, count_tokens)[0]


def tail_by_tokens(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> str:
    """Returns the end of a text that fits, from the start of a sentence or line where there is one."""
    if max_tokens <= 0:
        return ""
    if count_tokens(text) <= max_tokens:
        return text
    size = min(len(text), max_tokens * _FIRST_GUESS_CHARS_PER_TOKEN)
    while size > 1 and (tokens := count_tokens(text[-size:])) > max_tokens:
        size = _smaller(size, tokens, max_tokens)
    tail = text[-size:]
    match = _BREAKS[1].search(tail, 0, int(len(tail) * _SEARCHED_SHARE)) or _BREAKS[2].search(tail)
    return tail[match.end() :] if match and match.end() < len(tail) else tail


def _fitting_end(text: str, start: int, max_tokens: int, count_tokens: Callable[[str], int]) -> int:
    """Finds an end that fits, not always the last one; at least one character further."""
    size = min(len(text) - start, max_tokens * _FIRST_GUESS_CHARS_PER_TOKEN)
    while size > 1:
        tokens = count_tokens(text[start : start + size])
        if tokens <= max_tokens:
            break
        size = _smaller(size, tokens, max_tokens)
    return start + size


def _smaller(size: int, tokens: int, max_tokens: int) -> int:
    """Returns a size that should fit, a little less than in proportion."""
    return max(1, min(size - 1, int(size * max_tokens / tokens * 0.98)))


def _best_break(text: str, start: int, end: int) -> int:
    earliest = start + int((end - start) * (1 - _SEARCHED_SHARE))
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, earliest, end) if match.end() > start]
        if ends:
            return ends[-1]
    return end
