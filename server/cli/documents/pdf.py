"""Text of PDF pages as Markdown: running heads left out, hyphenated words joined, headings and tables marked."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from pipeline.reading.blocks import is_sentence_end
from server.cli.documents.pdf_lines import Cell, Line, read_lines
from server.cli.errors import InputError

_HEADING_SCALE = 1.1  # of the body's size
_BREAK_SCALE = 1.25  # of the usual distance of lines
_INDENT_SCALE = 0.8  # of a size, of the first line of a paragraph
_LIST_MARK = re.compile(r"^([-*\u2013](?=\s)|[•‣◦▪·●]|\(?(?:\d{1,3}[.)]|[a-z]\))(?=\s|[^\W\d_]))\s*")
_CUT_WORD = re.compile(r"([^\W\d_]{2,100})[-\u00ad\u2010]\v([^\W\d_]+)")  # "\v" stands for the end of a line
_CODE_WIDTH = 0.6  # of a size, of each character of a monospaced font
_COMMON_COMPOUND = frozenset({"and", "or", "und", "oder", "et", "ou", "to"})  # "two- and three-phase" keeps its hyphen
_MOST_HEADINGS = 0.34  # of the lines of a document have a size of headings; more of them are its text
_FEWEST_WOVEN, _FULL_LINE, _LEAST_PROSE = 4, 0.6, 0.3  # lines; of the widest of a column; of its lines
_FEWEST_PAGES, _LEAST_SHARE = 3, 0.4  # on which a running head stands, of those from its first to its last page
_PAGE_NUMBER = re.compile(r"(?i)\W*(?:(?:page|seite|p\.)\s*)?(?:\d{1,4}|[ivxlc]+)(?:\s*(?:/|of|von)\s*\d{1,4})?\W*")
_LEADER = re.compile(r"(?:\s?[.…·_]){5}\s*(?:\d{1,4}|[ivxlc]+)?$")
_FEWEST_ENTRIES = 4  # of a table of contents, on one page


def read_pages(data: bytes) -> list[str]:
    """Returns the Markdown of each page; a sentence stands on the one where it begins. Raises InputError."""
    pages = [_unwoven(page) for page in without_page_furniture(read_lines(data))]
    if not any(pages):
        raise InputError(f"none of its {len(pages)} pages holds text; a scanned PDF needs OCR first")
    style = _Style(pages)
    blocks = [style.blocks(page) for page in pages]
    for before, after in pairwise(blocks):
        _close_sentence(before, after, style)
    return ["\n\n".join(block for block in page if block) for page in blocks]


class _Style:
    """What is usual in a document: size and distance of its lines, the sizes of its headings, its words."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        lines = [line for page in pages for line in page]
        counts, sizes = Counter(line.main.size for line in lines), Counter[float]()
        for line in lines:
            sizes[line.main.size] += len(line.text)
        words = (word for line in lines for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text))
        self._words = Counter(map(str.casefold, words))
        below = (pair for page in pages for pair in pairwise(page) if pair[0].main.size == pair[1].main.size)
        gaps = Counter(round(one.y - two.y, 1) for one, two in below if one.y > two.y)
        self._size = max(sizes, key=sizes.__getitem__)
        self._gap = max(gaps, key=gaps.__getitem__, default=0.0)
        large = sorted((size for size in sizes if size >= self._size * _HEADING_SCALE), reverse=True)
        large = [size for size in large if counts[size] <= _MOST_HEADINGS * len(lines)]
        self._levels = {size: level for level, size in enumerate(large, 1)}

    def blocks(self, lines: Sequence[Line]) -> list[str]:
        """Returns headings, paragraphs, tables and code of a page."""
        blocks: list[str] = []
        levels = [(group, self._level(group)) for group in self._groups(lines)]
        for is_table, members in groupby(levels, lambda one: len(one[0][0].cells) > 1 and not one[1]):
            if is_table:
                blocks.append(self._table([group for group, _ in members]))
                continue
            for group, level in members:
                text = self.join([line.text for line in group])
                blocks.append(f"{'#' * min(level, 6)} {text}" if level else _code(group) or text)
        return blocks

    def join(self, texts: Sequence[str]) -> str:
        """Joins lines of one paragraph; a word that the end of a line cuts becomes whole again."""
        first, *rest = (_LIST_MARK.sub(r"\1 ", text) for text in texts)
        lines = (("\n" if _LIST_MARK.match(text) else "\v") + text for text in rest)
        return _CUT_WORD.sub(self._join_word, first + "".join(lines)).replace("\v", " ")

    def _join_word(self, cut: re.Match[str]) -> str:
        """Joins "informa-" with "tion" and "LI-" with "BRARY", not "Mauro-" with "Clementi"."""
        head, tail = cut.groups()
        if tail in _COMMON_COMPOUND or not (tail[0].islower() or (head.isupper() and tail.isupper())):
            return cut[0]
        return max(f"{head}{tail}", f"{head}-{tail}", key=lambda word: self._words[word.casefold()])

    def _groups(self, lines: Sequence[Line]) -> list[list[Line]]:
        """Returns lines that belong to one paragraph, row or heading."""
        groups: list[list[Line]] = []
        for line in lines:
            if not groups or not self._continues(groups[-1], line):
                groups.append([])
            groups[-1].append(line)
        return groups

    def _continues(self, group: Sequence[Line], line: Line) -> bool:
        last = group[-1]
        before, after = last.main, line.main
        goes_on = line.text[:1].islower() and not is_sentence_end(last.text)
        is_close = 0 < last.y - line.y <= max(self._gap, after.size) * _BREAK_SCALE
        if len(group[0].cells) > 1:  # a row, of which some cells go on below
            fits = all(any(_overlap(one, cell) > 0 for cell in group[0].cells[1:]) for one in line.cells)
            return is_close and fits and 2 * len(line.cells) <= len(group[0].cells)
        is_other = before.is_code != after.is_code or self._levels.get(before.size) != self._levels.get(after.size)
        if len(line.cells) > 1 or is_other or (before.is_bold != after.is_bold and not goes_on):
            return False
        if not is_close:
            return line.y >= last.y and goes_on  # upwards: the next column
        is_indented = line.x > last.x + _INDENT_SCALE * after.size and is_sentence_end(last.text)
        return after.is_code or not is_indented or len(group) == 1

    def _table(self, rows: Sequence[Sequence[Line]]) -> str:
        """Returns a table whose columns are those of the widest rows, a form as a list, and a single row as text."""
        if len(rows) == 1 and not any("\v" in cell.text for cell in rows[0][0].cells):
            return "  ".join(cell.text for line in rows[0] for cell in line.cells)
        if all(row[0].cells[0].text.endswith(":") for row in rows):
            return "\n".join(f"- {self.join([line.text for line in row])}" for row in rows)
        most = max(len(row[0].cells) for row in rows)
        widest = zip(*(row[0].cells for row in rows if len(row[0].cells) == most), strict=True)
        columns = [Cell("", min(cell.left for cell in cells), max(cell.right for cell in cells)) for cells in widest]
        texts = [[""] * len(columns) for _ in rows]
        for row, group in zip(texts, rows, strict=True):
            for cell in (cell for line in group for cell in line.cells):
                overlaps = [_overlap(one, cell) for one in columns]
                column = overlaps.index(max(overlaps))
                row[column] = self.join([row[column], cell.text])
        if len(rows) == 1:
            return "\n\n".join(text.strip() for text in texts[0])
        lines = ["| " + " | ".join(" ".join(text.split()).replace("|", "\\|") for text in row) + " |" for row in texts]
        return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])

    def _level(self, group: Sequence[Line]) -> int:
        """Returns the level of a heading, which is larger or bold; 0 for other text."""
        text, first = " ".join(line.text for line in group), group[0]
        if not any(map(str.isalpha, text)) or first.main.is_code:
            return 0
        if first.main.size in self._levels:
            return self._levels[first.main.size]
        is_title = len(first.cells) == 1 and all(line.main.is_bold for line in group) and text[0].isalnum()
        return len(self._levels) + 1 if is_title and not is_sentence_end(text) else 0


