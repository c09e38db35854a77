"""The documents that commands read: PDF, HTML, DOCX, EPUB, PPTX, CSV, subtitles and UTF-8 texts."""

import csv
from codecs import BOM_UTF8
from itertools import zip_longest
from pathlib import Path

from server.cli.documents.confined import read_confined
from server.cli.documents.converter import convertible_suffix, without_images
from server.cli.documents.subtitles import is_subtitles, read_subtitles
from server.cli.errors import InputError
from server.cli.files import STDIN, decode, naming, read_bytes, to_id

_REFUSED = {
    b"\xd0\xcf\x11\xe0": "a format of before 2007: save it as DOCX, PPTX or PDF",
    b"{\\rtf": "RTF: save it as DOCX or PDF",
    b'{"cells"': "a notebook: export it as HTML or Markdown",
    b'{"summary_id"': "a summary as JSON: take the text that `precis summarize -o FILE.md` writes",
    b"<?xml": "XML: save what it says as HTML or text",
    b"<rss": "a feed: save the pages that it names as HTML",
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*"), "an image: run OCR over it first"),
    **dict.fromkeys((b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"BZh"), "an archive: unpack it"),
}
_MOST_ROWS = 5_000


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
        if path.suffix.lower() == ".pdf":
            raise InputError("this is no PDF")
        if suffix := convertible_suffix(data, path):
            return read_confined(data, suffix)
        start = b"".join(data[:256].removeprefix(BOM_UTF8).split())
        for mark, message in _REFUSED.items():
            if start.startswith(mark):
                raise InputError(message)
        try:
            text = decode(data)
            if is_subtitles(text):
                return read_subtitles(text)
            if path.suffix.lower() in {".csv", ".tsv"}:
                return _read_table(text)
            return without_images(text) if path.suffix.lower() in {".md", ".markdown"} else text
        except InputError as error:
            formats = "PDF, HTML, DOCX, EPUB, PPTX, CSV and UTF-8 text"
            raise InputError(f"{error.message}: only {formats} are read; save it as one of them") from error


def _read_table(text: str) -> str:
    """Returns a Markdown table, in which a sentence names each cell by its head. Raises InputError."""
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    try:
        found = list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"a damaged table: {error}") from error
    rows = [row for row in found if any(map(str.strip, row))]
    if len(rows) > _MOST_ROWS:
        raise InputError(f"a table of {len(rows):,} rows: at most {_MOST_ROWS:,} are read; choose those that matter")
    columns = list(zip_longest(*rows, fillvalue=""))
    rows = [[" ".join(cell.replace("|", "¦").split()) for cell in row] for row in zip(*columns, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(columns), *lines[1:]])
