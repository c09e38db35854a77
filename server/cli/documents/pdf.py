"""Text of PDF pages as Markdown: running heads left out, hyphenated words joined, headings and tables marked.

pypdf reports each piece of text with its place, size and font, in the order of the file, which is that of reading in
what word processors and LaTeX write, two columns too. (pdfminer.six and pdfplumber sort by place: of 60 paragraphs in
two columns they broke 6 and 56, pypdf none.) Pieces become lines; what repeats the pages and not their text is left
out; lines become paragraphs.
"""

import io
import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import PyPdfError

from server.cli.errors import InputError

_HEADING_SCALE = 1.1  # of the body's size
_MOST_HEADING_CHARS, _MOST_LEVEL = 120, 6
_BREAK_SCALE, _CODE_BREAK_SCALE = 1.25, 2.5  # of the usual distance of lines
_INDENT_SCALE = 0.8  # of a size, of the first line of a paragraph
_LIST_MARK = re.compile(r"[-*•‣◦▪·\u2013]\s|\(?\d{1,3}[.)]\s|\(?[a-z]\)\s")
_HYPHENATED = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,100}+)[-\u00ad\u2010]$")
_LONGEST_CUT = 102  # characters of such a word, its hyphen, and what stands before it
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_CODE_WIDTH = 0.6  # of a size, of each character of a monospaced font
_SENTENCE_END = re.compile(r"[.!?:;。\uff01\uff1f][\"'”\u2019)\]]*$")
_COMMON_COMPOUND = frozenset({"and", "or", "und", "oder", "et", "ou", "to"})  # "two- and three-phase" keeps its hyphen
_MONOSPACED = re.compile(r"mono|monl|courier|consolas|typewriter|menlo|cmtt|cmsltt|fixed", re.IGNORECASE)
_BOLD = re.compile(r"bold|black|heavy|cmb|semibold", re.IGNORECASE)
_WIDEST = 0.62  # of a size: more than a character is wide on average
_CELL_GAP = 1.5  # of a size, between the cells of a row
_LEAST_READ_SHARE = 0.9  # of the characters of a page
_HEAD_GAP = 2.2  # of a size, at most, between two lines of a running head; the text is further away
_FEWEST_PAGES, _LEAST_SHARE = 3, 0.4  # on which a running head stands, of those from its first to its last page
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|seite|p\.)\s*)?(?:\d{1,4}|[ivxlc]+)(?:\s*(?:/|of|von)\s*\d{1,4})?\W*", re.IGNORECASE
)
_OUTER_NUMBERS = re.compile(r"^\W*(?:page |seite )?(\d{1,4})\b|\b(\d{1,4})\W*$", re.IGNORECASE)
_MOST_HEAD_CHARS = 100
_LEADER = re.compile(r"(?:\s?[.…·_]){5}\s*(?:\d{1,4}|[ivxlc]+)?$")
_FEWEST_ENTRIES = 4  # of a table of contents, on one page


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or the cells of a row of a table.

    Attributes:
        x, y: where it begins, in points from the lower left of the page.
        size: of its largest letters, in points.
    """

    cells: tuple[str, ...]
    x: float
    y: float
    size: float
    is_bold: bool
    is_code: bool

    @property
    def text(self) -> str:
        """Everything in it."""
        return " ".join(self.cells)


@dataclass(slots=True)
class _Piece:
    text: str
    x: float
    y: float
    size: float
    font: str


def read_pages(data: bytes) -> list[str]:
    """Returns the text of each page of a PDF. Raises InputError."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every oddity of a file that it can still read
    try:
        pages = [read_lines(page) for page in PdfReader(io.BytesIO(data)).pages]
    # Broken files make pypdf stumble in many ways besides its own errors.
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise InputError(f"cannot read this PDF: {error}") from error
    if not any(pages):
        raise InputError(f"none of its {len(pages)} pages holds text; a scanned PDF needs OCR first")
    texts = write_pages(without_page_furniture(pages))
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]  # without lone surrogates


