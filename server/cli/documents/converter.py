"""HTML, DOCX, EPUB, PPTX and Markdown as plain Markdown, by markitdown (MIT). Needs the extra `documents`.

Its converters are called one by one, for the class around them loads a model to guess formats, and takes addresses.
"""

import importlib.util
import io
import re
import tomllib
import zipfile
from codecs import BOM_UTF8
from collections import defaultdict
from contextlib import suppress
from email import message_from_bytes
from email.policy import default
from itertools import chain, count, product, takewhile
from pathlib import Path
from string import ascii_lowercase
from typing import Any, BinaryIO

from pipeline.errors import needs_extra
from server.cli.errors import InputError

MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
UNREAD = tomllib.loads((Path(__file__).parent / "unread.toml").read_text("utf-8"))
_BLOCKS = ["li", "div", "p", "td", "th", "dt", "dd", "section", "h1", "h2", "h3", "h4", "h5", "h6", "body"]
_FIRST_TAGS = (b"<p>", b"<p ", b"<div", b"<h1", b"<h2", b"<h3", b"<ul", b"<ol", b"<table", b"<body", b"<head")
_INSIDE = "a[href]:not([href*='://'])"
_LONGEST_NOTICE, _LONGEST_MARK, _MOST_SPAN = 1_000, 30, 100
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => h2:fresh\np[style-name^='toc'] => !"
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_MARKS = re.compile(  # of dialects of Markdown; code and the titles of boxes stay
    r"""(?ms)(^\ *```.*?^\ *```|^\ *~~~.*?^\ *~~~|`[^`\n]+`)
    |^\ *(?:[!?]{3}\+?|:{3,})\ *([^{}\n]*)(?:\{[^{}\n]*\})?$  # !!! warning "Hot"
    |\ ?\{[%{:\#.][^{}\n]*\}+|(?<=\S)\ \^[\w-]+$|(?<=>\ )\[!\w+\][-+]?\ (?=\S)  # {#start}, ^start, [!tip]- Hot
    |!\[\[[^\[\]\n]*\]\]|%%[^%\n]+%%|^\ *%%\n.*?^\ *%%$|==(?=\S)([^=\n]+)==  # an image, remarks, a marked word
    |\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]*)\]\]  # [[Page|words]]
    |\ ?\[(?:see\ |cf\.\ )?-?@\w[^\[\]\n]{0,200}\](?![(\[])  # [see @holt, p. 3]""",
    re.VERBOSE,
)
_BASES = frozenset({"10", "2", "cm", "dm", "km", "mm", "ft", "yd"})  # and a letter: "x", "m"


