"""Keeps track of what is in flight: the call, the computations that it waits for, and the tokenized items in the queue.

Equal items of several calls share one computation, and everyone who waits for it gets the same answer.
"""

from __future__ import annotations

import asyncio

import numpy as np

from inference.backend import Float32
from inference.call import Call
from inference.errors import InferenceError


class Ticket:
    """Collects the answers of one call. Lives on the event loop's thread alone.

    One future for the whole call: a list of a thousand items wakes its caller once.
    """

    def __init__(self, item_count: int, dimension: int, call: Call, *, now_s: float) -> None:
        self.call = call
        self.values: Float32 = np.empty((item_count, dimension), np.float32)
        self.marks: dict[int, Float32] = {}  # by item: what stands behind its `dimension` numbers
        self.error: InferenceError | None = None  # why the whole call failed
        self.errors: dict[int, InferenceError] = {}
        self.missing = item_count  # answers still to come
        self.entries: list[Entry] = []  # what they come from; kept to leave them when the call is cancelled
        self.cache_hit_count = 0
        self.queued_s = self.started_s = self.finished_s = now_s
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def answer(self, index: int, row: Float32) -> None:
        """Takes the result of item `index`."""
        dimension = self.values.shape[1]
        if len(row) == dimension:
            self.values[index] = row
        else:
            self.values[index], self.marks[index] = row[:dimension], row[dimension:]
        self._count_down()

    def fail_item(self, index: int, error: InferenceError) -> None:
        """Takes the error of item `index`; its row is NaN so that it cannot pass for a score."""
        self.values[index] = np.nan
        self.errors[index] = error
        self._count_down()

    def fail(self, error: InferenceError) -> None:
        """Fails the whole call."""
        if not self.future.done():
            self.error = error
            self.future.set_exception(error)
            self.future.exception()  # taken note of: a caller that is cancelled before it looks leaves no warning

    def _count_down(self) -> None:
        self.missing -= 1
        if self.missing == 0 and not self.future.done():
            self.future.set_result(None)


class Encoded:
    """Token ids of one text or pair. A slots class because there is one for each item."""

    __slots__ = ("first_length", "ids", "is_truncated", "key", "length")

    def __init__(self, ids: bytes, first_length: int, *, is_truncated: bool, key: bytes) -> None:
        self.ids = ids  # int32, native order, special tokens included
        self.length = len(ids) // 4
        self.first_length = first_length  # tokens of type 0; the rest is of type 1
        self.is_truncated = is_truncated
        self.key = key  # equal exactly when the model is fed the same, by the same owner


class Entry:
    """What will be computed once, however many items of however many calls asked for it.

    `waiters` belongs to the event loop's thread; `is_queued` is written under the pool's lock.
    """

    def __init__(self, encoded: Encoded, call: Call, *, now_s: float, worth_s: float = 0.0) -> None:
        self.encoded = encoded
        self.length = encoded.length
        self.priority = call.priority
        self.caller = call.caller
        self.deadline_s = call.deadline_s  # the latest of its waiters' deadlines; None when one of them has none
        self.queued_s = now_s
        self.worth_s = worth_s  # what it costs in ideal company
        self.is_queued = False
        self.crash_count = 0  # workers that died while they computed it
        self.waiters: list[tuple[Ticket, int]] = []

    def allow(self, deadline_s: float | None) -> None:
        """Adds a waiter's deadline: the entry is worth computing until the last of them has passed."""
        if self.deadline_s is not None:
            self.deadline_s = None if deadline_s is None else max(self.deadline_s, deadline_s)
