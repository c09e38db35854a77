"""Cites a finished summary: finds what stands in the document word for word, and what the rest was made from.

Every sentence is compared with the document itself, however many merges lie between. Linear in the length of the
document and of the summary; the number of sentences that are cited, located and read is bounded.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise

import numpy as np

from pipeline.off_loop import OffLoop, stop_if_nobody_waits, stoppable
from pipeline.reading.blocks import BlockKind
from pipeline.reading.document import ReadText, read_shown
from pipeline.reading.language import is_english
from pipeline.reading.passages import Passage
from pipeline.reading.sentences import Sentence, split_sentences, statements
from pipeline.reading.word_table import WordTable
from pipeline.reading.words import fold
from pipeline.summarize.citations.places import MAX_PLACES, Citations, CitationSupport, SourcePlace, SummaryCitation
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.extractive.excerpt import join_texts
from pipeline.summarize.gate.gate import ClaimReader
from pipeline.summarize.gate.inspect import is_claim, riskiest
from pipeline.support.claim_support import MAX_SENTENCE_CHARS, Hypothesis, PremiseFinder

Span = tuple[int, int]

_MOST_READ_CHARS = 8_000_000  # of a document in which written sentences are looked for
_MOST_SENTENCES = 4  # of a citation
_LEAST_SHARE = 0.2  # of the weight of a sentence's words: less is chance
_LEAST_GAIN = 0.15  # of it, that one more sentence of the passage must say


class CitedDocument:
    """The chunks of a document as one text, split once, by whoever asks first.

    A sentence of a summary stands there when it is a whole sentence, item, row or line of code of it.
    """

    def __init__(self, chunks: Sequence[SourceChunk]) -> None:
        """Joins the chunks: a sentence may go on in the next one."""
        self._chunks = chunks
        self.text, self._starts = join_texts([chunk.text for chunk in chunks])
        self._own_starts = [0, *accumulate(len(chunk.text) for chunk in chunks)]

    def places(self, spans: Sequence[Span]) -> tuple[SourcePlace, ...]:
        """Returns spans of the text as places of chunks, one for each chunk that a span touches."""
        return tuple(islice(chain.from_iterable(self._places(*span) for span in sorted(spans)), MAX_PLACES))

    def _places(self, start: int, end: int) -> Iterator[SourcePlace]:
        first_chunk, behind = max(0, bisect_right(self._starts, start) - 1), bisect_left(self._starts, end)
        for at in range(first_chunk, behind):
            chunk, offset = self._chunks[at], self._starts[at]
            first, last = max(start - offset, 0), min(end - offset, len(chunk.text))
            inside = chunk.text[first:last]
            first += len(inside) - len(inside.lstrip())
            if first < last and inside.strip():
                yield SourcePlace(chunk.chunk_index, chunk.page_number, first, last, self._own_starts[at] + first)

    @cached_property
    def _parts(self) -> list[Sentence]:
        return split_sentences(self.text, MAX_SENTENCE_CHARS)

    def occurrences(self, wanted: Collection[str]) -> Mapping[str, list[Span]]:
        """Returns where folded sentences stand. Linear in the length of the document."""
        found = {folded: list[Span]() for folded in wanted}
        for part in stoppable(self._parts):
            if (spans := found.get(fold(self.text[part.start : part.end]))) is not None:
                spans.append((part.start, part.end))
        return found

    @cached_property
    def _finder(self) -> PremiseFinder:
        """Reads the text as people see it for `locate`, which few summaries need."""
        shown, parts = read_shown("document", self.text), self._parts
        if (starts := shown.offsets.starts) is not None:
            spans = np.searchsorted(starts, [(part.start, part.end) for part in parts]).tolist()
            moved = zip(parts, spans, strict=True)
            parts = [Sentence(start, end, one.kind, one.speaker) for one, (start, end) in moved if start < end]
        table = WordTable.of(shown.text)
        return PremiseFinder(ReadText.split(shown, statements(table, parts), table))

    def locate(self, sentence: str) -> tuple[Hypothesis, list[Span]]:
        """Returns what a model reads of a written sentence, and the spans of the sentences that it was made from.

        None of either if no sentence has enough of its words.
        """
        found = self._finder.find(sentence)
        spans = self._spans(found.passages[0], found.weights) if found.passages else []
        return (found.hypothesis if spans else replace(found.hypothesis, premises=())), spans

    def told(self, text: str) -> list[Span]:
        """Returns the spans of the sentences that those of a text were made from, in order."""
        parts = split_sentences(text, MAX_SENTENCE_CHARS)[:_MOST_LOCATED]
        return sorted({span for part in stoppable(parts) for span in self.locate(text[part.start : part.end])[1]})

    def untold(self, text: str) -> str:
        """Returns the document without the sentences that a text was made from, with their marks and titles."""
        told, parts = {start for start, _ in self.told(text)}, self._parts
        is_told = [not told.isdisjoint(range(part.start, part.end)) for part in parts]
        titles = [at for at, part in enumerate(parts) if part.kind is BlockKind.HEADING]
        for title, behind in pairwise([*titles, len(parts)]):
            is_told[title] |= all(is_told[title + 1 : behind]) and behind > title + 1
        ends = [0, *(part.end for part in parts)]
        gone = [
            (max(self.text.rfind("\n", 0, part.start) + 1, ends[at]), part.end)
            for at, part in enumerate(parts)
            if is_told[at]
        ]
        return "".join(self.text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *gone, (len(self.text), 0)]))

    def _spans(self, passage: Passage, weights: dict[str, float]) -> list[Span]:
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


_MOST_LOCATED = 2_000  # written sentences: 3 ms each in a document of 1 MB


@dataclass(frozen=True, slots=True)
class CitationBounds:
    """How much is cited, and for whom."""

    max_citations: int  # sentences of the text, from its beginning
    max_read: int  # written sentences that a model compares; of more, those with values and negations first
    caller: str = ""  # in whose turn it does


async def cite(
    text: str, document: CitedDocument, bounds: CitationBounds, reader: ClaimReader | None, off_loop: OffLoop
) -> Citations:
    """Cites a summary in Markdown. Has written sentences compared with the document, if there is a reader."""
    parts = await off_loop(lambda: split_sentences(text, MAX_SENTENCE_CHARS))
    cited, claims = await off_loop(lambda: _draft(text, parts[: bounds.max_citations], document))
    if reader is not None and claims and await off_loop(lambda: is_english(text) and is_english(document.text)):
        places = list(claims)
        chosen = [places[at] for at in riskiest([claims[place].text for place in places], bounds.max_read)]
        supports = await reader.read([claims[place] for place in chosen], caller=bounds.caller)
        for place, support in zip(chosen, supports, strict=True):
            kind = CitationSupport.SUPPORTED if support.is_supported else CitationSupport.MARKED
            cited[place] = replace(cited[place], support=kind, probability=support.probability)
    return Citations(tuple(cited), len(parts))


def _draft(
    text: str, parts: Sequence[Sentence], document: CitedDocument
) -> tuple[list[SummaryCitation], dict[int, Hypothesis]]:
    """Returns the citations of sentences, and by citation what a model would read of those that are written."""
    cited, claims, located = list[SummaryCitation](), dict[int, Hypothesis](), 0
    folded = [fold(text[part.start : part.end]) for part in parts]
    found = document.occurrences(folded)
    for part, key, span in zip(parts, folded, _in_order(folded, found), strict=True):
        stop_if_nobody_waits()
        kind, spans, others = CitationSupport.UNREAD, [span] if span else [], 0
        if span:
            kind, others = CitationSupport.VERBATIM, len(found[key]) - 1
        elif part.kind is BlockKind.HEADING:
            continue
        elif located < _MOST_LOCATED and len(document.text) <= _MOST_READ_CHARS:
            located += 1
            claim, spans = document.locate(text[part.start : part.end])
            if is_claim(part, text[part.start : part.end]):
                claims[len(cited)] = claim
        cited.append(SummaryCitation(part.start, part.end, kind, None, document.places(spans), others))
    return cited, claims


def _in_order(folded: Sequence[str], found: Mapping[str, list[Span]]) -> Iterator[Span | None]:
    """Yields the place of each sentence: of several the first one behind the sentence that stands before it.

    Only sentences that stand in the document once say where the text is. If none of the others follows that place, the
    nearest one is taken.
    """
    here = 0
    for spans in map(found.__getitem__, folded):
        at = min(bisect_left(spans, (here, 0)), len(spans) - 1)
        yield spans[at] if spans else None
        here = spans[0][0] if len(spans) == 1 else here
