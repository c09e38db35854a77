"""The documents that commands read: PDF, HTML, DOCX, EPUB, PPTX and UTF-8 texts."""

from pathlib import Path

from server.cli.documents.converter import convert, convertible_suffix
from server.cli.documents.pdf import read_pages
from server.cli.errors import InputError
from server.cli.files import STDIN, decode, naming, read_bytes, to_id

PDF_START = b"%PDF-"
_OLD_OFFICE_START = b"\xd0\xcf\x11\xe0"
FORMATS = "PDF, HTML, DOCX, EPUB, PPTX and UTF-8 text are read"


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
        if data[:1024].lstrip().startswith(PDF_START):
            return read_pages(data)
        if path.suffix.lower() == ".pdf":
            raise InputError("this is no PDF")
        if suffix := convertible_suffix(data, path):
            return convert(data, suffix)
        if data.startswith(_OLD_OFFICE_START):
            raise InputError("a format of before 2007: save it as DOCX, PPTX or PDF")
        try:
            return _decode_text(data)
        except InputError as error:
            raise InputError(f"{error.message}: only {FORMATS}; save it as one of them") from error


def _decode_text(data: bytes) -> str:
    text = decode(data)
    if "\0" in text:  # UTF-8 in name only: a program's data, or UTF-16 without its mark
        raise InputError(f"no text: a zero byte at {data.index(0)}")
    return text
