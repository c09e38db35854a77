"""Lines of a PDF page: pieces of text at one height, with their size and font."""

import re
from dataclasses import dataclass
from typing import Any

from pypdf import PageObject

_MONOSPACED = re.compile(r"mono|monl|courier|consolas|typewriter|menlo|cmtt|cmsltt|fixed", re.IGNORECASE)
_BOLD = re.compile(r"bold|black|heavy|cmb|semibold", re.IGNORECASE)
_WIDEST = 0.62  # of a size: more than a character is wide on average
_CELL_GAP = 1.5  # of a size, between the cells of a row
_LEAST_READ_SHARE = 0.9  # of the characters of a page


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or the cells of a row of a table.

    Attributes:
        x, y: where it begins, in points from the lower left of the page.
        size: of its largest letters, in points.
    """

    cells: tuple[str, ...]
    x: float
    y: float
    size: float
    is_bold: bool
    is_code: bool

    @property
    def text(self) -> str:
        """Everything in it."""
        return " ".join(self.cells)


@dataclass(slots=True)
class _Piece:
    text: str
    x: float
    y: float
    size: float
    font: str


def read_lines(page: PageObject) -> list[Line]:
    """Returns the lines of a page in the order of the file; none for a page without text."""
    pieces: list[_Piece] = []

    def visit(text: str, cm: list[float], tm: list[float], font: dict[str, Any] | None, size: float) -> None:
        x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        scale = (abs(tm[3]) or abs(tm[1]) or 1.0) * (abs(cm[3]) or abs(cm[1]) or 1.0)
        pieces.append(_Piece(text, x, y, round(size * scale, 1), str((font or {}).get("/BaseFont", ""))))

    whole = page.extract_text(visitor_text=visit)
    lines = [line for run in _runs(pieces) if (line := _line(run))]
    read = sum(len("".join(line.text.split())) for line in lines)
    if read < _LEAST_READ_SHARE * len("".join(whole.split())):  # a page that tells no places
        texts = [text for text in whole.splitlines() if text.strip()]
        return [Line((text.strip(),), 0.0, -float(row), 1.0, False, False) for row, text in enumerate(texts)]  # noqa: FBT003
    return lines


def _runs(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Returns the pieces of each line, to the right of each other at one height; a piece may itself hold lines."""
    runs: list[list[_Piece]] = []
    for piece in pieces:
        if not piece.text.strip():
            if runs:
                runs[-1][-1].text += piece.text
            continue
        first, *rest = piece.text.split("\n")
        last = runs[-1][-1] if runs and runs[-1] else None
        is_level = last is not None and abs(last.y - piece.y) < 0.4 * max(last.size, piece.size, 1.0)
        if last is not None and is_level and piece.x >= last.x:
            if "\n" in last.text:
                first = f"\t{first}"
            runs[-1].append(_Piece(first, piece.x, piece.y, piece.size, piece.font))
        else:
            runs.append([_Piece(first, piece.x, piece.y, piece.size, piece.font)])
        runs[-1][-1].text += "\n" if rest else ""
        step = piece.size * 1.2
        for row, text in enumerate(rest, 1):
            if text.strip():
                runs.append([_Piece(text, piece.x, piece.y - row * step, piece.size, piece.font)])
    return [run for run in runs if any(piece.text.strip() for piece in run)]


def _line(run: list[_Piece]) -> Line | None:
    """Joins pieces; where there is a gap, a new cell begins."""
    cells, end = [""], run[0].x
    for piece in run:
        text = piece.text.replace("\n", " ")
        is_far = piece.x - end > _CELL_GAP * piece.size
        if cells[-1].strip() and (is_far or text.startswith("\t")):
            cells.append("")
        cells[-1] += text
        end = max(end, piece.x + len(text) * _WIDEST * piece.size)
    clean = tuple(" ".join(cell.split()) for cell in cells if cell.strip())
    if not clean:
        return None
    size = max(run, key=lambda piece: len(piece.text)).size
    fonts = [piece.font for piece in run]
    is_bold, is_code = all(map(_BOLD.search, fonts)), all(map(_MONOSPACED.search, fonts))
    return Line(clean, run[0].x, round(run[0].y, 1), size, is_bold, is_code)
