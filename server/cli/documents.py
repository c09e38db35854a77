"""The documents that commands read: the pages of a PDF, or a UTF-8 text."""

import io
import logging
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from server.cli.errors import InputError
from server.cli.files import STDIN, decode, naming, read_bytes, to_id

PDF_START = b"%PDF-"


def document_name(path: Path) -> str:
    """Names a document after its file."""
    return "stdin" if path == STDIN else to_id(path.name)


def read_document_text(path: Path) -> str:
    """Reads a text, or the text of all pages of a PDF. Raises InputError."""
    pages = read_document_pages(path)
    return pages if isinstance(pages, str) else "\n\n".join(pages)


def read_document_pages(path: Path) -> str | list[str]:
    """Reads a text, or the text of each page of a PDF, which is known by its first bytes. Raises InputError."""
    data = read_bytes(path)
    with naming(path):
        if data[:1024].lstrip().startswith(PDF_START):
            return read_pages(data)
        if path.suffix.lower() == ".pdf":
            raise InputError("this is no PDF")
        try:
            return decode(data)
        except InputError as error:
            raise InputError(f"{error.message}: only PDF and UTF-8 text are read; save it as one of them") from error


def read_pages(data: bytes) -> list[str]:
    """Returns the text of each page of a PDF. Raises InputError."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every oddity of a file that it can still read
    try:
        pages = [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]
    # Broken files make pypdf stumble in many ways besides its own errors.
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise InputError(f"cannot read this PDF: {error}") from error
    if not any(page.strip() for page in pages):
        raise InputError(f"none of its {len(pages)} pages holds text; a scanned PDF needs OCR first")
    return [page.encode("utf-8", "replace").decode("utf-8") for page in pages]  # without lone surrogates
