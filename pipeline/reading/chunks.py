"""Chunks of sentences for the embedder, and the tokens of a text.

A chunk has a few hundred tokens and ends where a sentence ends. A model's tokenizer goes over a long text in short
steps. It may hold Python's global lock while it works (1.5 s for 1 MB); between steps other threads get their turn.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.protocols import Tokenizer
from pipeline.reading.passage import Span
from pipeline.reading.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Chunk(Span):
    """A stretch of the normalised text and its tokens."""

    token_count: int


def split_chunks(
    token_offsets: Sequence[tuple[int, int]], sentences: Sequence[Sentence], max_tokens: int
) -> list[Chunk]:
    """Packs whole sentences into chunks, greedily. Together the chunks hold every token once.

    Args:
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


# As much as fits, up to and including white space, else as much as fits. Word pieces never cross white space.
_PIECE_CHARS = 8_000
_PIECE = re.compile(rf"[\s\S]{{0,{_PIECE_CHARS - 1}}}\s|[\s\S]{{1,{_PIECE_CHARS}}}")


def token_offsets(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """Returns start and end of every token of `text`, in code points."""
    if len(text) <= _PIECE_CHARS:
        return list(tokenizer.offsets(text))
    return [
        (piece.start() + start, piece.start() + end)
        for piece in _PIECE.finditer(text)
        for start, end in tokenizer.offsets(piece.group())
    ]
