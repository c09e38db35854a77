"""Tells people what the gate found: warnings with their places, counts, and the note behind a text."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from pipeline.reading.blocks import BlockKind, read_blocks
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.gate.findings import FaultKind, Remedy, Trust
from pipeline.summarize.result import SummaryWarning, TrustReport
from pipeline.summarize.storage.records import StepOutput

_TOLD = {
    Remedy.DROPPED: "was left out",
    Remedy.CORRECTED: "was replaced by the document's own sentence",
    Remedy.REWRITTEN: "was replaced by sentences of the document",
    Remedy.NONE: "could not be repaired",
}
_WHOLE = {
    FaultKind.REFUSAL: "a refusal",
    FaultKind.EMPTY: "an answer without information",
    FaultKind.TOO_SHORT: "an answer that is far too short",
    FaultKind.REPETITION: "an endless repetition",
    FaultKind.ECHO: "a copy of other material",
    FaultKind.CHATTER: "an answer about the document in place of its subject",
    FaultKind.LANGUAGE: "an answer in another language",
    FaultKind.LOST_VALUES: "the loss of values",
}
_MUCH = "an answer of which much is not in the document"
_MOST_WARNINGS = 100
_MOST_NOTES = 10
_MOST_CHUNKS_ABOVE, _MOST_WORDS, _MOST_CHARS = 100, 12, 120


def place_of(output: StepOutput, chunks: Sequence[SourceChunk]) -> str:
    """Returns where a person finds what a text is of: pages, the heading above it, or else its first words."""
    first, last = output.pages
    if last:
        return f"page {first}" if first == last else f"pages {first} to {last}"
    begin = bisect_left(chunks, output.chunk_indexes[0], key=lambda chunk: chunk.chunk_index)
    for chunk in reversed(chunks[max(0, begin - _MOST_CHUNKS_ABOVE) : begin + 1]):
        titles = [block for block in read_blocks(chunk.text) if block.kind is BlockKind.HEADING]
        if titles:
            title = titles[0 if chunk is chunks[begin] else -1]
            return f"under \u201c{_short(chunk.text[title.start : title.end])}\u201d"
    return f"from \u201c{_short(chunks[begin].text)} \u2026\u201d on" if begin < len(chunks) else ""


def _short(text: str) -> str:
    return " ".join(text[:_MOST_CHARS].split()[:_MOST_WORDS])


def trust_warnings(trust: Trust | None, find_place: Callable[[], str]) -> Iterator[SummaryWarning]:
    """Yields a warning for each fault by which a reader's text differs from the answer, the lasting ones first."""
    told = [found for found in trust.findings if found.remedy in _TOLD] if trust else []
    place = find_place() if told else ""  # a hundred chunks may be read for it
    for found in sorted(told, key=lambda one: one.remedy is not Remedy.NONE):
        is_whole = not found.text or found.kind is FaultKind.LOST_VALUES
        name = _WHOLE.get(found.kind, _MUCH) if is_whole else f"a sentence ({found.kind.value.replace('_', ' ')})"
        yield SummaryWarning(found.kind.value, f"{name} {_TOLD[found.remedy]}: {place}", place, found.text)


def first_warnings(warnings: Iterable[SummaryWarning]) -> list[SummaryWarning]:
    """Returns as many warnings as a result holds, those that could not be repaired first."""
    return sorted(warnings, key=lambda one: _TOLD[Remedy.NONE] not in one.message)[:_MOST_WARNINGS]


def add_up_trust(trusts: Sequence[Trust]) -> TrustReport | None:
    """Adds up what the gate found in several texts; None if none of them passed a gate."""
    if not trusts:
        return None
    remedies = Counter(found.remedy for trust in trusts for found in trust.findings)
    return TrustReport(
        part_count=sum(trust.part_count for trust in trusts),
        verbatim_count=sum(trust.verbatim_count for trust in trusts),
        read_count=sum(trust.read_count for trust in trusts),
        unread_count=sum(trust.unread_count for trust in trusts),
        removed_count=remedies[Remedy.REMOVED],
        dropped_count=remedies[Remedy.DROPPED],
        corrected_count=remedies[Remedy.CORRECTED],
        asked_again_count=remedies[Remedy.ASKED_AGAIN],
        rewritten_count=remedies[Remedy.REWRITTEN],
        flaw_count=remedies[Remedy.NONE],
    )


def flaw_note(warnings: Iterable[SummaryWarning]) -> str:
    """Returns what a summary says of its own flaws, behind its text; empty without any."""
    lasting = [warning for warning in warnings if _TOLD[Remedy.NONE] in warning.message]
    lines = [f"> - {warning.message}" for warning in lasting[:_MOST_NOTES]]
    if len(lasting) > _MOST_NOTES:
        lines.append(f"> - and {len(lasting) - _MOST_NOTES} more")
    return "\n".join(["> **This summary is flawed. Read these places in the document:**", *lines]) if lines else ""
