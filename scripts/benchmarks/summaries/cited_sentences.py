"""Are sentences cited from where they come? 200 sentences whose place is known, of two manuals and of news.

Half of them stand in a summary as they are. Of the others half are shortened by rule, every fourth word left out, and
half are joined with the next one that was sampled. Such a citation is right if it covers every sentence that was used,
by half of its characters at least. Half of what it cites must belong to them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.llm.token_count import estimate_tokens
from pipeline.off_loop import OffLoop
from pipeline.reading.sentences import split_sentences
from pipeline.reading.words import fold
from pipeline.summarize.citations.cite import CitationBounds, CitedDocument, cite
from pipeline.summarize.citations.places import CitationSupport, SummaryCitation
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.packing import split_by_tokens
from scripts.benchmarks.shared.report import Figure
from scripts.benchmarks.summaries.manuals import FILES
from scripts.benchmarks.summaries.news import SETS, read_articles

SAMPLED = {FILES[0]: 80, FILES[1]: 80, SETS[0]: 40}
CHUNK_TOKENS = 300  # as a server cuts a text
FEWEST_WORDS, MOST_WORDS = 8, 40  # of a sentence that is sampled
MOST_ARTICLES = 60
_LEFT_OUT = 4
_HALF = 0.5
_BOUNDS = CitationBounds(max_citations=20_000, max_read=0)


@dataclass(frozen=True)
class Told:
    """A sentence of a summary.

    Attributes:
        words: as it stands there.
        spans: of the sentences of the document that it was made from.
        is_written: whether it was shortened or joined.
    """

    words: str
    spans: tuple[tuple[int, int], ...]
    is_written: bool


async def measure_citations(data: Path) -> dict[str, Figure]:
    """Counts right citations; documents that --data does not have are left out."""
    right, all_ = Counter[bool](), Counter[bool]()
    for name, count in SAMPLED.items():
        document = _read(data, name)
        if not document:
            continue
        told = list(tell(document, sample(document, count)))
        for one, citation in zip(told, await _cited(document, told), strict=True):
            all_[one.is_written] += 1
            right[one.is_written] += is_right(one, citation, document)
    if not all_:
        return {}
    return {
        "citations_right": right.total() / all_.total(),
        "citations_verbatim_right": right[False] / max(1, all_[False]),
        "citations_written_right": right[True] / max(1, all_[True]),
    }


def _read(data: Path, name: str) -> str:
    if name in SETS:
        is_there = (data / "summaries" / f"{name}.jsonl").is_file()
        articles = read_articles(data, name)[:MOST_ARTICLES] if is_there else []
        return "\n\n".join(article.source for article in articles)
    file = data / "docs" / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def sample(document: str, count: int) -> list[tuple[int, int]]:
    """Returns sentences at even distances that stand in the document once."""
    spans = [(part.start, part.end) for part in split_sentences(document) if part.is_prose]
    times = Counter(fold(document[start:end]) for start, end in spans)
    once = [
        (start, end)
        for start, end in spans
        if FEWEST_WORDS <= len(document[start:end].split()) <= MOST_WORDS and times[fold(document[start:end])] == 1
    ]
    return [once[at * len(once) // count] for at in range(min(count, len(once)))]


def tell(document: str, spans: Sequence[tuple[int, int]]) -> Iterator[Told]:
    """Yields the sentences of a summary: as they are, shortened, as they are, joined, and so on."""
    for at, (start, end) in enumerate(spans):
        words = " ".join(document[start:end].split())
        if at % 2 == 0:
            yield Told(words, ((start, end),), is_written=False)
        elif at % 4 == 1 or at + 1 == len(spans):
            kept = [word for number, word in enumerate(words.split(), 1) if number % _LEFT_OUT]
            yield Told(" ".join(kept), ((start, end),), is_written=True)
        else:
            following = " ".join(document[slice(*spans[at + 1])].split())
            joined = f"{words.rstrip('.!?:; ')}, and {following[:1].lower()}{following[1:]}"
            yield Told(joined, ((start, end), spans[at + 1]), is_written=True)


async def _cited(document: str, told: Sequence[Told]) -> list[list[SummaryCitation]]:
    """Returns the citations of each sentence; each is a paragraph of its own."""
    chunks = [
        SourceChunk(index, 0, text)
        for index, text in enumerate(split_by_tokens(document, CHUNK_TOKENS, estimate_tokens))
    ]
    text, starts = "", []
    for one in told:
        starts.append(len(text))
        text += one.words + "\n\n"
    found = (await cite(text, CitedDocument(chunks), _BOUNDS, None, OffLoop())).cited
    ends = [*starts[1:], len(text)]
    return [[one for one in found if start <= one.start < end] for start, end in zip(starts, ends, strict=True)]


def is_right(told: Told, citations: Sequence[SummaryCitation], document: str) -> bool:
    """Tells whether a sentence is cited from where it comes."""
    places = [place for one in citations for place in one.places]
    cited = [(place.document_start, place.document_start + place.end - place.start) for place in places]
    if not told.is_written:
        is_verbatim = all(one.support is CitationSupport.VERBATIM for one in citations)
        return bool(cited) and is_verbatim and fold("".join(document[slice(*one)] for one in cited)) == fold(told.words)
    covered = [sum(_overlap(span, one) for one in cited) for span in told.spans]
    is_covered = all(size >= _HALF * (end - start) for size, (start, end) in zip(covered, told.spans, strict=True))
    return is_covered and sum(covered) >= _HALF * sum(end - start for start, end in cited)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))
