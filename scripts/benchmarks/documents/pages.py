"""PDF pages that are made here, read back: words, cells of tables, numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from textwrap import wrap

from scripts.benchmarks.documents.printed import expected, print_book, read_book
from scripts.benchmarks.shared.corpus import ROOT
from server.cli.documents.read import read_document_text
from tests.pdf import Placed, column, make_layout

_TEXT = ROOT / "scripts" / "data" / "documents" / "pages.txt"
_WORD = re.compile(r"\w+(?:[.,:/^'-]\w+)*")
_TOP, _LEFT, _STEP = 740.0, 50.0, 110.0


@dataclass(frozen=True)
class Reading:
    """How well pages were read.

    Attributes:
        word_error: words to change, add or take away, as a share of those that stand there.
        cells: share of a table's cells that stand under their head, empty ones too.
        numbers_changed: numbers that came out otherwise, or did not.
        units: share of answers, headings, steps, listings and sentences that came out whole, where they begin.
    """

    word_error: float
    cells: float
    numbers_changed: int
    units: float


def read_pages(folder: Path) -> Reading:
    """Makes pages of columns, tables and forms, and a book in several layouts, and reads them back."""
    prose, rows = _parts()
    units = expected(read_book())
    files = {name: (make_layout([placed]), text) for name, (placed, text) in _pages(prose, rows).items()}
    files |= {name: (pdf, " ".join(units)) for name, pdf in print_book(read_book()).items()}
    errors, words, changed, kept = 0, 0, 0, list[bool]()
    for name, (pdf, text) in files.items():
        path = folder / f"{name}.pdf"
        path.write_bytes(pdf)
        read = read_document_text(path)
        wanted, got = _WORD.findall(text), _WORD.findall(read)
        matched = SequenceMatcher(None, wanted, got, autojunk=False).get_matching_blocks()
        errors += max(len(wanted), len(got)) - sum(block.size for block in matched)
        words += len(wanted)
        numbers = [Counter(word for word in each if word[0].isdigit()) for each in (wanted, got)]
        changed += sum((numbers[0] - numbers[1]).values()) + sum((numbers[1] - numbers[0]).values())
        if text == " ".join(units):
            kept += [unit in f"\n\n{read}" for unit in units]
        if name == "answers":
            kept += [f"- {head}: {cell}" in read.splitlines() for head, cell in _form(rows)]
    cells = list(_cells(read_document_text(folder / "table.pdf"), rows))
    return Reading(errors / words, sum(cells) / len(cells), changed, sum(kept) / len(kept))


def _parts() -> tuple[str, list[list[str]]]:
    """Reads the prose and the rows of the table of the bundled text."""
    lines = [line for line in _TEXT.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if "|" in line]
    return " ".join(line for line in lines if "|" not in line), rows


def _pages(prose: str, rows: Sequence[Sequence[str]]) -> dict[str, tuple[list[Placed], str]]:
    """Returns what is placed on each page, and what stands there."""
    wide, narrow = wrap(prose, 90, break_on_hyphens=False), wrap(prose, 42, break_on_hyphens=False)
    half = (len(narrow) + 1) // 2
    placed = [
        Placed(_LEFT + _STEP * place, _TOP - 20 * line, cell)
        for line, row in enumerate(rows)
        for place, cell in enumerate(row)
        if cell
    ]
    form = _form(rows)
    answers = [
        Placed(x, _TOP - 20 * line, text, size)
        for line, (head, cell) in enumerate(form)
        for x, text, size in ((_LEFT, f"{head}:", 9), (_LEFT + _STEP, cell, 12))
    ]
    return {
        "column": (column(_LEFT, _TOP, *wide), prose),
        "columns": ([*column(_LEFT, _TOP, *narrow[:half]), *column(320, _TOP, *narrow[half:])], prose),
        "table": (placed, " ".join(cell for row in rows for cell in row)),
        "answers": (answers, " ".join(map(" ".join, form))),
        "form": (column(_LEFT, _TOP, *(f"{head}: {cell}" for head, cell in form)), " ".join(map(" ".join, form))),
    }


def _form(rows: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    return [(head, cell) for row in rows[1:] for head, cell in zip(rows[0], row, strict=True) if cell]


def _cells(text: str, rows: Sequence[Sequence[str]]) -> Iterator[bool]:
    """Yields for each cell whether it came out under its head."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line]
    by_name = {row[0]: row for row in found}
    for row in rows:
        read = by_name.get(row[0], [])
        yield from (place < len(read) and read[place] == cell for place, cell in enumerate(row))
