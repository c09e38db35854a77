"""HTML, DOCX, EPUB, PPTX, and Markdown with tags, as Markdown, by markitdown (MIT). Needs the extra `documents`.

It keeps headings, numbered steps, tables and code; of the converters that read all four and need no program beside
Python it was the one that kept the numbers of steps. Its converters are called one by one, for the class around them
loads a model to guess the format, and takes addresses.
"""

import importlib.util
import io
import re
import tomllib
import warnings
import zipfile
from codecs import BOM_UTF8
from dataclasses import replace
from itertools import product, takewhile
from pathlib import Path
from typing import Any, BinaryIO

from markdown_it import MarkdownIt

from pipeline.errors import needs_extra
from server.cli.errors import InputError

_PARTS = {"word/document.xml": ".docx", "ppt/presentation.xml": ".pptx", "META-INF/container.xml": ".epub"}
REFUSED = tomllib.loads((Path(__file__).parent / "refused.toml").read_text("utf-8"))
_BOILERPLATE = (
    "script, style, nav, footer, form, template, noscript, svg, button, iframe, del, s, strike, "
    "[role=navigation], [role=dialog], [hidden], [aria-hidden=true], [style*='display:none' i], "
    "[style*='display: none' i], [style*='visibility:hidden' i], [style*='visibility: hidden' i]"
)
_NOTICE = ":is([id*=cookie i], [class*=cookie i], [id*=consent i], [class*=consent i])"
_PLACES = ["tr", "td", "th", "thead", "tbody", "tfoot"]  # of cells
_LONGEST_NOTICE, _MOST_SPAN = 1_000, 100
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh"
_LINK = re.compile(
    r"(?:!|(?=\[[^\[\]]*+\]\(https?:))\[([^\[\]]*+)\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+(?:\s\"[^\"]*+\")?+\)"
)
_SLIDE = "<!-- Slide number: "
_BASES = frozenset({"10", "2", "cm", "dm", "km", "mm", "ft", "yd"})  # and a letter: "x", "m"


