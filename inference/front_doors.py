"""Embeds texts, and computes entailment of premise and hypothesis pairs: tokenize, submit to the batcher, report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from inference.backend import Float32
from inference.batching.batcher import DynamicBatcher
from inference.batching.in_flight import Encoded
from inference.call import Call
from inference.errors import InferenceError
from inference.models.model import LoadedModel

Item = TypeVar("Item", str, tuple[str, str])

Mark = tuple[int, int, float]
"""A token of a hypothesis: first character, the one behind its last, probability that it is not supported."""


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """One result for each item of a call, in the order of the items.

    A failed item has a row of NaN and an error; the others are not affected. `queue_s` ends, and `compute_s` begins,
    with the call's last batch.
    """

    values: Float32  # of texts: vectors of length 1; of pairs: probabilities of entailment, neutral and contradiction
    errors: Mapping[int, InferenceError]  # by index of the item
    token_counts: tuple[int, ...]  # special tokens included, after truncation
    truncated: tuple[bool, ...]  # whether part of the item was left out
    queue_s: float
    compute_s: float
    cache_hit_count: int  # items answered from the cache, or by work of the same owner that was in flight already
    marks: tuple[tuple[Mark, ...], ...] = ()  # by `check`; none of a failed pair, of what was cut off, or by a graph


class _Model:
    """A model, and the way into its batcher: both front doors take the same steps.

    Args:
        thread: tokenizes long texts and lists beside the event loop. Calls take turns slice by slice, so a list of ten
            thousand texts delays a single long one by one slice.
    """

    def __init__(self, model: LoadedModel, batcher: DynamicBatcher, thread: Executor) -> None:
        self.model = model
        self._batcher = batcher
        self._thread = thread
        self.check_room = partial(batcher.check_room, 1)  # raises RefusedError where no item would be admitted now

    async def _compute(
        self,
        items: Sequence[Item],
        encode: Callable[[Sequence[Item]], list[Encoded]],
        call: Call,
        offsets: Sequence[Sequence[tuple[int, int]]] = (),
    ) -> ItemBatch:
        """Tokenizes and computes all items, or raises before anything was computed.

        Args:
            offsets: places of the tokens that are marked, of each item, once it is tokenized.
        """
        if sum(map(count_chars, items)) <= 2_000:  # noqa: PLR2004 - as long as asking the thread takes
            self._batcher.check_room(len(items), call)
            rows = encode(items)
        else:
            with self._batcher.held(len(items), call):
                rows = await self._encode_beside(items, encode, call)
        if call.owner:  # or the time, and the count of hits, would tell what others have asked
            owner = call.owner.encode() + b"\0"
            for row in rows:
                row.key = owner + row.key
        ticket = await self._batcher.submit(rows, call)
        return ItemBatch(
            values=ticket.values,
            errors=ticket.errors,
            token_counts=tuple([row.length for row in rows]),
            truncated=tuple([row.is_truncated for row in rows]),
            queue_s=ticket.started_s - ticket.queued_s,
            compute_s=ticket.finished_s - ticket.started_s,
            cache_hit_count=ticket.cache_hit_count,
            marks=tuple(to_marks(spans, ticket.marks.get(index)) for index, spans in enumerate(offsets)),
        )

    async def _encode_beside(
        self, items: Sequence[Item], encode: Callable[[Sequence[Item]], list[Encoded]], call: Call
    ) -> list[Encoded]:
        """Tokenizes on the thread, about 10 ms at a time. Raises ShuttingDownError."""
        loop, rows = asyncio.get_running_loop(), list[Encoded]()
        while len(rows) < len(items):
            self._batcher.check_room(0, call)
            stop, chars = len(rows), 0
            while stop < len(items) and chars < 20_000:  # noqa: PLR2004 - at 2 million a second
                chars += count_chars(items[stop])
                stop += 1
            rows += await loop.run_in_executor(self._thread, encode, items[len(rows) : stop])
        return rows


class NliModel(_Model):
    """The NLI cross-encoder, behind the batcher."""

    async def entail(self, pairs: Sequence[tuple[str, str]], call: Call = Call()) -> ItemBatch:  # noqa: B008
        """Scores (premise, hypothesis) pairs. A pair over the model's `max_tokens` is cut and flagged.

        Raises:
            RefusedError: nothing was admitted (queue full, list too long, shutting down).
            DeadlineExpiredError: the deadline passed before all of it was begun.
        """
        encode = partial(self.model.encoder.encode_pairs, memo={})  # a text of many pairs is tokenized once
        return await self._compute(pairs, encode, call)

    async def check(self, pairs: Sequence[tuple[str, str]], call: Call = Call()) -> ItemBatch:  # noqa: B008
        """Scores (premise, hypothesis) pairs, and each token of the hypotheses. Takes and raises what `entail` does."""
        encoder, memo, offsets = self.model.encoder, dict[str, Any](), list[list[tuple[int, int]]]()

        def encode(pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
            rows = encoder.encode_pairs(pairs, memo)
            offsets.extend(encoder.hypothesis_offsets(pair[1], row) for pair, row in zip(pairs, rows, strict=True))
            return rows

        return await self._compute(pairs, encode, call, offsets)


class EmbeddingModel(_Model):
    """The sentence embedder, behind the batcher."""

    async def embed(self, texts: Sequence[str], call: Call = Call()) -> ItemBatch:  # noqa: B008  (frozen)
        """Embeds all texts. A text over the model's `max_tokens` is cut and flagged. Raises what `entail` does."""
        return await self._compute(texts, self.model.encoder.encode_texts, call)


def to_marks(offsets: Sequence[tuple[int, int]], numbers: Float32 | None) -> tuple[Mark, ...]:
    """Joins the places and the numbers of tokens; tokens without a character are left out."""
    if numbers is None:
        return ()
    spans = zip(offsets, numbers.tolist(), strict=False)  # behind the last token of the text stands a special one
    return tuple((start, end, number) for (start, end), number in spans if start < end)


def count_chars(item: str | tuple[str, ...]) -> int:
    """Characters of a text or of a tuple of texts."""
    return len(item) if isinstance(item, str) else sum(map(len, item))
