"""What code reads of the batches of a document, once: the headings above and abbreviations.

Batches that run at once do not see each other's extractions. Code finds what no batch could know by itself. "12 bar"
stands below "Hydraulics > Pump P-3"; PSU is the power supply unit of chapter 1.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from pipeline.reading.blocks import BlockKind, read_blocks
from pipeline.reading.words import fold_case
from pipeline.summarize.plan import ChunkBatch

_SHORT = r"[A-Z][A-Za-z0-9]{0,4}[A-Z][A-Za-z0-9]{0,3}"
_DEFINED = re.compile(rf"(?<=\w )\(({_SHORT})s?\)")
_WORDS_BEFORE = re.compile(r"(?:[\w/-]+ )+$")
_ABBREVIATION = re.compile(rf"\b{_SHORT}\b")


@dataclass
class Background:
    """Tells what stands around the batches of a document. Linear in its length, read once, when first asked."""

    batches: Sequence[ChunkBatch]  # of the whole document

    def of(self, index: int, limit_tokens: int, count_tokens: Callable[[str], int]) -> str:
        """Returns headings and abbreviations for a batch, within a limit; empty if there are none."""
        lines = [f"Headings above: {' > '.join(path)}"] if (path := self._paths[index]) else []
        lines += [f"{short}: {long}" for short, long in self._terms(index)]
        while lines and count_tokens("\n".join(lines)) > limit_tokens:
            lines.pop()
        return "\n".join(lines)

    @cached_property
    def _paths(self) -> list[tuple[str, ...]]:
        """The headings that are open where each batch begins, outermost first."""
        paths: list[tuple[str, ...]] = []
        above: dict[int, str] = {}
        for batch in self.batches:
            headings = list(_headings(batch.text))
            first = headings[0][0] if headings and headings[0][2] else math.inf
            paths.append(tuple(above[level] for level in sorted(above) if level < first))
            for level, title, _ in headings:
                above = {each: name for each, name in above.items() if each < level} | {level: title}
        return paths

    @cached_property
    def _defined(self) -> list[list[tuple[str, str]]]:
        return [list(_definitions(batch.text)) for batch in self.batches]

    @cached_property
    def _definitions(self) -> dict[str, str]:
        """Abbreviations with what they stand for, without those that stand for two things."""
        found: dict[str, str] = {}
        unclear: set[str] = set()
        for short, long in chain.from_iterable(self._defined):
            if fold_case(found.setdefault(short, long)) != fold_case(long):
                unclear.add(short)
        return {short: long for short, long in found.items() if short not in unclear}

    def _terms(self, index: int) -> list[tuple[str, str]]:
        text, known = self.batches[index].text, self._definitions
        own = {short for short, _ in self._defined[index]}
        used = dict.fromkeys(_ABBREVIATION.findall(text))
        return [(short, known[short]) for short in used if short in known and short not in own][:12]


def _headings(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yields level and title of Markdown and numbered headings, and whether no text stands before."""
    if not any(map(_may_be_heading, text.splitlines())):
        return
    for number, block in enumerate(read_blocks(text)):
        if block.kind is BlockKind.HEADING:
            yield block.level, text[block.start : block.end], number == 0


def _may_be_heading(line: str) -> bool:
    """Tells in a moment that most lines are none; up to four list marks may stand before a heading's."""
    first = line.split(None, 5)[:5]
    return bool(first) and (first[0][0].isdigit() or any(word.startswith("#") for word in first))


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yields abbreviations in brackets with the words before them whose initials they are."""
    for match in _DEFINED.finditer(text):
        before = _WORDS_BEFORE.search(text[max(0, match.start() - 120) : match.start()])
        words, short = before[0].split() if before else [], match[1]
        letters = [fold_case(letter) for letter in short if letter.isalpha()]
        for count in range(len(letters), min(len(words), len(letters) + 2) + 1):
            long = words[-count:]
            initials = [fold_case(part[0]) for word in long for part in word.replace("/", "-").split("-") if part]
            if initials[0] == letters[0] and _in_order(letters, initials):
                yield short, " ".join(long)
                break


def _in_order(letters: Sequence[str], initials: Sequence[str]) -> bool:
    """Tells whether letters come one after the other among the initials."""
    rest = iter(initials)
    return all(letter in rest for letter in letters)