def convertible_suffix(data: bytes, path: Path) -> str | None:
    """Returns the suffix of a format that `convert` reads, by the first bytes; None for others. Raises InputError."""
    if data.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                names = set(archive.namelist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise InputError(f"a damaged ZIP file: {error}") from error
        if suffix := next((suffix for part, suffix in _PARTS.items() if part in names), None):
            return suffix
        why = next((why for part, why in REFUSED["parts"].items() if part in names), "an archive: unpack it")
        raise InputError(why)
    start = data[:4096].removeprefix(BOM_UTF8).lstrip().lower()
    while start.startswith((b"<!--", b"<?")):  # nothing else may stand before the first tag
        start = start.partition(b"-->" if start.startswith(b"<!--") else b"?>")[2].lstrip()
    is_page = start.startswith((b"<html", b"<!doctype html"))
    return ".html" if is_page or path.suffix.lower() in {".html", ".htm", ".xhtml"} else None


def convert(data: bytes, suffix: str) -> str | list[str]:
    """Returns the Markdown of a document, or of each slide. Raises InputError."""
    if importlib.util.find_spec("markitdown") is None:
        if suffix == ".md":
            return without_links(data.decode())
        raise InputError(f"{suffix[1:].upper()} {needs_extra('documents')}")
    from markitdown import StreamInfo

    if suffix == ".md":
        parser, text = MarkdownIt("commonmark").enable("table"), data.decode()
        tokens = [each for token in parser.parse(text) for each in (token, *(token.children or ()))]
        if not any(token.type.startswith("html") for token in tokens):
            return without_links(text)
        data, suffix = parser.render(text).encode(), ".html"
    options: dict[str, Any] = {"escape_underscores": False, "escape_asterisks": False}
    if suffix == ".docx":
        options["style_map"] = _STYLES
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and nesting, for the developers of documents
            data = _without_hidden_runs(data) if suffix == ".docx" else data
            found = _converter(suffix).convert(io.BytesIO(data), StreamInfo(extension=suffix), **options)
    except Exception as error:  # broken files make the libraries stumble in any way
        raise InputError(f"cannot read this {suffix[1:].upper()}: {' '.join(str(error).split())[:200]}") from error
    markdown = str(found.markdown)
    if suffix == ".pptx":
        return [without_links(slide.partition("-->")[2]).strip() for slide in markdown.split(_SLIDE)[1:]]
    if suffix == ".epub":
        text = markdown.partition("\n\n")[2]  # behind author, language and identifier
        markdown = f"# {found.title}\n\n{text}" if found.title else text
    return without_links(markdown).strip()


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
    _leave_out(main)
    for tag in main.find_all("sup"):
        before = tag.find_previous(string=True)
        tag.replace_with("" if tag.find("a") else raised(str(before or ""), tag.get_text(strip=True)))
    for tag in main.find_all("img"):
        tag.replace_with(f" {tag.get('alt', '')} ")
    for tag in main.find_all(["u", "a"]):
        tag.unwrap()
    for table in main.find_all("table"):
        if table.find("table"):  # a table says where its tables stand
            for tag in [table, *(each for each in table.find_all(_PLACES) if each.find_parent("table") is table)]:
                tag.name = "div"
    for table in main.find_all("table"):
        _spread(table)
    return str(main).encode()


def _leave_out(main: Any) -> None:  # noqa: ANN401 - of bs4, as above
    """Leaves out menus, forms, notices about cookies, and what is hidden."""
    for tag in main.select(_BOILERPLATE):
        tag.decompose()
    for tag in main.select(_NOTICE):
        if not tag.decomposed and len(tag.get_text()) < _LONGEST_NOTICE:
            tag.decompose()
    for tag in main.select("li a"):
        item = tag.find_parent("li")
        is_menu = item is not None and item.get_text(strip=True) == tag.get_text(strip=True)
        if is_menu and "://" not in tag.get("href", ""):
            item.decompose()


def _spread(table: Any) -> None:  # noqa: ANN401 - of bs4, as above
    """Writes a cell into each row and column that it spans, and rows of heads as one; the first row is a head.

    A cell as wide as the table stands in the first column alone.
    """
    from bs4 import BeautifulSoup

    for steps in table.find_all("ol"):
        for number, tag in enumerate(steps.find_all("li", recursive=False), 1):
            tag.insert(0, f"{number}. ")
    for tag in table.find_all(["ul", "ol", "li"]):
        tag.append("; " * (tag.name == "li"))
        tag.unwrap()
    rows = table.find_all("tr")
    grid: dict[tuple[int, int], Any] = {}
    for y, row in enumerate(rows):
        x = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            while (y, x) in grid:
                x += 1
            spans = (str(cell.get(name, "")) for name in ("rowspan", "colspan"))
            height, width = (min(int(span), _MOST_SPAN) if span.isdecimal() else 1 for span in spans)
            grid |= dict.fromkeys(product(range(y, min(y + height, len(rows))), range(x, x + width)), cell)
    columns = range(1 + max((x for _, x in grid), default=-1))  # none of a table without cells
    head_count = max(1, sum(1 for _ in takewhile(lambda row: not row.find("td"), rows[:-1])))
    heads = [dict.fromkeys(id(grid.get((y, x))) for y in range(head_count)) for x in columns]
    by_id = {id(cell): cell.decode_contents().strip() for cell in grid.values()}
    lines = [[" ".join(by_id.get(cell, "") for cell in cells) for cells in heads]]
    for y in range(head_count, len(rows)):
        cells = [id(grid.get((y, x))) for x in columns]
        is_wide = len(set(cells)) == 1
        lines.append([by_id.get(cell, "") if x == 0 or not is_wide else "" for x, cell in enumerate(cells)])
    tags = ["th", *["td"] * len(lines)]
    body = "".join(
        f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in line)}</tr>" for tag, line in zip(tags, lines, strict=False)
    )
    caption = f"<p>{table.caption.decode_contents()}</p>" if table.caption else ""
    table.replace_with(BeautifulSoup(f"{caption}<table>{body}</table>" if grid else caption, "html.parser"))


def raised(before: str, text: str) -> str:
    """Returns what to write for raised text behind other text: a power changes the number, a note mark is left out.

    "^6" behind "10 cells are 10", "^2" behind "5 m", "th" behind "20"; nothing behind "Fees rose", "in 2021" or "it.".
    """
    base = "".join(takewhile(str.isalnum, reversed(before)))[::-1]
    power = text.lstrip("-+\u2212")
    is_power = power.isdigit() or (power.isalpha() and len(power) == 1)
    if is_power and (base in _BASES or (len(base) == 1 and base.isalpha())):
        return f"^{text}"
    is_mark = sum(map(str.isalpha, text)) < (1 if before[-1:].isdigit() else 2)  # "5", "*", a letter; "20th", "2e"
    return "" if is_mark else text


def _without_hidden_runs(data: bytes) -> bytes:
    """Returns a DOCX without the text that its writer has hidden."""
    from bs4 import BeautifulSoup

    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(written, "w") as copy:
        for name in archive.namelist():
            part = archive.read(name)
            if name == "word/document.xml" and b"<w:vanish" in part:
                page = BeautifulSoup(part, "xml")
                for mark in page.select("r > rPr > vanish"):
                    if mark.get("w:val", "1") not in {"0", "false", "off"}:
                        mark.find_parent("r").decompose()
                part = page.encode()
            copy.writestr(name, part)
    return written.getvalue()


def without_links(markdown: str) -> str:
    """Leaves the words of images and of links to pages; twice, for an image may be a link."""
    return _LINK.sub(r"\1", _LINK.sub(r"\1", markdown))
