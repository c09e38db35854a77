"""Writes the pages of its source behind the sentences of a summary."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from precis.v1 import summarize_pb2 as pb


def cite_pages(summary: pb.Summary) -> str:
    """Returns the text of a summary with `[p. 12]` behind what is cited: once for neighbours from the same pages.

    Headings, code and what nothing in the document speaks of have none; nor has any text of a document without pages.
    The offsets of the citations hold in `summary.text`, not in what is returned.
    """
    marks = dict(_marks(summary.text, summary.citations))
    pieces: list[str] = []
    for start, end in pairwise((0, *sorted(marks), len(summary.text))):
        pieces += [marks.get(start, ""), summary.text[start:end]]
    return "".join(pieces)


def _marks(text: str, citations: Sequence[pb.SummaryCitation]) -> Iterator[tuple[int, str]]:
    fenced = _fenced_lines(text)
    for number, one in enumerate(citations):
        pages = _pages(one)
        line = text.rfind("\n", 0, one.start) + 1
        if not pages or line in fenced or text.startswith("#", line):
            continue
        following = citations[number + 1] if number + 1 < len(citations) else None
        if following and "\n" not in text[one.end : following.start] and _pages(following) == pages:
            continue
        end = one.end
        if text[one.start : end].startswith("|"):
            end = len(text[: text.rindex("|", 0, end)].rstrip(" "))  # inside the last cell
        yield end, f" [p. {pages}]"


def _pages(citation: pb.SummaryCitation) -> str:
    numbers = sorted({place.page_number for place in citation.places if place.page_number})
    return ", ".join(map(str, numbers))


def _fenced_lines(text: str) -> set[int]:
    """Returns where the lines of code begin."""
    found: set[int] = set()
    position, is_code = 0, False
    for line in text.splitlines(keepends=True):
        if line.lstrip(" \t").startswith(("```", "~~~")):
            is_code = not is_code
        elif is_code:
            found.add(position)
        position += len(line)
    return found
