"""A small book with headings, steps, a listing, powers and note marks, printed as PDFs of several layouts.

Notes are printed as raised marks alone. Between the headings of a book the text runs on over lines, columns and pages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from textwrap import wrap

from scripts.benchmarks.shared.corpus import ROOT
from tests.pdf import FONT, PAGE, make_streams

_BOOK = ROOT / "scripts" / "data" / "documents" / "book.txt"
_NOTE, _RAISED = re.compile(r"\{(\d+)\}"), re.compile(r"\^(-?\w+)|\{(\d+)\}")
_TOP, _BOTTOM, _LEFT, _MIDDLE, _STEP, _SKIP = 740, 520, 60, 320, 12, 10
_WIDE, _NARROW, _SHORTEST_CUT, _CODE_STEP = 70, 40, 3, 6
_SMALL = 0.6  # of the size beside it
_LATIN = f"{FONT} /Encoding /MacRomanEncoding"
_LIGATURES = {"fi": "\\336", "fl": "\\337"}  # in that encoding


@dataclass(frozen=True)
class _Line:
    text: str
    size: int = 10
    font: str = "F1"
    skip: int = 0  # above it
    x: int = 0  # from the left of its column
    y: int = 0


def read_book() -> list[str]:
    """Returns the blocks of the book as Markdown, with powers and note marks as `^6` and `{1}`."""
    return [block.strip() for block in re.split(r"\n\n+", _BOOK.read_text("utf-8"))]


def expected(blocks: Sequence[str]) -> list[str]:
    """Returns what a reader must return: a listing, or the sentences of each block, the first behind a blank line."""
    units = []
    for block in blocks:
        text = _NOTE.sub("", block)
        if text.startswith("```"):
            units.append(f"\n\n{text}")
        elif text.startswith("1. "):
            units += [f"\n{step}" for step in text.splitlines()]
        else:
            first, *rest = re.split(r"(?<=[.:]) (?=[A-Z])", " ".join(text.split()))
            units += [f"\n\n{first}", *rest]
    return units


def print_book(blocks: Sequence[str]) -> Mapping[str, bytes]:
    """Returns the book as PDFs, by layout."""
    wide, narrow = list(_lines(blocks, _WIDE)), list(_lines(blocks, _NARROW))
    plain = list(_placed(wide, (_LEFT,)))
    columns = list(_placed(narrow, (_LEFT, _MIDDLE)))
    return {
        "plain": _pdf(plain),
        "heads": _pdf([_with_heads(number, page) for number, page in enumerate([_contents(blocks), *plain], 1)]),
        "columns": _pdf(columns),
        "woven": _pdf([_woven(page) for page in columns]),
        "ligatures": _pdf(plain, ligatures=True),
        "scaled": _pdf(plain, before=".5 0 0 .5 0 0 cm", scale=2),
        "rotated": _pdf(plain, before="0 1 -1 0 800 0 cm", page="/MediaBox [0 0 800 600] /Rotate 90"),
    }


def _lines(blocks: Sequence[str], width: int) -> Iterator[_Line]:
    for block in blocks:
        if block.startswith("#"):
            yield _heading(block)
        elif block.startswith("```"):
            for at, text in enumerate(block.splitlines()[1:-1]):
                code = text.lstrip()
                yield _Line(code, font="F3", skip=_SKIP * (at == 0), x=_CODE_STEP * (len(text) - len(code)))
        else:
            parts = block.splitlines() if block.startswith("1. ") else [" ".join(block.split())]
            texts = [text for part in parts for text in _hyphenated(part, width)]
            yield from (_Line(text, skip=_SKIP * (at == 0)) for at, text in enumerate(texts))


def _heading(block: str) -> _Line:
    marks, title = block.split(" ", 1)
    return _Line(title, 18, skip=2 * _SKIP) if marks == "#" else _Line(title, 10, "F2", 2 * _SKIP)


def _hyphenated(text: str, width: int) -> Iterator[str]:
    """Yields lines; a long word that does not fit is cut."""
    while len(text) > width:
        line = wrap(text, width)[0]
        word = text[len(line) :].split(maxsplit=1)[0] if text[len(line)] == " " else ""
        room = width - len(line) - 2
        if word.isalpha() and _SHORTEST_CUT <= room <= len(word) - _SHORTEST_CUT:
            line += f" {word[:room]}"
            yield f"{line}-"
        else:
            yield line
        text = text[len(line) :].lstrip()
    yield text


def _placed(lines: Sequence[_Line], columns: Sequence[int]) -> Iterator[list[_Line]]:
    """Yields the lines of each page, in columns."""
    page: list[_Line] = []
    column, y = 0, _TOP
    for line in lines:
        y -= line.skip + max(_STEP, line.size)
        if y < _BOTTOM:
            column, y = column + 1, _TOP
            if column == len(columns):
                yield page
                page, column = [], 0
        page.append(replace(line, x=columns[column] + line.x, y=y))
    yield page


def _contents(blocks: Sequence[str]) -> list[_Line]:
    titles = [block.lstrip("# ") for block in blocks if block.startswith("#")]
    entries = [f"{title} {'. ' * (40 - len(title) // 2)}{number}" for number, title in enumerate(titles, 2)]
    return [_Line(text, x=_LEFT, y=_TOP - 2 * _STEP * at) for at, text in enumerate(entries)]


def _with_heads(number: int, page: Sequence[_Line]) -> list[_Line]:
    head, foot = (
        _Line("Harbour of Holm Point   Edition 7", 9, x=_LEFT, y=780),
        _Line(f"Page {number} of 5", 9, x=280, y=30),
    )
    return [head, *page, foot]


def _woven(page: Sequence[_Line]) -> list[_Line]:
    """Writes both columns row by row, as programs that recognize letters do."""
    sides = [[line for line in page if (line.x >= _MIDDLE) == is_right] for is_right in (False, True)]
    rows = enumerate(zip_longest(*sides))
    return [replace(line, y=_TOP - _STEP * row) for row, pair in rows for line in pair if line]


def _pdf(
    pages: Sequence[Sequence[_Line]], *, before: str = "", scale: int = 1, ligatures: bool = False, page: str = ""
) -> bytes:
    streams = ["\n".join([before, *(_operators(line, scale, ligatures=ligatures) for line in each)]) for each in pages]
    return make_streams(*streams, font=_LATIN if ligatures else FONT, page=page or PAGE)


def _operators(line: _Line, scale: int, *, ligatures: bool) -> str:
    """Writes a line; powers and note marks are small and raised."""
    pieces, end = [], 0
    for found in _RAISED.finditer(line.text):
        pieces += [(line.text[end : found.start()], 1.0, 0), (found[1] or found[2], _SMALL, 4)]
        end = found.end()
    pieces.append((line.text[end:], 1.0, 0))
    shown = []
    for text, share, rise in pieces:
        escaped = re.sub(r"[\\()]", r"\\\g<0>", text)
        for letters, code in _LIGATURES.items() if ligatures else ():
            escaped = escaped.replace(letters, code)
        shown.append(f"/{line.font} {scale * share * line.size} Tf {scale * rise} Ts ({escaped}) Tj")
    return f"BT 1 0 0 1 {scale * line.x} {scale * line.y} Tm {' '.join(shown)} ET"
