"""What stands where on the pages of a PDF: lines of cells, by pdftext, which asks PDFium for every letter's place.

Words are made from places, not from the file's spaces. The order is the file's: programs write as people read.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import pypdfium2
from pdftext.extraction import dictionary_output
from pypdfium2.raw import FPDFText_HasUnicodeMapError

from server.cli.documents.converter import raised
from server.cli.errors import InputError

_MONOSPACED = ("mono", "monl", "courier", "consolas", "typewriter", "menlo", "cmtt", "cmsltt", "fixed")
_BOLD = ("bold", "black", "heavy", "cmb")  # in the names of fonts
_BOX_SCALE, _LEAST_BOX, _MOST_BOX = 1.12, 0.8, 1.6  # height of a letter's box in sizes; else the page is scaled
_CELL_GAP, _WORD_GAP = 1.5, 0.12  # of a size, from one cell or word to the next
_SAME_HEIGHT = 0.5  # of a size, between the feet of pieces of one line
_ONE_LINE, _MOST_CELL_LINES = 0.8, 8  # in sizes, how much higher the next cell of a row begins; more is a column
_RAISED_SIZE, _RAISED_BY = 0.8, 0.15  # of the size beside it
_MOST_RAISED_CHARS = 6
_CLOSING = tuple(",.;:!?)")
_MOST_UNKNOWN = 0.1  # of the letters of a page

Span = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """Text without a wide gap, where it begins and ends, in points from the left, and how it looks."""

    text: str
    left: float
    right: float
    size: float = 0.0  # of most of its letters, in points
    is_bold: bool = False
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or the cells of a row of a table."""

    cells: tuple[Cell, ...]
    y: float  # where it stands, in points; greater is higher

    @property
    def x(self) -> float:
        """Where it begins."""
        return self.cells[0].left

    @property
    def text(self) -> str:
        """Everything in it."""
        return " ".join(cell.text for cell in self.cells)

    @property
    def main(self) -> Cell:
        """Its longest cell, which says how it looks."""
        return max(self.cells, key=lambda cell: len(cell.text))


def read_lines(data: bytes) -> list[list[Line]]:
    """Returns the lines of each page in the order of the file. Raises InputError."""
    try:
        with closing(pypdfium2.PdfDocument(data)) as document:
            _check_letters(document)
        pages = dictionary_output(data, disable_links=True, flatten_pdf=True)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise InputError("it needs a password: save it without one") from error
        raise InputError(f"cannot read this PDF: {error}") from error
    return [_with_rows(line for row in _rows(page) if (line := _line(row))) for page in pages]


def _check_letters(document: pypdfium2.PdfDocument) -> None:
    """Refuses a page whose font does not say which letters its shapes are: what comes out would look like text."""
    for number, page in enumerate(document, 1):
        text = page.get_textpage()
        count = text.count_chars()
        unknown = sum(FPDFText_HasUnicodeMapError(text, place) == 1 for place in range(count))
        if unknown > _MOST_UNKNOWN * count:
            raise InputError(f"page {number}: its font does not say which letters it shows: save it anew, or run OCR")


def _with_rows(lines: Iterable[Line]) -> list[Line]:
    """Joins the cells of a row that a file writes one after the other, and the entries of a form with their names."""
    kept: list[Line] = []
    for line in lines:
        near = _SAME_HEIGHT * line.main.size
        names = (at for at, one in enumerate(kept) if one.text.endswith(":") and abs(one.y - line.y) < near)
        named = next((at for at in names if kept[at].cells[-1].right <= line.x), None)
        beside = list(takewhile(lambda one: one.y < line.y + near, reversed(kept)))  # noqa: B023 - used at once
        higher = line.y - beside[0].y if beside else 0.0
        is_cell = all(one.cells[-1].right <= line.x and higher > _ONE_LINE * one.main.size for one in beside)
        if named is not None:
            kept[named] = Line(kept[named].cells + line.cells, kept[named].y)
        elif is_cell and 0 < higher < _MOST_CELL_LINES * line.main.size:
            kept[-len(beside) :] = [_row([*reversed(beside), line])]
        else:
            kept.append(line)
    return kept


def _row(lines: Sequence[Line]) -> Line:
    """Returns one line of all cells; those above each other become one, in whose text vertical tabs end lines."""
    columns: list[Cell] = []
    for cell in (cell for line in lines for cell in line.cells):
        above = next((one for one in columns if min(one.right, cell.right) > max(one.left, cell.left)), None)
        if above is None:
            columns.append(cell)
        else:
            text, right = f"{above.text}\v{cell.text}", max(above.right, cell.right)
            columns[columns.index(above)] = replace(above, text=text, left=min(above.left, cell.left), right=right)
    return Line(tuple(sorted(columns, key=lambda cell: cell.left)), max(line.y for line in lines))


def _rows(page: dict[str, Any]) -> Iterator[list[Span]]:
    """Yields the pieces of each line: to the right of each other, at one height."""
    row: list[Span] = []
    for line in (line for block in page["blocks"] for line in block["lines"]):
        spans = [span for span in line["spans"] if span["text"].strip()]
        apart = abs(_main(row)["bbox"][3] - _main(spans)["bbox"][3]) if row and spans else 0.0
        if apart and apart >= _SAME_HEIGHT * _size(_main(row)):
            yield row
            row = []
        row += spans
    if row:
        yield row


def _line(row: Sequence[Span]) -> Line | None:
    """Joins the pieces of a line; where there is a gap, a new cell begins."""
    main = _main(row)
    pieces, end = [[row[0]]], row[0]["bbox"][2]
    for span in row[1:]:
        if span["bbox"][0] - end > _CELL_GAP * _size(main):
            pieces.append([])
        pieces[-1].append(span)
        end = span["bbox"][2]
    cells = tuple(cell for spans in pieces if (cell := _cell(spans)).text)
    return Line(cells, round(-main["bbox"][3], 1)) if cells else None


def _cell(spans: Sequence[Span]) -> Cell:
    """Joins what stands close together; no gap is left before a comma or a full stop, but before ".deb"."""
    main = _main(spans)
    size, text, end = _size(main), "", spans[0]["bbox"][0]
    for span in spans:
        left, _, right, _ = span["bbox"]
        said = raised(text, span["text"].strip()) if _is_raised(span, main) else span["text"].rstrip("\n")
        is_stop = said[:1] in _CLOSING and not said[1:2].strip()
        if left - end > _WORD_GAP * size and not is_stop:
            said = f" {said}"
        text, end = text + said, right
    fonts = [span["font"]["name"].lower() for span in spans]
    is_bold, is_code = (all(any(part in font for part in parts) for font in fonts) for parts in (_BOLD, _MONOSPACED))
    return Cell(" ".join(text.split()), spans[0]["bbox"][0], end, size, is_bold, is_code)


def _main(row: Sequence[Span]) -> Span:
    return max(row, key=lambda span: len(span["text"].strip()))


def _size(span: Span) -> float:
    height, size = span["bbox"][3] - span["bbox"][1], span["font"]["size"]
    is_usual = span["rotation"] or _LEAST_BOX * size <= height <= _MOST_BOX * size  # turned letters have narrow boxes
    return round(float(size if is_usual else height / _BOX_SCALE), 1)


def _is_raised(span: Span, main: Span) -> bool:
    size, is_short = _size(main), len(span["text"].strip()) <= _MOST_RAISED_CHARS
    return is_short and _size(span) <= _RAISED_SIZE * size and main["bbox"][3] - span["bbox"][3] > _RAISED_BY * size