def convertible_suffix(data: bytes, path: Path) -> str | None:
    """Returns the suffix of a format that `convert` reads, by the first bytes; None for others. Raises InputError."""
    if data.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                names = set(archive.namelist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise InputError(f"a damaged ZIP file: {error}") from error
        found = next((found for part, found in UNREAD["parts"].items() if part in names), "an archive: unpack it")
        if found.startswith("."):
            return str(found)
        raise InputError(found)
    start = data[:4096].removeprefix(BOM_UTF8).lstrip().lower()
    while start.startswith((b"<!--", b"<?")):  # nothing else may stand before the first tag
        start = start.partition(b"-->" if start.startswith(b"<!--") else b"?>")[2].lstrip()
    is_part = start.startswith(_FIRST_TAGS) and b"</" in start and path.suffix.lower() not in MARKDOWN
    is_page = is_part or start.startswith((b"<html", b"<!doctype html"))
    return ".html" if is_page or path.suffix.lower() in {".html", ".htm", ".xhtml"} else None


def convert(data: bytes, suffix: str) -> str | list[str]:
    """Returns the Markdown of a document, or of each slide. Raises InputError."""
    if suffix != ".eml" and importlib.util.find_spec("markitdown") is None:
        if suffix == ".md":
            return data.decode()
        raise InputError(f"{suffix[1:].upper()} {needs_extra('documents')}")
    try:
        if suffix == ".eml":
            return _read_mail(data)
        if suffix in {".md", ".html"}:
            return page_markdown(_rendered(data.decode()) if suffix == ".md" else data)
        return _office_markdown(data, suffix)
    except (InputError, MemoryError, RecursionError):
        raise  # without memory the process ends, and says so
    except Exception as error:  # broken files make the libraries stumble in any way
        raise InputError(f"cannot read this {suffix[1:].upper()}: {' '.join(str(error).split())[:200]}") from error


def _read_mail(data: bytes) -> str:
    """Returns who writes, when, about what, and the text of a mail as it is sent, decoded; "" if it is none."""
    message = message_from_bytes(data, policy=default)
    body = message.get_body(("plain", "html"))
    if "From" not in message or body is None:
        return ""
    body.set_param("charset", body.get_content_charset("utf-8"))
    text = body.get_content()
    said = convert(text.encode(), ".html") if body.get_content_subtype() == "html" else text
    heads = (f"{name}: {message[name]}\n" for name in ("From", "To", "Date", "Subject") if name in message)
    return "".join([*heads, "\n", *said])


def _rendered(markdown: str) -> str:
    """Returns the HTML of Markdown; what is in angle brackets and no tag, such as "<name>", stays."""
    from lxml.html.defs import tags
    from markdown_it import MarkdownIt
    from mdit_py_plugins.gfm import gfm_plugin

    parser = MarkdownIt("commonmark").use(gfm_plugin, front_matter=True)
    tokens = parser.parse(_MARKS.sub(r"\1\2\3\4", markdown))
    for token in chain.from_iterable(each.children or () for each in tokens):
        name = "".join(takewhile(str.isalnum, token.content.lstrip("</"))).lower()
        token.type = "text" if token.type == "html_inline" and name and name not in tags else token.type
    return str(parser.renderer.render(tokens, parser.options, {}))


def _office_markdown(data: bytes, suffix: str) -> str | list[str]:
    from markitdown import DocumentConverterResult, StreamInfo, converters

    def write(file_stream: BinaryIO, *_: object, **__: object) -> Any:  # noqa: ANN401 - an extra, as above
        return DocumentConverterResult(markdown=page_markdown(file_stream.read()))

    converter = getattr(converters, f"{suffix[1:].capitalize()}Converter")()
    converter._html_converter.convert = write  # noqa: SLF001 - the HTML that each makes or finds
    stream = io.BytesIO(data if suffix == ".epub" else _as_shown(data))
    found = converter.convert(stream, StreamInfo(extension=suffix), style_map=_STYLES)
    if suffix == ".pptx":
        slides = (slide.partition("-->")[2].strip().splitlines() for slide in found.markdown.split("<!-- Slide ")[1:])
        return ["\n".join(map(_said, slide)) for slide in slides]
    if suffix == ".docx":
        return str(found.markdown)
    text = found.markdown.partition("\n\n")[2].strip()  # behind author, language and identifier
    return f"# {found.title}\n\n{text}" if found.title else text


def _said(line: str) -> str:
    """Returns a line of a slide; of a picture what is said of it, and not "Picture 3"."""
    words = line.removeprefix("![").partition("](")[0]
    return line if not line.startswith("![") else words * (words.count(" ") > 1)


def page_markdown(page: str | bytes) -> str:
    """Returns what a page is for: its <main>, its only <article>, or all; of links and images the words stay."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(page, "html.parser")
    articles = soup.find_all("article")
    main = soup.select_one("main, [role=main]") or (articles[0] if len(articles) == 1 else soup.find("body")) or soup
    if not main.find("h1") and (title := soup.select_one("h1:not(header h1)")):
        main.insert(0, title)
    for tag in main.find_all(["dt", "dd"]):
        tag.name = "p"  # no "Ramp\n:   A place to land"
    for message in main.select(UNREAD["page"]["newest_first"]):
        message.parent.insert(0, message)
    _leave_out(main)
    _leave_out_links(main)
    for tag in main.select("sup, msup > :nth-child(2)"):
        before = tag.find_previous(string=True)
        tag.replace_with("" if tag.find("a") else raised(str(before or ""), tag.get_text(strip=True)))
    for tag in main.select("input[type=checkbox]"):
        tag.replace_with("[x] " if tag.has_attr("checked") else "[ ] ")
    for tag in main.find_all("img"):
        words, block = tag.get("alt", ""), tag.find_parent(_BLOCKS)
        is_said = words.count(" ") > 1 or (block and any(block.stripped_strings))
        tag.name, tag.string = "span", words if is_said else ""  # not "logo"
    main.smooth()
    for table in main.find_all("table"):
        if not table.find("table"):
            _spread(table)
            continue
        for tag in table.find_all(["tr", "td", "th", "thead", "tbody", "tfoot"]):
            tag.name = "div" if tag.find_parent("table") is table else tag.name
        table.name = "div"  # it says where its tables stand
    style: dict[str, Any] = {"heading_style": ATX, "escape_underscores": False, "escape_asterisks": False}
    return str(MarkdownConverter(strip=["a"], table_infer_header=True, **style).convert_soup(main)).strip()


def _leave_out(main: Any) -> None:  # noqa: ANN401 - of bs4, as above
    """Leaves out menus, forms, notices about cookies, what stands for a picture of a person, and what is hidden."""
    for comment in main.find_all(string=lambda text: text.PREFIX):
        comment.extract()
    for tag in main.select(", ".join(UNREAD["page"]["always"])):
        beside = "" if tag.decomposed or tag.name != "a" else f"{tag.previous_sibling or ''}{tag.next_sibling or ''}"
        if beside.strip()[:1] in {"", "<"}:  # not "A <a href='#ramp'>ramp</a> is a place"
            tag.decompose()
    for tag in main.select(", ".join(UNREAD["page"]["short"])):
        if not tag.decomposed and len(tag.get_text()) < _LONGEST_NOTICE:
            tag.decompose()


def _leave_out_links(main: Any) -> None:  # noqa: ANN401 - of bs4, as above
    """Leaves out links that are marks, "[edit]" or "¶", and items and boxes of nothing but links into the same site."""
    for part in [part for link in main.find_all("a") for part in (link, link.parent) if len(part) <= _LONGEST_MARK]:
        words = "" if part.decomposed else part.get_text(strip=True)
        is_bracketed = len(words) <= _LONGEST_MARK and words[:1] + words[-1:] == "[]"
        if is_bracketed or (words and part.name == "a" and not any(map(str.isalnum, words))):
            part.decompose()
    blocks = (link.find_parent(_BLOCKS) for link in main.select(_INSIDE) if not link.find(_BLOCKS))
    for item in {id(block): block for block in blocks if block and block.name in {"li", "div"}}.values():
        words = item.get_text() if not item.decomposed else ""
        links = "".join(link.get_text() for link in item.select(_INSIDE)) if words else ""
        if sum(map(str.isalnum, words)) == sum(map(str.isalnum, links)):
            item.decompose()


def _spread(table: Any) -> None:  # noqa: ANN401 - of bs4, as above
    """Writes a cell into each row and column that it spans, and joins rows of heads."""
    from bs4 import BeautifulSoup

    for tag in table.find_all(["ul", "ol", "li"]):
        tag.append("; " * (tag.name == "li"))
        tag.unwrap()
    rows = table.find_all("tr")
    grid: dict[tuple[int, int], tuple[int, str]] = {}
    for y, row in enumerate(rows):
        x = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            x = next(at for at in count(x) if (y, at) not in grid)
            spans = (str(cell.get(name, "")) for name in ("rowspan", "colspan"))
            height, width = (min(int(span), _MOST_SPAN) if span.isdecimal() else 1 for span in spans)
            places = product(range(y, min(y + height, len(rows))), range(x, x + width))
            grid |= dict.fromkeys(places, (id(cell), cell.decode_contents().strip()))
    columns = range(1 + max((x for _, x in grid), default=-1))  # none of a table without cells
    head_count = max(1, sum(1 for _ in takewhile(lambda row: not row.find("td"), rows[:-1])))
    cells = [[grid.get((y, x), (0, "")) for x in columns] for y in range(len(rows))]
    lines = [[" ".join(text for _, text in dict.fromkeys(head)) for head in zip(*cells[:head_count], strict=True)]]
    lines += ([text for _, text in line] for line in cells[head_count:])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    caption = f"<p>{table.caption.decode_contents()}</p>" if table.caption else ""
    table.replace_with(BeautifulSoup(f"{caption}<table>{body}</table>" if grid else caption, "html.parser"))


def raised(before: str, text: str) -> str:
    """Returns "^6" for a 6 raised behind "held 10", "^2" behind "5 m", "th" behind "20"; "" for the mark of a note."""
    base = "".join(takewhile(str.isalnum, reversed(before)))[::-1]
    power = text.lstrip("-+\u2212")
    is_power = power.isdigit() or (power.isalpha() and len(power) == 1)
    if is_power and (base in _BASES or (len(base) == 1 and base.isalpha())):
        return f"^{text}"
    is_mark = sum(map(str.isalpha, text)) < (1 if before[-1:].isdigit() else 2)  # "5", "*", a letter; "20th", "2e"
    return "" if is_mark else text


def _as_shown(data: bytes) -> bytes:
    """Returns a DOCX or PPTX without the text and the slides that are hidden, with the numbers that Word counts."""
    from bs4 import BeautifulSoup

    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(written, "w") as copy:
        parts = {name: archive.read(name) for name in archive.namelist()}
        names = ("numbering", "styles")
        numbering, styles = (BeautifulSoup(parts.get(f"word/{name}.xml", b""), "xml") for name in names)
        marks = (b"<w:pStyle" if styles.numPr else b"<w:numPr", b"<w:numPr", b"<w:vanish", b' show="0"')
        for name, part in parts.items():
            if name.endswith(".xml") and any(mark in part for mark in marks):
                page = BeautifulSoup(part, "xml")
                for mark in page.select("r > rPr > vanish, sld[show='0'] :is(sp, pic, graphicFrame)"):
                    if mark.get("w:val") not in {"0", "false", "off"}:
                        (mark.find_parent("r") or mark).decompose()
                _write_numbers(page, numbering, styles)
                parts[name] = page.encode()
            copy.writestr(name, parts[name])
    return written.getvalue()


def _write_numbers(page: Any, numbering: Any, styles: Any) -> None:  # noqa: ANN401 - of bs4, as above
    """Writes "2.1 " or "b) " into each paragraph that is in a list, by itself or by its style, and takes it out."""
    lists = {each.get("w:abstractNumId"): each.find_all("lvl") for each in numbering.find_all("abstractNum")}
    used = {each.get("w:numId"): each for each in numbering.find_all("num")}
    counts: defaultdict[str, list[int]] = defaultdict(list)
    based = {each.parent["w:styleId"]: each["w:val"] for each in styles.select("style > basedOn")}
    of_styles = {each.find_parent("style")["w:styleId"]: each for each in styles.select("style > pPr > numPr")}
    for properties in page.select("p > pPr"):
        with suppress(AttributeError, IndexError, KeyError, TypeError, ValueError):  # of a list that is not whole
            style = properties.pStyle["w:val"] if properties.pStyle else ""
            place = properties.find("numPr", recursive=False) or of_styles.get(style) or of_styles[based[style]]
            num, level = used[place.numId["w:val"]], int(place.ilvl["w:val"] if place.ilvl else 0)
            forms = lists[key := num.abstractNumId["w:val"]]
            label = forms[level].lvlText["w:val"] if forms[level].numFmt["w:val"] != "bullet" else ""
            numbers = counts[key] = (counts[key] + [0] * 9)[: level + 1]
            for start in [each for each in num.find_all("startOverride") if each.parent["w:ilvl"] == str(level)]:
                numbers[level] = int(start.extract()["w:val"]) - 1
            numbers[level] += 1
            for each, form in enumerate(forms[: level + 1]):
                label = label.replace(f"%{each + 1}", _as_counted(numbers[each], form.numFmt["w:val"]))
            if label:
                properties.insert_after(run := page.new_tag("w:r"))
                run.append(page.new_tag("w:t", string=f"{label} "))
                properties.insert(0, none := page.new_tag("w:numPr"))  # in front of its own: no list
                none.extend(page.new_tag(name, attrs={"w:val": "0"}) for name in ("w:ilvl", "w:numId"))


def _as_counted(number: int, form: str) -> str:
    """Returns 4 as "4", "d", "D", "iv" or "IV"; as digits beyond 26 letters, and beyond 39 in Roman numbers."""
    roman = "x" * (number // 10) + _ROMAN[number % 10] if number in range(40) else ""
    shown = {"Letter": ascii_lowercase[number - 1 : number], "Roman": roman}.get(form[len("lower") :]) or str(number)
    return shown.upper() if form.startswith("upper") else shown
