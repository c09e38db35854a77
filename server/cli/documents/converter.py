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
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.errors import needs_extra
from server.cli.errors import InputError

_MOST_UNPACKED_BYTES = 512 * 2**20
_PARTS = {"word/document.xml": ".docx", "ppt/presentation.xml": ".pptx", "META-INF/container.xml": ".epub"}
_REFUSED = {
    "xl/workbook.xml": "a spreadsheet: save each sheet as CSV",
    "xl/workbook.bin": "a spreadsheet: save each sheet as CSV",
    "content.xml": "an OpenDocument file: save it as DOCX, PPTX, CSV or PDF",
    "Index/Document.iwa": "a file of Pages, Numbers or Keynote: export it as DOCX, CSV, PPTX or PDF",
}
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*>\s*+|(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_BOILERPLATE = (
    "script, style, nav, footer, form, template, noscript, svg, button, iframe, [role=navigation], [hidden], "
    "[aria-hidden=true]"
)
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"
_IMAGE = re.compile(r"!\[([^\[\]]*+)\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+(?:\s\"[^\"]*+\")?+\)")
_SLIDE = re.compile(r"<!-- Slide number: \d+ -->")
_HEADLESS_TABLE = re.compile(r"^\|[ |]*\|\n(\|[-| :]+\|)\n(\|.*\|)$", re.MULTILINE)
_EPUB_METADATA = re.compile(r"\A(?:\*\*Title:\*\* (.*)\n)?(?:\*\*\w+:\*\* .*\n?)*")

_POWER = re.compile(r"[-+\u2212]?(?:\d{1,3}|[A-Za-z])")
_BASES = frozenset({"10", "2", "cm", "dm", "km", "mm", "ft", "yd"})  # and a letter: "x", "m"
_ORDINAL = frozenset({"st", "nd", "rd", "th", "er", "e", "re", "o", "a", "TM"})


def convertible_suffix(data: bytes, path: Path) -> str | None:
    """Returns the suffix of a format that `convert` reads, by the first bytes; None for others. Raises InputError."""
    if data.startswith(b"PK\x03\x04"):
        return _zip_suffix(data)
    is_html = path.suffix.lower() in {".html", ".htm", ".xhtml"} or _HTML_START.match(data[:4096])
    return ".html" if is_html else None


def convert(data: bytes, suffix: str) -> str | list[str]:
    """Returns the Markdown of a document, or of each slide. Raises InputError."""
    if importlib.util.find_spec("markitdown") is None:
        raise InputError(f"{suffix[1:].upper()} {needs_extra('documents')}")
    from markitdown import StreamInfo

    options = {"style_map": _STYLES} if suffix == ".docx" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and nesting, for the developers of documents
            found = _converter(suffix).convert(io.BytesIO(data), StreamInfo(extension=suffix), **options)
    except Exception as error:  # broken files make the libraries stumble in any way
        raise InputError(f"cannot read this {suffix[1:].upper()}: {' '.join(str(error).split())[:200]}") from error
    markdown = str(found.markdown)
    if suffix == ".pptx":
        return [_clean(slide) for slide in _SLIDE.split(markdown)[1:]]
    if suffix == ".epub":
        markdown = _EPUB_METADATA.sub(lambda found: f"# {found[1]}\n\n" if found[1] else "", markdown)
    return _clean(markdown)


def _zip_suffix(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise InputError(f"a damaged ZIP file: {error}") from error
    if sum(entry.file_size for entry in entries) > _MOST_UNPACKED_BYTES:
        raise InputError(f"unpacked it is larger than {_MOST_UNPACKED_BYTES // 2**20} MiB")
    names = {entry.filename for entry in entries}
    if suffix := next((suffix for part, suffix in _PARTS.items() if part in names), None):
        return suffix
    raise InputError(next((why for part, why in _REFUSED.items() if part in names), "an archive: unpack it"))


def _converter(suffix: str) -> Any:  # noqa: ANN401 - markitdown is an extra, of which mypy sees nothing
    """Returns markitdown's converter of a format, which cleans the HTML that it makes or finds on its way."""
    from markitdown import converters

    class CleanHtmlConverter(converters.HtmlConverter):  # type: ignore[misc]  # as above
        def convert(self, file_stream: BinaryIO, stream_info: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            page = clean_html(file_stream.read())
            return super().convert(io.BytesIO(page), replace(stream_info, charset="utf-8"), **kwargs)

    if suffix == ".html":
        return CleanHtmlConverter()
    converter = getattr(converters, f"{suffix[1:].capitalize()}Converter")()
    converter._html_converter = CleanHtmlConverter()  # noqa: SLF001 - how DOCX, EPUB and PPTX write what they found
    return converter


def clean_html(data: bytes) -> bytes:
    """Returns what a page is for: its <main>, its only <article>, or all, without what is no text of it.

    Menus, forms, what is hidden and marks of notes go. Of links and images their words stay. Raised text becomes
    "^6" where it is a power.
    """
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(data, "html.parser")
    articles = soup.find_all("article")
    main = soup.find("main") or (articles[0] if len(articles) == 1 else None) or soup.find("body") or soup
    for tag in main.select(_BOILERPLATE):
        tag.decompose()
    for tag in main.find_all(style=True):
        if not tag.decomposed and "display:none" in tag["style"].replace(" ", ""):
            tag.decompose()
    for tag in main.find_all("sup"):
        before = tag.find_previous(string=True)
        tag.replace_with("" if tag.find("a") else raised(str(before or ""), tag.get_text(strip=True)))
    for tag in main.find_all("img"):
        tag.replace_with(tag.get("alt", ""))
    for tag in main.find_all("a"):
        item = tag.find_parent("li")
        is_menu = item is not None and item.get_text(strip=True) == tag.get_text(strip=True)
        if is_menu and "://" not in tag.get("href", ""):
            item.decompose()
        elif not tag.decomposed:
            tag.unwrap()
    return str(main).encode()


def without_images(markdown: str) -> str:
    """Leaves out images, but for their words."""
    return _IMAGE.sub(r"\1", markdown)


def _clean(markdown: str) -> str:
    """Leaves out images, and makes the first row of a table without a head its head."""
    return _HEADLESS_TABLE.sub(r"\2\n\1", without_images(markdown)).strip()


def raised(before: str, text: str) -> str:
    """Returns what to write for raised text behind other text: a power changes the number, a note mark is left out.

    "^6" behind "10 cells are 10", "^2" behind "5 m", "th" behind "20"; nothing behind "Fees rose", "in 2021" or "it.".
    """
    base = "".join(takewhile(str.isalnum, reversed(before)))[::-1]
    if _POWER.fullmatch(text) and (base in _BASES or (len(base) == 1 and base.isalpha())):
        return f"^{text}"
    return text if text in _ORDINAL and before[-1:].isdigit() else ""
