"""What `precis summarize` reads: a document, or several files and folders as one document."""

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from precis.v1 import summarize_pb2 as pb

from pipeline.summarize.packing import split_by_tokens
from server.cli.console import print_note
from server.cli.documents.read import document_name, read_document_pages, read_document_text
from server.cli.errors import InputError
from server.cli.files import STDIN, not_empty, to_id

CHUNK_CHARS = 1_000  # about 250 tokens
MOST_FILES, MOST_BYTES = 1_000, 512 * 2**20
SUFFIXES = frozenset(
    {".pdf", ".html", ".htm", ".xhtml", ".docx", ".epub", ".pptx", ".md", ".markdown", ".txt", ".text", ".rst", ".adoc"}
    | {".csv", ".tsv", ".srt", ".vtt"}
)
"""Of the files that are read in a folder; a file that is named is read whatever its name."""
_MOST_NAME_CHARS = 200


def read_document(paths: Sequence[Path]) -> pb.Document:
    """Reads a document; several files become one, each under its name as a heading. Raises InputError."""
    files = list_files(paths)
    if len(files) == 1 and not paths[0].is_dir():
        return _read_one(files[0])
    root = Path(os.path.commonpath([file.absolute().parent for file in files]))
    folder = to_id(paths[0].resolve().name) or "documents"
    name = folder if len(paths) == 1 else f"{document_name(files[0])} and {len(files) - 1} more"
    parts = [section for path in files if (section := _as_section(path, root))]
    if not parts:
        raise InputError(f"none of the {len(files)} files holds text")
    return pb.Document(document_id=name[:_MOST_NAME_CHARS], name=name[:_MOST_NAME_CHARS], text="\n\n".join(parts))


def list_files(paths: Sequence[Path], *, tells_skipped: bool = True) -> list[Path]:
    """Returns the files in the order they are named, those of a folder by name, 2 before 10. Raises InputError."""
    files: dict[Path, None] = {}
    skipped: list[Path] = []
    size = 0
    for path in paths:
        for file in _walk(path) if path.is_dir() else [path]:
            if path.is_dir() and file.suffix.lower() not in SUFFIXES:
                skipped.append(file)
                continue
            files[file] = None
            size += file.stat().st_size if file.is_file() else 0
            if len(files) > MOST_FILES or size > MOST_BYTES:
                raise InputError(f"more than {MOST_FILES:,} files or {MOST_BYTES // 2**20} MiB: name fewer at once")
    if not files:
        raise InputError(f"{paths[0]} holds no file that ends in {', '.join(sorted(SUFFIXES))}")
    if len(files) > 1 and STDIN in files:
        raise InputError("- stands alone: standard input is one text")
    if skipped and tells_skipped:
        names = ", ".join(to_id(file.name) for file in skipped[:5])
        more = f" and {len(skipped) - 5:,} more" if skipped[5:] else ""
        print_note(f"Left out, for they are of other kinds: {names}{more}.")
    return list(files)


def _walk(folder: Path) -> Iterator[Path]:
    """Yields the files of a folder and those below it, without hidden ones; never follows a link to a folder."""

    def refuse(error: OSError) -> None:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from error

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted((name for name in folders if not name.startswith(".")), key=_natural)
        yield from (Path(parent, name) for name in sorted(names, key=_natural) if not name.startswith("."))


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Orders "chapter 2" before "chapter 10"."""
    parts = [(is_number, "".join(part)) for is_number, part in groupby(name.casefold(), str.isdecimal)]
    return [(is_number, int(part) if is_number else 0, part) for is_number, part in parts]


def _read_one(path: Path) -> pb.Document:
    """Reads a document; long pages are cut where sentences end, a text without pages is left to the server."""
    name, pages = document_name(path), read_document_pages(path)
    if isinstance(pages, str):
        return pb.Document(document_id=name, name=name, text=not_empty(pages, path))
    chunks = [
        pb.DocumentChunk(text=part, page_number=number)
        for number, page in enumerate(pages, 1)
        for part in split_by_tokens(page, CHUNK_CHARS, len)
        if part.strip()
    ]
    return pb.Document(document_id=name, name=name, chunks=chunks, total_pages=len(pages))


def _as_section(path: Path, root: Path) -> str:
    """Returns a file's text below its name, with its own headings two levels lower; page numbers would name no file.

    The name is "## notes.txt", because "# notes.txt" reads as a command of root.
    """
    text = read_document_text(path)
    if not text.strip():
        print_note(f"{path} holds no text and is left out.")
        return ""
    name = to_id(path.absolute().relative_to(root).as_posix())
    lines, is_code = [f"## {' '.join(name.split())}", ""], False
    for line in text.replace("\f", "\n").strip().split("\n"):  # a page break would begin a page
        is_code ^= line.lstrip(" ").startswith(("```", "~~~"))
        title = line.lstrip("#")
        level = len(line) - len(title)
        is_heading = level in range(1, 7) and title.startswith(" ") and not is_code  # else "# " begins a comment
        lines.append("#" * min(6, level + 2) + title if is_heading else line)
    return "\n".join(lines)
