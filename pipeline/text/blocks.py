"""Cuts a text into blocks at line structure: paragraphs, headings, list items, table rows.

A sentence never crosses a block, which is what a splitter for prose cannot know about markdown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

_HEADING_MARK = re.compile(r"#{1,6}\s+")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_]{1,200}\1:?$")
_LIST_MARK = re.compile(r"(?:[-*+•‣◦▪·]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+(?:\[[ xX]\]\s+)?")
_QUOTE_MARK = re.compile(r"(?:>\s?)+")


class BlockKind(Enum):
    """What a block is, by its first line."""

    PROSE = auto()
    HEADING = auto()
    LIST_ITEM = auto()
    TABLE_ROW = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together, without the mark in front ("- ", "## ", "> ")."""

    start: int
    end: int
    kind: BlockKind


def split_blocks(text: str) -> list[Block]:
    """Returns the blocks of a text in order, blank lines left out. A paragraph may be wrapped over several lines."""
    blocks: list[Block] = []
    is_open = False
    for start, end in _lines(text):
        if start == end:
            is_open = False
            continue
        kind, content = _classify(text[start:end])
        if kind is BlockKind.PROSE and is_open:
            blocks[-1] = Block(blocks[-1].start, end, blocks[-1].kind)
        else:
            blocks.append(Block(start + content, end, kind))
        is_open = kind in (BlockKind.PROSE, BlockKind.LIST_ITEM)
    return blocks


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yields the span of every line, stripped of white space; empty for a blank line."""
    position = 0
    for line in text.splitlines(keepends=True):
        content = line.strip()
        start = position + (len(line) - len(line.lstrip()) if content else 0)
        yield start, start + len(content)
        position += len(line)


def _classify(line: str) -> tuple[BlockKind, int]:
    """Returns the kind of a stripped line that is not empty, and the length of its mark."""
    if mark := _HEADING_MARK.match(line):
        return BlockKind.HEADING, mark.end()
    if _BOLD_LINE.match(line):
        return BlockKind.HEADING, 0
    if line[0] == line[-1] == "|" and len(line) > 1:
        return BlockKind.TABLE_ROW, 0
    if mark := _LIST_MARK.match(line):
        return BlockKind.LIST_ITEM, mark.end()
    quote = _QUOTE_MARK.match(line)
    return BlockKind.PROSE, quote.end() if quote else 0
