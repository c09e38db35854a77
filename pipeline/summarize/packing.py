"""Packs chunks into map batches by tokens: as many as the batch size and the prompt's budget allow, in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipeline.summarize.splitting import split_by_tokens
from pipeline.summarize.writer import SourceChunk, WriterLimits

MIN_CONTENT_TOKENS = 16
"""A budget below leaves no room for text; such limits are a mistake in the settings."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one map call reads.

    Attributes:
        chunks: at least one; parts of one chunk may be in several batches.
        token_count: of all chunks.
    """

    chunks: tuple[SourceChunk, ...]
    token_count: int

    @property
    def chunk_indexes(self) -> tuple[int, int]:
        """First and last, inclusive."""
        return self.chunks[0].chunk_index, self.chunks[-1].chunk_index

    @property
    def pages(self) -> tuple[int, int]:
        """Lowest and highest, inclusive; (0, 0) without pages."""
        numbers = [chunk.page_number for chunk in self.chunks]
        return min(numbers), max(numbers)


def content_budget_tokens(limits: WriterLimits) -> int:
    """Returns what the chunks of a batch may take.

    The limit of the context is set aside even where less context stands before a batch. The batches, and with them
    the number of calls, are then known before the first call, and no prompt is ever over its budget.
    """
    return max(MIN_CONTENT_TOKENS, limits.prompt_budget_tokens - limits.context_limit_tokens)


def pack_batches(
    chunks: Sequence[SourceChunk],
    *,
    batch_size: int,
    budget_tokens: int,
    count_tokens: Callable[[str], int],
    overhead_tokens: int = 0,
) -> tuple[Batch, ...]:
    """Packs greedily. Together the batches hold every character of every chunk, in order.

    Args:
        chunks: in the order of the document.
        batch_size: most chunks of a batch.
        budget_tokens: most tokens of a batch; a chunk above it is split into parts, which count as chunks.
        count_tokens: of a text.
        overhead_tokens: words of the prompt around each chunk; they count towards the budget.
    """
    batches: list[Batch] = []
    packed: list[SourceChunk] = []
    packed_tokens = 0
    chunk_budget = max(1, budget_tokens - overhead_tokens)
    for chunk in chunks:
        for part, tokens in _parts(chunk, chunk_budget, count_tokens):
            prompt_tokens = packed_tokens + tokens + (len(packed) + 1) * overhead_tokens
            if packed and (len(packed) == batch_size or prompt_tokens > budget_tokens):
                batches.append(Batch(tuple(packed), packed_tokens))
                packed, packed_tokens = [], 0
            packed.append(part)
            packed_tokens += tokens
    if packed:
        batches.append(Batch(tuple(packed), packed_tokens))
    return tuple(batches)


def _parts(chunk: SourceChunk, budget_tokens: int, count_tokens: Callable[[str], int]) -> list[tuple[SourceChunk, int]]:
    tokens = count_tokens(chunk.text)
    if tokens <= budget_tokens:
        return [(chunk, tokens)]
    texts = split_by_tokens(chunk.text, budget_tokens, count_tokens)
    return [(replace(chunk, text=text), count_tokens(text)) for text in texts if text.strip()]
