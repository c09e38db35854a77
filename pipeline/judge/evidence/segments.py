"""The summary in parts: sentences, cut at semicolons too. Lines that are wrapped prose are not line ends."""

import re
from dataclasses import dataclass

from pipeline.judge.evidence.reading import ReadText
from pipeline.protocols import Tokenizer
from pipeline.text.passage import Passage

_SEMICOLON = re.compile(r"[;；]+\s*")


@dataclass(frozen=True, slots=True)
class SegmentSpan:
    """A segment before anything is known about its meaning.

    Attributes:
        passage: where it stands in the summary.
        sentences: of the summary that it is a part of, or made of.
        token_count: by the request's tokenizer.
        stems: distinct stems of its content words.
    """

    passage: Passage
    sentences: range
    token_count: int
    stems: frozenset[str]

    def containment(self, article: frozenset[str]) -> float:
        """Returns the share of its stems that the article has, in [0, 1]; 1 without content words."""
        return len(self.stems & article) / len(self.stems) if self.stems else 1.0

    def jaccard(self, article: frozenset[str]) -> float:
        """Returns shared stems of all stems of both, in [0, 1]."""
        union = self.stems | article
        return len(self.stems & article) / len(union) if union else 0.0


def find_segments(summary: ReadText, tokenizer: Tokenizer, min_tokens: int) -> tuple[SegmentSpan, ...]:
    """Returns the segments of at least `min_tokens` tokens; the whole summary as one when all are shorter."""
    segments = [
        _segment(summary, start, end, range(index, index + 1), tokenizer)
        for index, sentence in enumerate(summary.sentences)
        for start, end in _parts(summary.text.text, sentence.start, sentence.end)
    ]
    long_enough = [segment for segment in segments if segment.token_count >= min_tokens]
    return tuple(long_enough) or (_whole(summary, tokenizer),)


def _whole(summary: ReadText, tokenizer: Tokenizer) -> SegmentSpan:
    return _segment(summary, 0, len(summary.text.text), range(len(summary.sentences)), tokenizer)


def _segment(summary: ReadText, start: int, end: int, sentences: range, tokenizer: Tokenizer) -> SegmentSpan:
    passage = summary.text.passage(start, end)
    stems = summary.table.content_stems(summary.table.between(start, end))
    return SegmentSpan(passage, sentences, len(tokenizer.offsets(passage.text)), frozenset(stems))


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    bounds = [start]
    for semicolon in _SEMICOLON.finditer(text, start, end):
        bounds += [semicolon.start(), semicolon.end()]
    bounds.append(end)
    return [(first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=True) if first < last]
