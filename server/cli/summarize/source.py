"""What `precis summarize` reads: the pages of a PDF, or a text that the server cuts."""

import io
import logging
from pathlib import Path

from precis.v1 import summarize_pb2 as pb
from pypdf import PdfReader
from pypdf.errors import PyPdfError

from pipeline.summarize.packing import split_by_tokens
from server.cli.connection import read_bytes
from server.cli.errors import InputError
from server.cli.files import STDIN, read_text

CHUNK_CHARS = 1_000  # about 250 tokens
PDF_START = b"%PDF-"


def read_document(path: Path) -> pb.Document:
    """Reads a document; a PDF is known by its first bytes. Raises InputError."""
    name = "stdin" if path == STDIN else path.name
    if path != STDIN:
        data = read_bytes(path)
        if data[:1024].lstrip().startswith(PDF_START):
            return pdf_document(data, name)
        if path.suffix.lower() == ".pdf":
            raise InputError(f"{path} is no PDF")
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} holds no text")
    return pb.Document(document_id=name, name=name, text=text)


def pdf_document(data: bytes, name: str) -> pb.Document:
    """Reads the text of each page, and cuts long pages where sentences end."""
    pages = read_pages(data, name)
    chunks = [
        pb.DocumentChunk(text=part, page_number=number)
        for number, page in enumerate(pages, 1)
        for part in split_by_tokens(page, CHUNK_CHARS, len)
        if part.strip()
    ]
    if not chunks:
        raise InputError(f"{name}: none of its {len(pages)} pages holds text; a scanned PDF needs OCR first")
    return pb.Document(document_id=name, name=name, chunks=chunks, total_pages=len(pages))


def read_pages(data: bytes, name: str) -> list[str]:
    """Returns the text of each page. Raises InputError."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every oddity of a file that it can still read
    try:
        reader = PdfReader(io.BytesIO(data))
        pages = [page.extract_text() for page in reader.pages]
    # Broken files make pypdf stumble in many ways besides its own errors.
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise InputError(f"{name}: cannot read this PDF: {error}") from error
    return [page.encode("utf-8", "replace").decode("utf-8") for page in pages]  # without lone surrogates
