"""HTML, DOCX, EPUB and PPTX as Markdown, by markitdown (MIT, maintained by Microsoft). Needs the extra `documents`.

It keeps headings, numbered steps, tables and code; of the converters that read all four and need no program beside
Python it was the one that kept the numbers of steps. Its converters are called one by one, for the class around them
loads a model to guess the format, and takes addresses.
"""

import importlib.util
import io
import re
import warnings
import zipfile
from pathlib import Path

from pipeline.errors import needs_extra
from server.cli.errors import InputError

ZIP_START = b"PK\x03\x04"
_MOST_UNPACKED_BYTES = 512 * 2**20
_PARTS = {"word/document.xml": ".docx", "ppt/presentation.xml": ".pptx", "META-INF/container.xml": ".epub"}
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*>\s*+|(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
_BOILERPLATE = ["script", "style", "nav", "footer", "form", "template", "noscript", "svg", "button", "iframe"]
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"
# None of these looks twice at a character: words stop at a bracket, addresses at one that is not closed.
_WORDS = r"\[([^\[\]]*+)\]"
_ADDRESS = r"[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+"
_TITLE = r"(?:\s\"[^\"]*+\")?+"
_IMAGE = re.compile(rf"!{_WORDS}\({_ADDRESS}{_TITLE}\)")
_INNER_LINK = re.compile(rf"(?<!!){_WORDS}\((?!https?:|mailto:){_ADDRESS}{_TITLE}\)")
_MENU_ITEM = re.compile(rf"^[ \t]*+(?:[-*+]|\d++\.) {_WORDS}\((?!https?:|mailto:){_ADDRESS}\)[ \t]*+\n", re.MULTILINE)
_SLIDE = re.compile(r"<!-- Slide number: \d+ -->")
_HEADLESS_TABLE = re.compile(r"^\|[ |]*\|\n(\|[-| :]+\|)\n(\|.*\|)$", re.MULTILINE)
_EPUB_TITLE = re.compile(r"\A\*\*Title:\*\* (.*)\n(?:\*\*\w+:\*\* .*\n?)*")
_EPUB_METADATA = re.compile(r"\A(?:\*\*\w+:\*\* .*\n?)+")


def convertible_suffix(data: bytes, path: Path) -> str | None:
    """Returns the suffix of a format that `convert` reads, by the first bytes; None for others. Raises InputError."""
    if data.startswith(ZIP_START):
        return _zip_suffix(data)
    is_html = path.suffix.lower() in _HTML_SUFFIXES or _HTML_START.match(data[:4096])
    return ".html" if is_html else None


def convert(data: bytes, suffix: str) -> str | list[str]:
    """Returns the Markdown of a document, or of each slide. Raises InputError."""
    _check_extra(suffix)
    try:
        markdown = _to_markdown(data, suffix)
    except Exception as error:  # broken files make the libraries stumble in any way
        raise InputError(f"cannot read this {suffix[1:].upper()}: {' '.join(str(error).split())[:200]}") from error
    if suffix == ".pptx":
        return [_clean(slide) for slide in _SLIDE.split(markdown)[1:]]
    if suffix == ".epub":
        markdown = _EPUB_METADATA.sub("", _EPUB_TITLE.sub(r"# \1\n\n", markdown))
    return _clean(markdown)


def _zip_suffix(data: bytes) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise InputError(f"a damaged ZIP file: {error}") from error
    if sum(entry.file_size for entry in entries) > _MOST_UNPACKED_BYTES:
        raise InputError(f"unpacked it is larger than {_MOST_UNPACKED_BYTES // 2**20} MiB")
    names = {entry.filename for entry in entries}
    return next((suffix for part, suffix in _PARTS.items() if part in names), None)


def _check_extra(suffix: str) -> None:
    if importlib.util.find_spec("markitdown") is None:
        name = suffix[1:].upper()
        raise InputError(f"{name} {needs_extra('documents')}")


def _to_markdown(data: bytes, suffix: str) -> str:
    from markitdown import StreamInfo, converters

    options = {"style_map": _STYLES} if suffix == ".docx" else {}
    data = _main_part(data) if suffix == ".html" else data
    converter = getattr(converters, f"{suffix[1:].capitalize()}Converter")()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and nesting, for the developers of documents
        return str(converter.convert(io.BytesIO(data), StreamInfo(extension=suffix), **options).markdown)


def _main_part(data: bytes) -> bytes:
    """Returns what a web page is for: its <main>, or its only <article>, or all, without menus, forms and footers."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(data, "html.parser")
    articles = soup.find_all("article")
    main = soup.find("main") or (articles[0] if len(articles) == 1 else None) or soup.find("body") or soup
    for tag in main.find_all(_BOILERPLATE):
        tag.decompose()
    return str(main).encode()


def _clean(markdown: str) -> str:
    """Leaves out images and links into the document itself, but for their words, and list items that are only a link.

    The first row of a table becomes its head.
    """
    text = _MENU_ITEM.sub("", _IMAGE.sub(r"\1", f"{markdown}\n"))
    text = _INNER_LINK.sub(r"\1", text)
    return _HEADLESS_TABLE.sub(r"\2\n\1", text).strip()
