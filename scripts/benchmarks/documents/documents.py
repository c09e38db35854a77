"""Benchmark: documents as people have them: pages of a PDF, chats and subtitles, formats, and questions about them."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.benchmarks.documents.chats import kept_decisions
from scripts.benchmarks.documents.focus import answered, is_answered, read_questions
from scripts.benchmarks.documents.kinds import JOINTS, recall
from scripts.benchmarks.documents.pages import read_pages
from scripts.benchmarks.documents.served import open_summaries
from scripts.benchmarks.shared.report import Figure, Report, Target
from server.cli.documents.read import read_document_text
from server.cli.errors import InputError
from tests.office import zipped

CHATS, CHATS_AFTERWARDS = ("release", "harbour"), ("library", "clinic")
"""The rule `decisions` was made on the former; the latter were written when it was done."""
DECISIONS = 3
UNREAD = {
    "a.rtf": b"{\\rtf1\\ansi The board met.\\par}",
    "a.ipynb": b'{\n "cells": []}',
    "a.rss": b"<rss version='2.0'></rss>",
    "a.xml": b"<?xml version='1.0'?><a>The board met.</a>",
    "a.rst": b"Minutes\n=======\n\n:ref:`board` met.\n",
    "a.yaml": b"board:\n  - met: yes\n",
    "a.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99),
    "a.xlsx": zipped({"xl/workbook.xml": "<x/>"}),
    "a.odt": zipped({"content.xml": "<x/>"}),
    "a.zip": zipped({"a.txt": "The board met."}),
    "a.gz": b"\x1f\x8b\x08\x00" + bytes(20),
    "a.png": b"\x89PNG\r\n\x1a\n" + bytes(20),
    "a.jpg": b"\xff\xd8\xff\xe0" + bytes(20),
    "program": b"\x7fELF\x02\x01\x01" + bytes(99),
}
"""What is refused with what to do, and never summarized."""
TARGETS = (
    Target("pdf_word_error", 0.005, at_least=False),
    Target("pdf_cells", 0.98),
    Target("numbers_changed", 0, at_least=False),
    Target("pdf_units", 0.9),
    Target("decisions_kept", 0.9),
    Target("formats_refused", 1),
    Target("focus_found", 0.85),
)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Measures all; --quick asks every third question."""
    with TemporaryDirectory(prefix="precis-bench-") as folder:
        pages, refused = read_pages(Path(folder)), _refused(Path(folder))
    figures: dict[str, Figure] = {
        "pdf_word_error": pages.word_error,
        "pdf_cells": pages.cells,
        "numbers_changed": pages.numbers_changed,
        "pdf_units": pages.units,
        "formats_refused": refused,
    }
    figures |= asyncio.run(_served(models, data, quick=quick))
    rows = [[key, f"{value:.3g}"] for key, value in figures.items() if isinstance(value, int | float)]
    return Report("documents: as people have them", ("figure", ""), rows, figures, TARGETS)


def _refused(folder: Path) -> float:
    """Returns the share of unread formats that are refused in words."""
    count = 0
    for name, data in UNREAD.items():
        (folder / name).write_bytes(data)
        try:
            read_document_text(folder / name)
        except InputError:
            count += 1
    return count / len(UNREAD)


async def _served(models: Path, data: Path, *, quick: bool) -> dict[str, Figure]:
    """Returns the share of chats whose summary has all decisions, and of questions whose answer is in the summary."""
    figures: dict[str, Figure] = {}
    async with open_summaries(models) as summaries:
        chats = [await kept_decisions(summaries, name) for name in CHATS[quick:]]
        all_kept = [count == DECISIONS for kept in chats for count, _ in kept.values()]
        figures["decisions_kept"] = sum(all_kept) / len(all_kept)
        chats = [await kept_decisions(summaries, name) for name in CHATS_AFTERWARDS[quick:]]
        counts = [count for kept in chats for count, _ in kept.values()]
        figures["decisions_kept_afterwards"] = sum(counts) / (DECISIONS * len(counts))
        for name in JOINTS:
            figures[f"recall_{name}"] = await recall(summaries, name, quick=quick)
        questions = read_questions()
        found = await answered(summaries, data, questions[1::6] if quick else questions)
    for name, is_held in (("focus_found", True), ("focus_found_chosen_on", False)):
        hits = [is_answered(question, text) for question, text in found.items() if question.is_held == is_held]
        if hits:
            figures[name] = sum(hits) / len(hits)
    return figures