def write_pages(pages: Sequence[Sequence[Line]]) -> list[str]:
    """Returns the Markdown of pages, with sentences that cross a page on the page where they begin."""
    style = _Style(pages)
    blocks = [style.blocks(page) for page in pages]
    for before, after in pairwise(blocks):
        _close_sentence(before, after, style)
    return ["\n\n".join(block for block in page if block) for page in blocks]


class _Style:
    """What is usual in a document: size and distance of its lines, the sizes of its headings, its words."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        sizes: Counter[float] = Counter()
        gaps: Counter[float] = Counter()
        self._words: Counter[str] = Counter()
        for page in pages:
            for line in page:
                sizes[line.size] += len(line.text)
                self._words.update(word.casefold() for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text))
            gaps.update(
                round(one.y - two.y, 1) for one, two in pairwise(page) if one.size == two.size and one.y > two.y
            )
        self._size = sizes.most_common(1)[0][0] if sizes else 0.0
        self._gap = gaps.most_common(1)[0][0] if gaps else 0.0
        large = sorted((size for size in sizes if size >= self._size * _HEADING_SCALE), reverse=True)
        self._levels = {size: min(level, _MOST_LEVEL - 1) for level, size in enumerate(large, 1)}

    def blocks(self, lines: Sequence[Line]) -> list[str]:
        """Returns headings, paragraphs, tables and code of a page."""
        blocks: list[str] = []
        rows: list[Line] = []
        for group in self._groups(lines):
            level = self._level(group)
            if len(group[0].cells) > 1 and not level:
                rows += group
                continue
            blocks += [_table(rows)] if rows else []
            rows = []
            text = self.join([line.text for line in group])
            blocks.append(f"{'#' * level} {text}" if level else _code(group) or text)
        return blocks + ([_table(rows)] if rows else [])

    def join(self, texts: Sequence[str]) -> str:
        """Joins lines of one paragraph; a word that the end of a line cuts becomes whole again."""
        joined = texts[0]
        for text in texts[1:]:
            if _LIST_MARK.match(text):
                joined += f"\n{text}"
            elif (cut := _cut_word(joined)) and (word := _FIRST_WORD.match(text)) and _is_cut(cut[1], word[0]):
                joined = self._join_word(joined, cut[1], text, word[0])
            else:
                joined += f" {text}"
        return joined

    def _join_word(self, before: str, head: str, after: str, tail: str) -> str:
        if tail in _COMMON_COMPOUND:
            return f"{before} {after}"
        is_compound = self._words[f"{head}-{tail}".casefold()] > self._words[f"{head}{tail}".casefold()]
        return (before[:-1] + "-" if is_compound else before[:-1]) + after

    def _groups(self, lines: Sequence[Line]) -> list[list[Line]]:
        """Returns lines that belong to one paragraph, row or heading."""
        groups: list[list[Line]] = []
        for line in lines:
            if groups and self._continues(groups[-1], line):
                groups[-1].append(line)
            else:
                groups.append([line])
        return groups

    def _continues(self, group: Sequence[Line], line: Line) -> bool:
        last = group[-1]
        goes_on = line.text[:1].islower() and not _SENTENCE_END.search(last.text)
        if len(last.cells) > 1 or len(line.cells) > 1 or last.is_code != line.is_code:
            return False
        if self._levels.get(last.size) != self._levels.get(line.size) or (last.is_bold != line.is_bold and not goes_on):
            return False
        gap = last.y - line.y
        scale = _CODE_BREAK_SCALE if line.is_code else _BREAK_SCALE
        if not 0 < gap <= max(self._gap, line.size) * scale:
            return gap <= 0 and goes_on  # upwards: the next column
        is_indented = line.x > last.x + _INDENT_SCALE * line.size and bool(_SENTENCE_END.search(last.text))
        return line.is_code or not is_indented or len(group) == 1

    def _level(self, group: Sequence[Line]) -> int:
        """Returns the level of a heading, which is larger or bold; 0 for other text."""
        text, first = " ".join(line.text for line in group), group[0]
        if len(text) > _MOST_HEADING_CHARS or not any(map(str.isalpha, text)) or first.is_code:
            return 0
        if first.size in self._levels:
            return self._levels[first.size]
        is_title = len(first.cells) == 1 and all(line.is_bold for line in group) and text[0].isalnum()
        return min(len(self._levels) + 1, _MOST_LEVEL) if is_title and not _SENTENCE_END.search(text) else 0


def _cut_word(before: str) -> re.Match[str] | None:
    """Finds the word that the end of a line cuts."""
    return _HYPHENATED.search(before, max(0, len(before) - _LONGEST_CUT))


def _is_cut(head: str, tail: str) -> bool:
    """Tells whether a word may go on so: "informa-" with "tion", "LI-" with "BRARY", not "Mauro-" with "Clementi"."""
    return tail[0].islower() or (head.isupper() and tail.isupper())


def _close_sentence(before: list[str], after: list[str], style: _Style) -> None:
    """Moves the rest of a sentence to the page where the sentence begins."""
    if not before or not after or before[-1].startswith(("#", "|", "```")) or _SENTENCE_END.search(before[-1]):
        return
    if not after[0][:1].islower() or _LIST_MARK.match(after[0]):
        return
    end = re.search(r"[.!?](?=\s|$)", after[0])
    cut = end.end() if end else len(after[0])
    before[-1] = style.join([before[-1], after[0][:cut]])
    after[0] = after[0][cut:].lstrip()


def _table(rows: Sequence[Line]) -> str:
    """Returns rows as a Markdown table; a single row, which may be anything, as a line."""
    if len(rows) == 1:
        return "  ".join(rows[0].cells)
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells) + " |" for row in rows]
    rule = "|" + " --- |" * len(rows[0].cells)
    return "\n".join([lines[0], rule, *lines[1:]])


def _code(group: Sequence[Line]) -> str:
    """Returns lines of a monospaced font as a code block, "" for others."""
    if not group[0].is_code:
        return ""
    left = min(line.x for line in group)
    indented = (" " * round((line.x - left) / (_CODE_WIDTH * line.size)) + line.text for line in group)
    return "\n".join(["```", *indented, "```"])


def read_lines(page: PageObject) -> list[Line]:
    """Returns the lines of a page in the order of the file; none for a page without text."""
    pieces: list[_Piece] = []

    def visit(text: str, cm: list[float], tm: list[float], font: dict[str, Any] | None, size: float) -> None:
        x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        scale = (abs(tm[3]) or abs(tm[1]) or 1.0) * (abs(cm[3]) or abs(cm[1]) or 1.0)
        pieces.append(_Piece(text, x, y, round(size * scale, 1), str((font or {}).get("/BaseFont", ""))))

    whole = page.extract_text(visitor_text=visit)
    lines = [line for run in _runs(pieces) if (line := _line(run))]
    read = sum(len("".join(line.text.split())) for line in lines)
    if read < _LEAST_READ_SHARE * len("".join(whole.split())):  # a page that tells no places
        texts = [text for text in whole.splitlines() if text.strip()]
        return [Line((text.strip(),), 0.0, -float(row), 1.0, False, False) for row, text in enumerate(texts)]  # noqa: FBT003
    return lines


def _runs(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Returns the pieces of each line, to the right of each other at one height; a piece may itself hold lines."""
    runs: list[list[_Piece]] = []
    for piece in pieces:
        if not piece.text.strip():
            if runs:
                runs[-1][-1].text += piece.text
            continue
        first, *rest = piece.text.split("\n")
        last = runs[-1][-1] if runs and runs[-1] else None
        is_level = last is not None and abs(last.y - piece.y) < 0.4 * max(last.size, piece.size, 1.0)
        if last is not None and is_level and piece.x >= last.x:
            if "\n" in last.text:
                first = f"\t{first}"
            runs[-1].append(_Piece(first, piece.x, piece.y, piece.size, piece.font))
        else:
            runs.append([_Piece(first, piece.x, piece.y, piece.size, piece.font)])
        runs[-1][-1].text += "\n" if rest else ""
        step = piece.size * 1.2
        for row, text in enumerate(rest, 1):
            if text.strip():
                runs.append([_Piece(text, piece.x, piece.y - row * step, piece.size, piece.font)])
    return [run for run in runs if any(piece.text.strip() for piece in run)]


