"""Cites a finished summary: finds what stands in the document word for word, and what the rest was made from.

Every sentence is compared with the document itself, however many merges lie between. Linear in the length of the
document and of the summary; the number of sentences that are cited, located and read is bounded.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from pipeline.off_loop import OffLoop, stop_if_nobody_waits
from pipeline.reading.language import is_english
from pipeline.reading.parts import split_parts
from pipeline.reading.passages import Passage
from pipeline.reading.sentences import BlockKind
from pipeline.reading.words import fold
from pipeline.summarize.citations.cited_document import MAX_READ_CHARS, CitedDocument, Occurrences, Span
from pipeline.summarize.citations.places import Citations, CitationSupport, SummaryCitation
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.gate.gate import ClaimReader
from pipeline.summarize.gate.inspect import is_claim, riskiest
from pipeline.support.claim_support import Hypothesis
from pipeline.support.premises import PremiseFinder

_LANGUAGE_CHUNKS = 100  # of a document, by which its language is told
_MOST_LOCATED = 2_000  # written sentences: 3 ms each in a document of 1 MB


@dataclass(frozen=True, slots=True)
class CitationBounds:
    """How much is cited, and for whom.

    Attributes:
        max_citations: sentences of the text, from its beginning.
        max_read: written sentences that a model compares; of more, those with values and negations first.
        caller: in whose turn it does.
    """

    max_citations: int
    max_read: int
    caller: str = ""


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
    draft = await off_loop(lambda: _Draft.of(text, chunks, bounds))
    if reader is not None and draft.claims and await off_loop(lambda: _is_readable(text, chunks)):
        places, claims = list(draft.claims), list(draft.claims.values())
        chosen = riskiest([claim.text for claim in claims], bounds.max_read)
        supports = await reader.read([claims[at] for at in chosen], caller=bounds.caller)
        for at, support in zip(chosen, supports, strict=True):
            kind = CitationSupport.SUPPORTED if support.is_supported else CitationSupport.MARKED
            draft.cited[places[at]] = replace(draft.cited[places[at]], support=kind, probability=support.probability)
    return Citations(tuple(draft.cited), draft.part_count)


def _is_readable(text: str, chunks: Sequence[SourceChunk]) -> bool:
    """Tells whether both texts are in the language that the model has learned."""
    return is_english(text) and is_english("\n".join(chunk.text for chunk in chunks[:_LANGUAGE_CHUNKS]))


@dataclass(slots=True)
class _Draft:
    """The citations of a text before a model has read any sentence.

    Attributes:
        part_count: of the text.
        cited: in order.
        claims: what a model would read, by citation.
    """

    part_count: int
    cited: list[SummaryCitation] = field(default_factory=list)
    claims: dict[int, Hypothesis] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, chunks: Sequence[SourceChunk], bounds: CitationBounds) -> Self:
        """Finds the places of all sentences, and of those that are written what they were made from."""
        parts, document = split_parts(text), CitedDocument(chunks)
        draft, located = cls(len(parts)), 0
        folded = [fold(text[part.start : part.end]) for part in parts[: bounds.max_citations]]
        found = document.occurrences(set(folded))
        sources: WrittenSources | None = None
        for part, key, span in zip(parts, folded, _in_order(folded, found), strict=False):
            stop_if_nobody_waits()
            kind, spans, others = CitationSupport.UNREAD, [span] if span else [], 0
            if span:
                kind, others = CitationSupport.VERBATIM, found[key].count - 1
            elif part.kind is BlockKind.HEADING:
                continue
            elif located < _MOST_LOCATED and len(document.text) <= MAX_READ_CHARS:
                located += 1
                sources = sources or WrittenSources(document.text)
                claim, spans = sources.locate(text[part.start : part.end])
                if is_claim(part, text[part.start : part.end]):
                    draft.claims[len(draft.cited)] = claim
            places = document.places(spans)
            draft.cited.append(SummaryCitation(part.start, part.end, kind, None, places, others))
        return draft


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


_MOST_SENTENCES = 4  # of a citation
_LEAST_SHARE = 0.2  # of the weight of a sentence's words: less is chance
_LEAST_GAIN = 0.15  # of it, that one more sentence of the passage must say


class WrittenSources:
    """A document, read once."""

    def __init__(self, text: str) -> None:
        """Reads the text."""
        self._finder = PremiseFinder(text)

    def locate(self, sentence: str) -> tuple[Hypothesis, list[tuple[int, int]]]:
        """Returns what a model reads of a sentence, and the spans of the sentences of the document with its words.

        None of either if no sentence has enough of them.
        """
        found = self._finder.find(sentence)
        spans = self._spans(found.passages[0], found.weights) if found.passages else []
        return (found.hypothesis if spans else replace(found.hypothesis, premises=())), spans

    def _spans(self, passage: Passage, weights: dict[str, float]) -> list[tuple[int, int]]:
        """Returns the sentences of a passage that say what it is cited for, each something that the others do not."""
        index, total = self._finder.index, sum(weights.values())
        missing, left, chosen = dict(weights), list(passage.sentences), list[int]()
        while left and len(chosen) < _MOST_SENTENCES:
            gains = {at: sum(missing[stem] for stem in missing if index.has(at, stem)) for at in left}
            best = max(left, key=lambda at: (gains[at], -at))
            if gains[best] < total * (_LEAST_GAIN if chosen else _LEAST_SHARE):
                break
            chosen.append(best)
            left.remove(best)
            missing = {stem: weight for stem, weight in missing.items() if not index.has(best, stem)}
        passages = self._finder.read.passages
        return [(passages[at].start, passages[at].end) for at in sorted(chosen)]


class Citing:
    """The citations of one summary.

    Args:
        find: finds those of a text.
    """

    def __init__(self, find: Callable[[str], Awaitable[Citations]]) -> None:
        self._find = find
        self._found: tuple[str, asyncio.Future[Citations]] | None = None
        self._given_up: list[asyncio.Future[Citations]] = []

    def begin(self, text: str) -> None:
        """Begins with a text of which it is likely that nothing changes any more; once for each text."""
        if self._found is None or self._found[0] != text:
            self._cancel()
            self._found = text, asyncio.ensure_future(self._find(text))

    async def of(self, text: str) -> Citations:
        """Returns the citations of a text; raises what finding them raises."""
        self.begin(text)
        assert self._found is not None  # noqa: S101 - it has begun
        return await self._found[1]

    async def stop(self) -> None:
        """Ends what nobody waits for. Never raises."""
        self._cancel()
        await asyncio.gather(*self._given_up, return_exceptions=True)

    def _cancel(self) -> None:
        if self._found is not None:
            self._found[1].cancel()
            self._given_up.append(self._found[1])
