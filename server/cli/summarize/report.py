"""One page of a summary and its source: click a sentence to see what it stands on.

Every sentence is a link to the place that it is cited from, so that reading needs no script. Both texts are shown as
they are, Markdown included. A long source is cut into blocks that a browser lays out when they come into sight.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from precis.v1 import summarize_pb2 as pb

from pipeline.reading.blocks import BlockKind, read_blocks
from server.cli.page.marks import Mark, Role, cut
from server.cli.page.render import render_page

SOURCE_CHARS = 4_000_000
"""Of a source that are shown; blocks without a citation go first."""
_BLOCK_CHARS = 4_000
_HALF = 0.5

KINDS = {
    "verbatim": "word for word in the document",
    "supported": "written and supported by it",
    "partial": "written and supported in part",
    "unsupported": "written and not supported",
    "unread": "written and compared with nothing",
}
"""Kinds of citations in words, best first; the names are those of the style sheet."""


def kind_of(citation: pb.SummaryCitation) -> str:
    """Tells the kind of a citation."""
    match citation.support:
        case pb.CITATION_SUPPORT_VERBATIM:
            return "verbatim"
        case pb.CITATION_SUPPORT_SUPPORTED:
            return "supported" if citation.probability >= _HALF else "partial"
        case pb.CITATION_SUPPORT_MARKED:
            return "unsupported"
        case _:
            return "unread"


def render_summary(summary: pb.Summary, document: pb.Document) -> str:
    """Renders the page of a summary, and of its document as it was sent."""
    owners = [(number, at) for number, one in enumerate(summary.citations, 1) for at in range(len(one.places))]
    source, blocks = source_blocks(summary, document)
    return render_page(
        "summary.html",
        title=f"Summary of {summary.document_name or summary.document_id or 'a document'}",
        summary=summary,
        parts=list(summary_parts(summary)),
        blocks=blocks,
        owners=owners,
        begun=lambda piece: [mark.claim for mark in piece.begun if mark.role is Role.SUPPORT],
        hidden_chars=len(source) - sum(len(piece.text) for block in blocks for piece in block["pieces"]),
        counts=Counter(map(kind_of, summary.citations)),
        kinds=KINDS,
        kind_of=kind_of,
    )


def summary_parts(summary: pb.Summary) -> Iterator[dict[str, Any]]:
    """Yields the summary, cut at its headings; a piece with a mark is a sentence, whose number is `claim`."""
    heads = (block.first for block in read_blocks(summary.text) if block.kind is BlockKind.HEADING)
    starts = [0, *(start for start in heads if start and summary.text[start] == "#")]
    marks = [Mark(Role.CLAIM, number, one.start, one.end) for number, one in enumerate(summary.citations, 1)]
    for start, end in pairwise((*starts, len(summary.text))):
        text = summary.text[start:end]
        inside = _within(marks, start, end)
        counts = Counter(kind_of(summary.citations[mark.claim - 1]) for mark in inside)
        worst = next((kind for kind in reversed(KINDS) if counts[kind]), "")
        title = text.partition("\n")[0].lstrip("# ") if text.startswith("#") else ""
        yield {"title": title, "pieces": cut(text, inside), "counts": counts, "worst": worst}


def source_blocks(summary: pb.Summary, document: pb.Document) -> tuple[str, list[dict[str, Any]]]:
    """Returns the source as citations count it, and its blocks, as many as are shown; `claim` of a mark is the place's.

    A block names the page that begins with it, 0 if none does, and tells whether what stands before it is not shown.
    """
    pages = [(chunk.page_number, chunk.text) for chunk in document.chunks if chunk.text.strip()]
    if document.text:
        parts = document.text.split("\f")
        parts[:-1] = [f"{part}\f" for part in parts[:-1]]
        pages = list(enumerate(parts, 1 if parts[1:] else 0))
    source = "".join(text for _, text in pages)
    cited = [(place.document_start, place) for one in summary.citations for place in one.places]
    places = ((number, start, start + place.end - place.start) for number, (start, place) in enumerate(cited))
    marks = sorted((Mark(Role.SUPPORT, *place) for place in places), key=lambda mark: mark.start)
    blocks: list[dict[str, Any]] = []
    left, is_after_gap = SOURCE_CHARS, False
    for page, start, end in _bounds(pages):
        inside = _within(marks, start, end)
        if left < end - start or (len(source) > SOURCE_CHARS and not inside):
            is_after_gap = True
            continue
        left -= end - start
        blocks.append({"page": page, "is_after_gap": is_after_gap, "pieces": cut(source[start:end], inside)})
        is_after_gap = False
    return source, blocks


def _within(marks: Sequence[Mark], start: int, end: int) -> list[Mark]:
    """Returns the marks that begin in a stretch, counted from its start; and the rest of one that began before it."""
    first = bisect_left(marks, start, key=lambda mark: mark.start)
    last = bisect_left(marks, end, key=lambda mark: mark.start)
    inside = [Mark(mark.role, mark.claim, mark.start - start, mark.end - start) for mark in marks[first:last]]
    before = marks[max(0, first - 1) : first]
    return [Mark(Role.PREMISE, mark.claim, 0, mark.end - start) for mark in before if mark.end > start] + inside


def _bounds(pages: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int, int]]:
    """Yields page, start and end of stretches of a text, cut at blank lines where long; 0 for the same page."""
    position = last = 0
    for page, text in pages:
        begins, start = (page if page != last else 0), 0
        last = page
        while start < len(text):
            at = text.find("\n\n", start + _BLOCK_CHARS - 1)
            stop = len(text) if at < 0 else at + 2
            yield begins, position + start, position + stop
            begins, start = 0, stop
        position += len(text)