def _line(run: list[_Piece]) -> Line | None:
    """Joins pieces; where there is a gap, a new cell begins."""
    cells, end = [""], run[0].x
    for piece in run:
        text = piece.text.replace("\n", " ")
        is_far = piece.x - end > _CELL_GAP * piece.size
        if cells[-1].strip() and (is_far or text.startswith("\t")):
            cells.append("")
        cells[-1] += text
        end = max(end, piece.x + len(text) * _WIDEST * piece.size)
    clean = tuple(" ".join(cell.split()) for cell in cells if cell.strip())
    if not clean:
        return None
    size = max(run, key=lambda piece: len(piece.text)).size
    fonts = [piece.font for piece in run]
    is_bold, is_code = all(map(_BOLD.search, fonts)), all(map(_MONOSPACED.search, fonts))
    return Line(clean, run[0].x, round(run[0].y, 1), size, is_bold, is_code)


def without_page_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Leaves out running heads and feet, page numbers, and the entries of a table of contents.

    Where that leaves nothing the pages are returned as they are: what repeats is then the text.
    """
    offset = _page_offset(pages)
    heads = _repeated(pages)
    kept: list[list[Line]] = []
    for number, page in enumerate(pages):
        printed = None if offset is None else number + offset
        left_out = {id(line) for line in _edges(page) if _folded(line) in heads}
        left_out |= {id(line) for line in _outermost(page) if _is_numbered(line, printed)}
        kept.append(_without_contents([line for line in page if id(line) not in left_out]))
    return kept if any(kept) else [list(page) for page in pages]


def _repeated(pages: Sequence[Sequence[Line]]) -> set[str]:
    """Returns lines at the edges of pages that come again, with other numbers."""
    found: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        for key in {_folded(line) for line in _edges(page)}:
            found.setdefault(key, []).append(number)
    return {
        key
        for key, numbers in found.items()
        if len(numbers) >= _FEWEST_PAGES and len(numbers) >= _LEAST_SHARE * (numbers[-1] - numbers[0] + 1)
    }


def _page_offset(pages: Sequence[Sequence[Line]]) -> int | None:
    """Returns what to add to a page's position for the number that is printed on it; None if pages have none."""
    offsets = Counter(
        printed - number
        for number, page in enumerate(pages)
        for printed in {printed for line in _outermost(page) for printed in _outer_numbers(line)}
    )
    if not offsets:
        return None
    offset, count = offsets.most_common(1)[0]
    return offset if count >= max(_FEWEST_PAGES, _LEAST_SHARE * len(pages)) else None


