"""Chunks of a few hundred tokens that end where sentences end: what the embedder reads of a long text."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.text.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of the normalised text and its tokens."""

    start: int
    end: int
    token_count: int


def split_chunks(
    token_offsets: Sequence[tuple[int, int]], sentences: Sequence[Sentence], max_tokens: int
) -> list[Chunk]:
    """Packs whole sentences into chunks, greedily. Together the chunks hold every token once.

    Args:
        token_offsets: start and end of every token, in order.
        sentences: of the same text, in order.
        max_tokens: a longer sentence is cut between tokens.
    """
    starts = [start for start, _ in token_offsets]
    # For each sentence, the number of tokens up to its end.
    sentence_ends = [bisect_right(starts, sentence.end - 1) for sentence in sentences]
    chunks: list[Chunk] = []
    first = 0
    while first < len(starts):
        last = first + max_tokens
        if last < len(starts):
            fitting = bisect_right(sentence_ends, last)
            if fitting and sentence_ends[fitting - 1] > first:
                last = sentence_ends[fitting - 1]
        last = min(last, len(starts))
        chunks.append(Chunk(starts[first], token_offsets[last - 1][1], last - first))
        first = last
    return chunks
