"""The documents that commands read: PDF, HTML, DOCX, EPUB, PPTX, CSV, subtitles, mails and UTF-8 texts."""

import csv
from codecs import BOM_UTF8
from contextlib import suppress
from itertools import zip_longest
from json import JSONDecoder
from pathlib import Path

from server.cli.documents.confined import read_confined
from server.cli.documents.converter import MARKDOWN, UNREAD, convertible_suffix
from server.cli.errors import InputError
from server.cli.files import STDIN, decode, naming, read_bytes, to_id
from server.subtitles import is_subtitles, read_subtitles

_MOST_ROWS, _MOST_CELLS, _START_CHARS = 5_000, 1_000_000, 1_000
_MARKS = ("<", "[", "&", "\\", "{", "!!!", ":::", "~~", "%%", "==", "\n---")  # else Markdown is text and takes no extra


def document_name(path: Path) -> str:
    """Names a document after its file."""
    return "stdin" if path == STDIN else to_id(path.name)


def read_document_text(path: Path) -> str:
    """Reads a text, or that of all pages of a document that has pages. Raises InputError."""
    pages = read_document_pages(path)
    return pages if isinstance(pages, str) else "\n\n".join(pages)


def read_document_pages(path: Path) -> str | list[str]:
    """Reads a text, or that of each page of a PDF or slide of a PPTX; first bytes tell formats. Raises InputError."""
    data = read_bytes(path)
    with naming(path):
        if data[:1024].lstrip().startswith(b"%PDF-"):
            return read_confined(data, ".pdf")
        if suffix := convertible_suffix(data, path):
            return read_confined(data, suffix)
        start = b"".join(data[:256].removeprefix(BOM_UTF8).split())
        for mark, message in UNREAD["starts"].items():
            if start.startswith(mark.encode("latin-1")):
                raise InputError(message)
        try:
            text = decode(data)
        except InputError as error:
            raise InputError(f"{error.message}: save it as PDF, HTML, DOCX, EPUB, PPTX, CSV or UTF-8 text") from error
        if is_subtitles(text):
            return read_subtitles(text)
        _refuse_markup(text, path.suffix.lower())
        head = set(text.partition("\n\n")[0].lower().split())
        if head & {"mime-version:", "message-id:"} and (mail := read_confined(data, ".eml")):
            return mail
        if path.suffix.lower() in {".csv", ".tsv"} and text.strip():
            return _read_table(text)
        has_marks = path.suffix.lower() in MARKDOWN and any(mark in text for mark in _MARKS)
        return read_confined(data.removeprefix(BOM_UTF8), ".md") if has_marks else text


def _refuse_markup(text: str, suffix: str) -> None:
    """Raises InputError for JSON, markup of other kinds, and what one element holds whole, as it does a feed."""
    if suffix in UNREAD["suffixes"]:
        raise InputError(UNREAD["suffixes"][suffix])
    text = (text.partition("-->")[2] if text.lstrip().startswith("<!--") else text).strip()
    for message, marks in UNREAD["lines"].items():
        found = sum(line.startswith(tuple(marks)) for line in text[:_START_CHARS].splitlines())
        if found > 1 and suffix not in MARKDOWN:  # which may speak of them
            raise InputError(message)
    if text.startswith("From ") and "@" in text.partition("\n")[0] and "\nFrom: " in text:
        raise InputError("a mailbox: save each mail by itself")
    with suppress(ValueError, RecursionError):
        value, end = JSONDecoder().raw_decode(listed := text.lstrip("[ \t\r\n"))
        if isinstance(value, dict) and listed[end:].lstrip()[:1] in {"", ",", "]", "{"}:  # no prose behind it
            raise InputError("JSON: save what it says as text, and a notebook as Markdown")
    name = text.rpartition("</")[2].removesuffix(">")
    if text.endswith(f"</{name}>") and text.startswith((f"<{name}", f"<!DOCTYPE {name}")):
        raise InputError("XML: save what it says as HTML or text")


def _read_table(text: str) -> str:
    """Returns a Markdown table, in which a sentence names each cell by its head. Raises InputError."""
    text = text.partition("\n")[2] if text.lower().startswith("sep=") else text  # of Excel
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    try:
        found = list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"a damaged table: {error}") from error
    rows = [row for row in found if any(map(str.strip, row))]
    if len(rows) > _MOST_ROWS or len(rows) * max(map(len, rows), default=0) > _MOST_CELLS:
        raise InputError(f"{len(rows):,} rows: at most {_MOST_ROWS:,} are read, and {_MOST_CELLS:,} cells: choose some")
    columns = list(zip_longest(*rows, fillvalue=""))
    rows = [[" ".join(cell.replace("|", "¦").split()) for cell in row] for row in zip(*columns, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(columns), *lines[1:]])