def _is_numbered(line: Line, printed: int | None) -> bool:
    """Tells whether an outermost line is a page number, or a head with the page's number."""
    if _PAGE_NUMBER.fullmatch(line.text):
        return True
    is_short = len(line.text) <= _MOST_HEAD_CHARS and not line.text.endswith((".", ";", ","))
    return printed is not None and is_short and printed in _outer_numbers(line)


def _outer_numbers(line: Line) -> set[int]:
    found = (match.group(1) or match.group(2) for match in _OUTER_NUMBERS.finditer(line.text))
    return {int(digits) for digits in found}


def _outermost(page: Sequence[Line]) -> list[Line]:
    """Returns the lines at the highest and at the lowest place of a page."""
    heights = [line.y for line in page] or [0.0]
    ends = (max(heights), min(heights))
    return [line for line in page if line.y in ends]


def _edges(page: Sequence[Line]) -> list[Line]:
    """Returns the outermost lines, and the lines close to them."""
    outermost = _outermost(page)
    size = max((line.size for line in outermost), default=0.0)
    heights = [line.y for line in outermost] or [0.0]
    high, low = max(heights) - _HEAD_GAP * size, min(heights) + _HEAD_GAP * size
    return [line for line in page if not low < line.y < high]


def _folded(line: Line) -> str:
    return _NUMBER.sub("0", " ".join(line.text.split()).casefold())


def _without_contents(page: Sequence[Line]) -> list[Line]:
    """Leaves out entries with dot leaders up to a page number; such a list of prices keeps its prices."""
    rest = [line for line in page if not _LEADER.search(line.text)]
    if len(page) - len(rest) < _FEWEST_ENTRIES:
        return list(page)
    return [line for line in rest if not _PAGE_NUMBER.fullmatch(line.text)]