def _close_sentence(before: list[str], after: list[str], style: _Style) -> None:
    """Moves the rest of a sentence to the page where the sentence begins."""
    goes_on = before and after and after[0][:1].islower() and not _LIST_MARK.match(after[0])
    if not goes_on or before[-1].startswith(("#", "|", "```")) or is_sentence_end(before[-1]):
        return
    cut = end.end() if (end := re.search(r"[.!?](?=\s|$)", after[0])) else len(after[0])
    before[-1] = style.join([before[-1], after[0][:cut]])
    after[0] = after[0][cut:].lstrip()


def _overlap(one: Cell, other: Cell) -> float:
    return min(one.right, other.right) - max(one.left, other.left)


def _unwoven(lines: Sequence[Line]) -> list[Line]:
    """Puts two columns of running text whose lines the file writes in turns one after the other."""
    pieces = [replace(line, cells=(cell,)) for line in lines for cell in line.cells]
    starts = sorted(start for start, _ in Counter(round(piece.x) for piece in pieces).most_common(2))
    sides = [[piece for piece in pieces if (piece.x > starts[-1] - 1) == is_right] for is_right in (False, True)]
    width = starts[-1] - starts[0] if starts else 0
    return sides[0] + sides[1] if all(_is_column(side, width) for side in sides) else list(lines)


