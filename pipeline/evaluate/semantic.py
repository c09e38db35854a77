"""Semantic: how close the summary as a whole is to the gold summary as a whole."""

from collections.abc import Sequence

import numpy as np

from pipeline.evaluate.result import ChunkSpan, SemanticResult
from pipeline.evaluate.texts import SplitText
from pipeline.model_answers import Embeddings, Float64
from pipeline.reading.passage import TextSpan
from pipeline.reading.windows import Chunk, split_chunks

WeightedChunk = tuple[TextSpan, int]
"""A chunk, and its tokens: its weight in the pool."""


def weighted_chunks(
    text: SplitText, token_offsets: Sequence[tuple[int, int]], max_tokens: int
) -> tuple[WeightedChunk, ...]:
    """Cuts a text into chunks that the embedder reads whole. A text without tokens is one chunk of weight 1."""
    chunks = split_chunks(token_offsets, text.sentences, max_tokens) or [Chunk(0, len(text.source.text), 1)]
    return tuple((text.source.passage(chunk.start, chunk.end), chunk.token_count) for chunk in chunks)


def score_semantic(
    generated: Sequence[WeightedChunk], gold: Sequence[WeightedChunk], embeddings: Embeddings
) -> SemanticResult:
    """Computes the cosine of the two pooled vectors, clipped to [0, 1]."""
    left, right = _pool(generated, embeddings), _pool(gold, embeddings)
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    cosine = float(np.clip(left @ right / norms, -1, 1)) if norms > 0 else 0.0
    return SemanticResult(max(cosine, 0.0), cosine, _spans(generated), _spans(gold))


def _pool(chunks: Sequence[WeightedChunk], embeddings: Embeddings) -> Float64:
    """Returns the mean of the chunks' vectors weighted by tokens, shape (dimension,)."""
    weights = np.array([token_count for _, token_count in chunks], dtype=np.float64)
    vectors = embeddings.of([passage.text for passage, _ in chunks])
    return np.asarray(weights @ vectors / weights.sum())


def _spans(chunks: Sequence[WeightedChunk]) -> tuple[ChunkSpan, ...]:
    return tuple(ChunkSpan(passage.start, passage.end, token_count) for passage, token_count in chunks)
