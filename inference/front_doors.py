"""Embeds texts, and computes entailment of premise and hypothesis pairs: tokenize, submit to the batcher, report.

Both front doors share these steps; they differ in what goes in and in what a row of the result means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from inference.backend import Float32
from inference.batching.batcher import DynamicBatcher
from inference.batching.in_flight import Encoded, Ticket
from inference.call import Call
from inference.errors import InferenceError
from inference.models.model import LoadedModel
from inference.tokens.tokenizer_thread import Item, TokenizerThread, count_chars


@dataclass(frozen=True)
class FrontDoor:
    """The way into one model's batcher."""

    batcher: DynamicBatcher
    thread: TokenizerThread
    inline_chars: int  # up to here tokenizing is cheaper than asking the thread to

    async def compute(
        self, items: Sequence[Item], encode: Callable[[Sequence[Item]], list[Encoded]], call: Call
    ) -> tuple[Ticket, list[Encoded]]:
        """Tokenizes and computes all items, or raises before anything was computed."""
        if self._is_short(items):
            self.batcher.check_room(len(items), call)
            rows = encode(items)
        else:
            self.batcher.hold(len(items), call)
            try:
                rows = await self.thread.encode(items, encode)
            finally:
                self.batcher.release(len(items), call)
        if call.owner:  # or the time, and the count of hits, would tell what others have asked
            owner = call.owner.encode() + b"\0"
            for row in rows:
                row.key = owner + row.key
        return await self.batcher.submit(rows, call), rows

    def _is_short(self, items: Sequence[Item]) -> bool:
        left = self.inline_chars
        for item in items:
            left -= count_chars(item)
            if left < 0:
                return False
        return True


@dataclass(frozen=True, slots=True)
class InferenceTimings:
    """Where a call spent its time. `queue_s` ends, and `compute_s` begins, with its last batch."""

    queue_s: float
    compute_s: float


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """One result for each item of a call, in the order of the items.

    A failed item has a row of NaN and an error; the others are not affected.
    """

    values: Float32  # shape (items, columns)
    errors: Mapping[int, InferenceError]  # by index of the item
    token_counts: tuple[int, ...]  # special tokens included, after truncation
    truncated: tuple[bool, ...]  # whether part of the item was left out
    timings: InferenceTimings
    cache_hit_count: int  # items answered from the cache, or by work of the same owner that was in flight already

    @classmethod
    def of(cls, ticket: Ticket, items: Sequence[Encoded]) -> Self:
        """Takes the results out of a ticket whose items are all answered."""
        return cls(
            values=ticket.values,
            errors=ticket.errors,
            token_counts=tuple([item.length for item in items]),
            truncated=tuple([item.is_truncated for item in items]),
            timings=InferenceTimings(ticket.started_s - ticket.queued_s, ticket.finished_s - ticket.started_s),
            cache_hit_count=ticket.cache_hit_count,
        )


@dataclass(frozen=True, slots=True)
class EmbeddingBatch(ItemBatch):
    """`values` has shape (texts, dimension): L2-normalised vectors."""


@dataclass(frozen=True, slots=True)
class EntailmentBatch(ItemBatch):
    """`values` has shape (pairs, 3): probabilities of entailment, neutral and contradiction, in this order."""


Mark = tuple[int, int, float]
"""A token of a hypothesis: first character, the one behind its last, probability that it is not supported."""


@dataclass(frozen=True, slots=True)
class CheckBatch(EntailmentBatch):
    """`EntailmentBatch`, and for each pair the marks of its hypothesis; none for a failed pair.

    None either where the graph has no marks, and for what was cut off a long pair.
    """

    marks: tuple[tuple[Mark, ...], ...] = ()


class _Model:
    """A model behind its front door."""

    def __init__(self, model: LoadedModel, door: FrontDoor) -> None:
        self.model = model
        self._door = door


class NliModel(_Model):
    """The NLI cross-encoder, behind the batcher."""

    async def entail(self, pairs: Sequence[tuple[str, str]], call: Call = Call()) -> EntailmentBatch:  # noqa: B008
        """Scores (premise, hypothesis) pairs.

        Returns:
            Probabilities in the order of the pairs. A pair over the model's `max_tokens` is cut and flagged.

        Raises:
            RefusedError: nothing was admitted (queue full, list or text too long, shutting down).
            DeadlineExpiredError: the deadline passed before all of it was begun.
        """
        encode = partial(self.model.encoder.encode_pairs, memo={})  # a text of many pairs is tokenized once
        ticket, rows = await self._door.compute(pairs, encode, call)
        return EntailmentBatch.of(ticket, rows)

    async def check(self, pairs: Sequence[tuple[str, str]], call: Call = Call()) -> CheckBatch:  # noqa: B008
        """Scores (premise, hypothesis) pairs, and each token of the hypotheses. Takes and raises what `entail` does."""
        encoder, memo, offsets = self.model.encoder, dict[str, Any](), list[list[tuple[int, int]]]()

        def encode(pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
            rows = encoder.encode_pairs(pairs, memo)
            offsets.extend(encoder.hypothesis_offsets(pair[1], row) for pair, row in zip(pairs, rows, strict=True))
            return rows

        ticket, rows = await self._door.compute(pairs, encode, call)
        marks = tuple(to_marks(spans, ticket.marks.get(index)) for index, spans in enumerate(offsets))
        return replace(CheckBatch.of(ticket, rows), marks=marks)


def to_marks(offsets: Sequence[tuple[int, int]], numbers: Float32 | None) -> tuple[Mark, ...]:
    """Joins the places and the numbers of tokens; tokens without a character are left out."""
    if numbers is None:
        return ()
    spans = zip(offsets, numbers.tolist(), strict=False)  # behind the last token of the text stands a special one
    return tuple((start, end, number) for (start, end), number in spans if start < end)


class EmbeddingModel(_Model):
    """The sentence embedder, behind the batcher."""

    async def embed(self, texts: Sequence[str], call: Call = Call()) -> EmbeddingBatch:  # noqa: B008  (frozen)
        """Embeds all texts.

        Returns:
            Vectors in the order of the texts. A text over the model's `max_tokens` is cut and flagged.

        Raises:
            RefusedError: nothing was admitted (queue full, list or text too long, shutting down).
            DeadlineExpiredError: the deadline passed before all of it was begun.
        """
        ticket, rows = await self._door.compute(texts, self.model.encoder.encode_texts, call)
        return EmbeddingBatch.of(ticket, rows)
