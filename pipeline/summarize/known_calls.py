"""Incremental summaries: texts that an earlier call read together are read together again.

The answer to an equal call is stored, so that an edit of a document costs the calls around it and the merges above,
wherever the edit moves what follows. Calls are known by the hashes of their texts, in order, and by nothing else: no
name, number or page of a document.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from pipeline.summarize.config import SummarizeConfig
from pipeline.summarize.document import SummarizeOptions


@dataclass(frozen=True, slots=True)
class CallTexts:
    """The texts of one call, as hashes.

    Attributes:
        first_key: of its first text.
        count: of its texts.
        whole_key: of all of them, in order.
    """

    first_key: str
    count: int
    whole_key: str


@dataclass(frozen=True, slots=True)
class TextRow:
    """Texts of a document, or of a level of the reduction, in order.

    Attributes:
        scope: everything besides the texts that a call depends on; calls of another scope are unknown.
        hashes: one for each text.
    """

    scope: str
    hashes: tuple[bytes, ...]

    @classmethod
    def of(cls, scope: str, texts: Iterable[str]) -> "TextRow":
        """Hashes texts. CPU-heavy for a long document: run it off the loop."""
        return cls(scope, tuple(map(hash_text, texts)))

    def with_ends(self) -> "TextRow":
        """Returns the row of a whole document: a writer treats its first and its last text in its own way."""
        hashes = list(self.hashes)
        for place, mark in ((0, b"first"), (-1, b"last")):
            hashes[place] = hashlib.sha256(mark + hashes[place]).digest()
        return replace(self, hashes=tuple(hashes))

    def call(self, start: int, count: int) -> CallTexts:
        """Returns the call that reads `count` texts from `start` on."""
        whole = self._hash(b"".join(self.hashes[start : start + count]))
        return CallTexts(self._hash(self.hashes[start]), count, whole)

    def first_keys(self) -> list[str]:
        """Returns for every text the key of a call that begins with it."""
        return [self._hash(one) for one in self.hashes]

    def _hash(self, hashes: bytes) -> str:
        return hashlib.sha256(self.scope.encode() + b"\n" + hashes).hexdigest()


KnownCalls = Mapping[str, Sequence[CallTexts]]
"""Calls whose answers are stored, by the key of their first text."""


def answer_scope(owner: str, writer: str) -> str:
    """Returns whose answers may be used again: those of a writer to an owner."""
    return f"{owner}\n{writer}" if owner else writer


def call_scope(scope: str, config: SummarizeConfig, options: SummarizeOptions) -> str:
    """Returns what calls must have in common, besides their texts, for one to be known by the other.

    Args:
        scope: whose answers they are.
    """
    return f"{scope}\n{options.model_dump_json()}\n{config.result_settings()}"


def hash_text(text: str) -> bytes:
    """Returns the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def to_cuts(lengths: Iterable[int]) -> list[range]:
    """Returns neighbouring stretches of the given lengths, from 0 on."""
    ends = list(accumulate(lengths))
    return [range(start, end) for start, end in pairwise([0, *ends])]


def cut_row(
    row: TextRow,
    known: KnownCalls,
    may_stay: Callable[[range], bool],
    pack: Callable[[int, int], Iterable[range]],
) -> list[range]:
    """Cuts a row of texts into calls: known ones where they stand, and what lies between them anew.

    Args:
        may_stay: tells whether texts that were read together may be so again.
        pack: cuts the texts from one place up to another, which it leaves out.
    """
    first_keys = row.first_keys() if known else []
    cuts: list[range] = []
    start = place = 0
    while place < len(first_keys):
        cut = next(filter(may_stay, _known_cuts(row, place, known.get(first_keys[place], ()))), None)
        if cut is not None:
            cuts += [*pack(start, place), cut]
            start = cut.stop
        place = cut.stop if cut else place + 1
    return [*cuts, *pack(start, len(row.hashes))]


def _known_cuts(row: TextRow, start: int, calls: Sequence[CallTexts]) -> Iterator[range]:
    """Yields the texts from a place on that an earlier call read; most texts first."""
    for call in sorted(calls, key=lambda one: -one.count):
        if start + call.count <= len(row.hashes) and row.call(start, call.count) == call:
            yield range(start, start + call.count)