def _is_column(lines: Sequence[Line], width: float) -> bool:
    """Tells running text from cells, which are of many lengths: "command > foo | redirect output to foo" is a row."""
    widths = [line.cells[0].right - line.x for line in lines]
    full = sum(_FULL_LINE * max(widths) <= each <= width for each in widths)
    goes_on = sum(line.text[0].islower() for line in lines)
    return len(lines) >= _FEWEST_WOVEN and min(full, goes_on) > _LEAST_PROSE * len(lines)


def _code(group: Sequence[Line]) -> str:
    """Returns lines of a monospaced font as a code block, "" for others."""
    if not group[0].main.is_code:
        return ""
    left = min(line.x for line in group)
    indented = (" " * round((line.x - left) / (_CODE_WIDTH * line.main.size)) + line.text for line in group)
    return "\n".join(["```", *indented, "```"])


def without_page_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Leaves out running heads and feet, page numbers, and the entries of a table of contents."""
    all_keys = [_end_keys(page, number) for number, page in enumerate(pages)]
    found: defaultdict[str | int, list[int]] = defaultdict(list)
    for number, keys in enumerate(all_keys):
        for key in set().union(*keys.values()):
            found[key].append(number)
    heads = {key for key, at in found.items() if len(at) >= max(_FEWEST_PAGES, _LEAST_SHARE * (at[-1] - at[0] + 1))}
    kept: list[list[Line]] = []
    for page, keys in zip(pages, all_keys, strict=True):
        ends = {line for line in keys if not heads.isdisjoint(keys[line]) or _PAGE_NUMBER.fullmatch(line.text)}
        text = [line for line in page if line not in ends]
        rest = [line for line in text if not _LEADER.search(line.text)]
        kept.append(rest if len(text) - len(rest) >= _FEWEST_ENTRIES else text)  # a list of prices keeps its prices
    return kept


def _end_keys(lines: Sequence[Line], page: int) -> dict[Line, set[str | int]]:
    """Returns what comes again of the highest and the lowest line: words, and how far a number is from the page's."""
    heights = [line.y for line in lines]
    found: dict[Line, set[str | int]] = {}
    for line in (line for line in lines if line.y in {max(heights), min(heights)}):
        words = line.text.casefold().split()
        ends = (word.partition("/")[0] for word in (words[0], words[-1]))  # "2/3"
        numbers = (int(word[:9]) for word in ends if word.isdecimal())
        found[line] = {" ".join(words), *(number - page for number in numbers)}
    return found
