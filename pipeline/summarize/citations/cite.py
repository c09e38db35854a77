"""Cites a finished summary: finds what stands in the document word for word, and what the rest was made from.

Every sentence is compared with the document itself, however many merges lie between. Linear in the length of the
document and of the summary; the number of sentences that are cited, located and read is bounded.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.off_loop import OffLoop, stop_if_nobody_waits
from pipeline.reading.language import is_english
from pipeline.reading.sentences import BlockKind
from pipeline.summarize.citations.cited_document import MAX_READ_CHARS, CitedDocument, Occurrences, Span
from pipeline.summarize.citations.places import Citations, CitationSupport, SummaryCitation
from pipeline.summarize.citations.written import WrittenSources
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.gate.inspect import is_claim, riskiest
from pipeline.summarize.gate.parts import AnswerPart, fold, split_parts
from pipeline.summarize.gate.reading import ClaimReader
from pipeline.support.claim_support import Hypothesis, Support, SupportConfig

_LANGUAGE_CHUNKS = 100  # of a document, by which its language is told
_MOST_LOCATED = 2_000  # written sentences: 3 ms each in a document of 1 MB


@dataclass(frozen=True, slots=True)
class CitationBounds:
    """How much is cited, and for whom.

    Attributes:
        max_citations: sentences of the text, from its beginning.
        max_read: written sentences that a model compares; of more, those with values and negations first.
        support: by which it does.
        caller: in whose turn it does.
    """

    max_citations: int
    max_read: int
    support: SupportConfig
    caller: str = ""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A citation before a model has read its sentence; `claim` is what it would read."""

    citation: SummaryCitation
    claim: Hypothesis | None = None


async def cite(
    text: str, chunks: Sequence[SourceChunk], bounds: CitationBounds, reader: ClaimReader | None, off_loop: OffLoop
) -> Citations:
    """Cites a text.

    Args:
        text: the summary, in Markdown.
        chunks: of the document.
        reader: has written sentences compared with the document; None: no model is asked.
        off_loop: where the texts are read.
    """
    parts, drafts = await off_loop(lambda: _draft(text, chunks, bounds))
    readable = [at for at, draft in enumerate(drafts) if draft.claim is not None]
    if reader is None or not readable or not await off_loop(lambda: _is_readable(text, chunks)):
        return Citations(tuple(draft.citation for draft in drafts), parts)
    claims = [claim for draft in drafts if (claim := draft.claim)]
    chosen = riskiest([claim.text for claim in claims], bounds.max_read)
    supports = await reader.read([claims[at] for at in chosen], caller=bounds.caller)
    cited = [draft.citation for draft in drafts]
    for at, support in zip(chosen, supports, strict=True):
        cited[readable[at]] = _supported(cited[readable[at]], support)
    return Citations(tuple(cited), parts)


def _is_readable(text: str, chunks: Sequence[SourceChunk]) -> bool:
    """Tells whether both texts are in the language that the model has learned."""
    return is_english(text) and is_english("\n".join(chunk.text for chunk in chunks[:_LANGUAGE_CHUNKS]))


def _supported(citation: SummaryCitation, support: Support) -> SummaryCitation:
    kind = CitationSupport.SUPPORTED if support.is_supported else CitationSupport.MARKED
    return replace(citation, support=kind, probability=support.probability)


def _draft(text: str, chunks: Sequence[SourceChunk], bounds: CitationBounds) -> tuple[int, list[_Draft]]:
    """Returns how many parts a text has, and those of them that are cited."""
    parts = split_parts(text)
    document = CitedDocument(chunks)
    folded = [fold(text[part.start : part.end]) for part in parts[: bounds.max_citations]]
    found = document.occurrences(set(folded))
    spans = _in_order(folded, found)
    drafts: list[_Draft] = []
    sources: WrittenSources | None = None
    located = 0
    for part, key, span in zip(parts, folded, spans, strict=False):
        stop_if_nobody_waits()
        if span is not None:
            cited = _cite(part, CitationSupport.VERBATIM, document, (span,))
            drafts.append(_Draft(replace(cited, other_place_count=found[key].count - 1)))
        elif part.kind is not BlockKind.HEADING:
            located += 1
            if located > _MOST_LOCATED or len(document.text) > MAX_READ_CHARS:
                drafts.append(_Draft(_cite(part, CitationSupport.UNREAD, document)))
                continue
            sources = sources or WrittenSources(document.text, bounds.support)
            drafts.append(_written(text[part.start : part.end], part, document, sources))
    return len(parts), drafts


def _written(words: str, part: AnswerPart, document: CitedDocument, sources: WrittenSources) -> _Draft:
    found = sources.locate(words)
    cited = _cite(part, CitationSupport.UNREAD, document, found.spans)
    return _Draft(cited, found.claim if is_claim(part, words) else None)


def _cite(
    part: AnswerPart, support: CitationSupport, document: CitedDocument, spans: Sequence[Span] = ()
) -> SummaryCitation:
    return SummaryCitation(part.start, part.end, support, None, document.places(spans))


def _in_order(folded: Sequence[str], found: Mapping[str, Occurrences]) -> list[Span | None]:
    """Chooses the place of each sentence: of several the first one behind the sentence that stands before it.

    Only sentences that stand in the document once say where the text is; if none of the others follows that place, the
    nearest one is taken.
    """
    chosen: list[Span | None] = []
    here = 0
    for key in folded:
        occurrences = found.get(key)
        if occurrences is None:
            chosen.append(None)
            continue
        spans = occurrences.spans
        at = bisect_left(spans, (here, 0))
        span = spans[at] if at < len(spans) else spans[-1]
        chosen.append(span)
        if occurrences.count == 1:
            here = span[0]
    return chosen
