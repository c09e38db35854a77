"""What repeats the pages of a PDF and not their text: running heads and feet, page numbers, tables of contents."""

import re
from collections import Counter
from collections.abc import Sequence

from server.cli.documents.pdf_lines import Line

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
