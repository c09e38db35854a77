"""Packs texts into prompts by tokens: long texts into parts, neighbours into reduce groups, context beside a batch.

A batch sees what stands before it: newest first until the limit, then back in the order of the document. A text that is
too long is cut at the best place near the limit, without losing a character.

Summaries are incremental: calls begin where calls of earlier summaries began, and the answer to an equal call is
stored. So an edit costs the calls around it and the merges above, wherever it moves what follows. The beginning of a
call is known by the hashes of its first two texts alone: by no name, number or page. One would not do, since a page may
come again and again.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, pairwise

# From best to worst. A part ends behind the match.
_BREAKS = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"[.!?][\"'”’)\]]*\s+|[。！？][\"'”’」』）)\]]*\s*|\n"),
    re.compile(r"\s+|(?<!\d)[，、；：]"),
)
# A break is taken from the last part of what fits, else parts would be far below the limit.
_SEARCHED_SHARE = 0.4
# What must not be torn where there is no break: "0.26" of a script without spaces.
_NUMBER_END = re.compile(r"(?<![\d.,])\d[\d.,]*$")
_FIRST_GUESS_CHARS_PER_TOKEN = 8


def split_by_tokens(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> list[str]:
    """Returns parts that joined are the text. Time is linear in the length of the text.

    Args:
        max_tokens: of a part, at least 1. A single character of more tokens is a part by itself.
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
    while size > 1 and (tokens := count_tokens(text[start : start + size])) > max_tokens:
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
    number, rest = _NUMBER_END.search(text, max(start + 1, end - 32), end), text[end : end + 2]
    goes_on = rest[:1].isdigit() or (rest[:1] in {".", ","} and rest[1:].isdigit())  # "5" or ".5" behind "12"
    return number.start() if number and goes_on else end


def fit_context(texts: Sequence[str], limit_tokens: int, count_tokens: Callable[[str], int]) -> tuple[str, ...]:
    """Returns the newest texts that fit together; of the first that does not, its end."""
    kept: list[str] = []
    left = limit_tokens
    for text in reversed(texts):
        fitting = tail_by_tokens(text, left, count_tokens)
        if fitting.strip():
            kept.append(fitting)
        if fitting != text:
            break
        left -= count_tokens(text)
    return tuple(reversed(kept))


@dataclass(frozen=True, slots=True)
class Packer:
    """Packs neighbouring texts into calls, each as full as it may be."""

    token_counts: Sequence[int]  # of the texts, in order
    most: int  # texts of a call
    budget_tokens: int  # of a call
    # so many texts are a call whatever they have, unless they are the last. With 2 every level of merges is shorter
    # than the one before, so that levels come to an end. The caller compresses texts that are too long.
    least: int = 1

    def cuts(self, start: int = 0, end: int | None = None) -> Iterator[range]:
        """Yields the calls of the texts from `start` up to `end`."""
        end = len(self.token_counts) if end is None else end
        while start < end:
            stop = min(start + self.least, end)
            tokens = self._tokens(range(start, stop))
            while stop < end and stop - start < self.most and tokens + self.token_counts[stop] <= self.budget_tokens:
                tokens += self.token_counts[stop]
                stop += 1
            yield range(start, stop)
            start = stop

    def fits(self, cut: range) -> bool:
        """Tells whether texts may be one call."""
        return len(cut) <= self.least or (len(cut) <= self.most and self._tokens(cut) <= self.budget_tokens)

    def is_half_full(self, cut: range) -> bool:
        """Tells whether texts fill half of a call."""
        return len(cut) >= self.least and max(len(cut) / self.most, self._tokens(cut) / self.budget_tokens) >= 1 / 2

    def cuts_at(self, keys: Sequence[str], known: AbstractSet[str]) -> list[range]:
        """Returns the calls of all texts: they begin where earlier calls began, by known keys, and are full in between.

        What fills less than half of a call is not parted from what follows: else every edit would leave a small call.
        """
        starts = [0]
        for place, key in enumerate(keys):
            if key in known and self.is_half_full(range(starts[-1], place)):
                starts.append(place)
        return [cut for start, end in pairwise([*starts, len(keys)]) for cut in self.cuts(start, end)]

    def _tokens(self, cut: range) -> int:
        return sum(self.token_counts[cut.start : cut.stop])


def hash_text(text: str) -> bytes:
    """Returns the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def begin_keys(scope: str, hashes: Sequence[bytes]) -> list[str]:
    """Returns for every text of a row the key of a call that begins with it.

    Args:
        scope: everything besides the texts that a call depends on; calls of another scope are unknown.
    """
    pairs = pairwise([*hashes, b""])
    return [hashlib.sha256(scope.encode() + b"\n" + first + second).hexdigest() for first, second in pairs]


def to_cuts(lengths: Iterable[int]) -> list[range]:
    """Returns neighbouring stretches of the given lengths, from 0 on."""
    return [range(start, end) for start, end in pairwise(accumulate(lengths, initial=0))]
