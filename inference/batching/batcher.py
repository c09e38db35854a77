"""Dynamic batching: items of many calls meet in the forward passes that cost them least."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from inference.backend import Float32
from inference.batching.admission import Admission
from inference.batching.batch import Batch, ComputeModel, Drop
from inference.batching.in_flight import Encoded, Entry, Ticket
from inference.batching.lane import Source
from inference.batching.worker_pool import WorkerPool
from inference.call import Call
from inference.config import InferenceConfig
from inference.errors import DeadlineExpiredError, NoWorkerError, RefusedError, ShuttingDownError
from inference.statistics import BatchRecord, ModelStatistics, Observe

_SLICE_ITEMS = 256  # queued at a time, about 1 ms, so that a long list does not hold up the loop


class DynamicBatcher:
    """Admits the items of one model, answers them from cache or workers, and accounts for every one of them.

    Lives on the event loop's thread; the workers see only entries and batches. There is no timer: an item is offered to
    the workers as soon as it is admitted. Batches grow because items arrive while workers are busy. An item that is
    asked for twice is computed once, and stays in flight as long as one caller wants it.
    """

    def __init__(
        self, model: ComputeModel, pool: WorkerPool, config: InferenceConfig, *, observe: Observe | None = None
    ) -> None:
        """Adds the model to the pool, which must not have been entered yet."""
        self._model = model
        self._pool = pool
        self._observe = observe
        self._source = Source(model, self._deliver)
        self._admission = Admission(config.queue, lambda items, call: self._turn_s(items * self._usual_s, call))
        self._cache = ResultCache(config.cache.max_bytes)
        self._in_flight: dict[bytes, Entry] = {}
        self._held = Counter[str]()  # items that are tokenized, by caller: they will be in the queue soon
        self._counters = ModelStatistics()
        self._usual_s = 0.0  # compute time of an item, as the last hundred were
        self._slowdown = 1.0  # what batches take, with the pauses between them, by what the cost table says
        self._lag_s = 0.0  # from the end of a batch until the event loop hears of it
        self._is_closing = False
        self._drained: asyncio.Event | None = None
        pool.queue.sources.append(self._source)

    def check_room(self, item_count: int, call: Call) -> None:
        """Refuses a call before any work is done for it, tokenization included.

        Raises:
            ShuttingDownError: the batcher is closing.
            NoWorkerError: nobody would compute it.
            QueueFullError, ListTooLongError: see `Admission.check`; or it would not be done in time.
        """
        if self._is_closing:
            raise ShuttingDownError
        if not self._pool.is_alive:
            raise NoWorkerError
        self._admission.check(item_count, item_count, call)  # no item has less than one token
        if item_count:
            self._check_deadline(item_count * self._usual_s, self._usual_s, call, 2.8)

    @contextmanager
    def held(self, item_count: int, call: Call) -> Iterator[None]:
        """Admits items while they are tokenized elsewhere, before they are submitted. Raises what `check_room` does."""
        self.check_room(item_count, call)
        self._admission.add(call.caller, item_count)
        self._held += (counted := Counter({call.caller: item_count}))
        try:
            yield
        finally:
            self._held -= counted
            self._admission.remove(call.caller, item_count)
            self._check_drained()

    async def submit(self, items: Sequence[Encoded], call: Call) -> Ticket:
        """Computes all items. Refuses at once or answers; items are answered one by one in the ticket.

        Raises:
            RefusedError: there is no room for all of them.
            DeadlineExpiredError: the deadline passed before all of them were begun.
        """
        now_s = self._pool.clock()
        self.check_room(0, call)
        ticket = Ticket(len(items), self._model.dimension, call, now_s=now_s)
        misses = self._answer_cached(ticket, items)
        if not misses:
            return ticket
        if call.deadline_s is not None and call.deadline_s <= now_s:
            self._counters.expired_items += len(misses)
            raise DeadlineExpiredError
        lengths = [items[index].length for index in misses if items[index].key not in self._in_flight]
        self._admission.check(len(misses), sum(lengths), call)
        if lengths:
            worths = self._model.limits.worths
            self._check_deadline(sum(worths[length] for length in lengths), worths[max(lengths)], call, 2.5)
        self._admission.add(call.caller, len(misses))
        queued = 0
        try:
            while queued < len(misses) and not ticket.future.done():
                if queued:
                    await asyncio.sleep(0)
                self._queue(ticket, items, misses[queued : queued + _SLICE_ITEMS])
                queued += _SLICE_ITEMS
            await ticket.future
        except BaseException:
            unqueued = max(0, len(misses) - queued)
            self._admission.remove(call.caller, unqueued)
            self._leave(ticket, unqueued)
            raise
        return ticket

    def _turn_s(self, seconds: float, call: Call) -> float:
        """How long it would take until so much more work of a call is done."""
        seconds += self._held[call.caller] * self._usual_s
        return self._pool.predict_turn(self._source, call, seconds) * self._slowdown

    def _check_deadline(self, seconds: float, longest_s: float, call: Call, spare: float) -> None:
        """Refuses work that could be done in time, were it not for what waits before it. Raises QueueFullError.

        Args:
            seconds: compute time of the work.
            longest_s: of its largest item.
            spare: how often its turn must fit: less often of what is tokenized, which would be in vain.
        """
        if call.deadline_s is None:
            return
        left_s = call.deadline_s - self._pool.clock() - self._lag_s
        alone_s = max(seconds / self._pool.worker_count, longest_s) * self._slowdown
        turn_s = self._turn_s(seconds, call)
        if alone_s <= left_s < turn_s * spare:  # predictions err, late work is lost, a longer queue serves nobody
            raise self._admission.refusal(turn_s)

    def close(self) -> None:
        """Admits nothing more."""
        self._is_closing = True

    async def drained(self) -> None:
        """Waits until everything that was admitted is answered. After `close`."""
        self._drained = asyncio.Event()
        self._check_drained()
        await self._drained.wait()

    def statistics(self) -> ModelStatistics:
        """What this batcher has done and is doing."""
        return replace(
            self._counters,
            pending_items=self._admission.items,
            pending_tokens=self._admission.tokens,
            cached_rows=len(self._cache),
            cached_bytes=self._cache.byte_count,
            refused_calls=self._admission.refused_count,
        )

    def _answer_cached(self, ticket: Ticket, items: Sequence[Encoded]) -> list[int]:
        """Answers what the cache knows. Returns the indices of the rest."""
        misses: list[int] = []
        for index, item in enumerate(items):
            row = self._cache.get(item.key)
            if row is None:
                misses.append(index)
            else:
                ticket.answer(index, row)
        ticket.cache_hit_count = len(items) - len(misses)
        self._counters.cached_items += ticket.cache_hit_count
        return misses

    def _queue(self, ticket: Ticket, items: Sequence[Encoded], indices: Sequence[int]) -> None:
        """Attaches items to the computation in flight or starts one."""
        call, in_flight = ticket.call, self._in_flight
        fresh: list[Entry] = []
        for index in indices:
            item = items[index]
            entry = in_flight.get(item.key)
            if entry is None:
                entry = Entry(item, call, now_s=ticket.queued_s, worth_s=self._model.limits.worths[item.length])
                in_flight[item.key] = entry
                self._admission.tokens += item.length
                fresh.append(entry)
            else:
                self._join(ticket, entry)
            entry.waiters.append((ticket, index))
            ticket.entries.append(entry)
        if fresh:
            self._pool.put(self._source, fresh)

    def _join(self, ticket: Ticket, entry: Entry) -> None:
        entry.allow(ticket.call.deadline_s)
        if ticket.call.priority < entry.priority or ticket.call.caller != entry.caller:
            self._pool.join(self._source, entry, ticket.call)
        ticket.cache_hit_count += 1
        self._counters.joined_items += 1

    def _leave(self, ticket: Ticket, unqueued: int = 0) -> None:
        """Takes a call that ended early out of everything it still waits for. Again, it does nothing."""
        gone = unqueued
        for entry in ticket.entries:
            others = [waiter for waiter in entry.waiters if waiter[0] is not ticket]
            left = len(entry.waiters) - len(others)
            if left == 0:
                continue
            entry.waiters = others
            self._admission.remove(ticket.call.caller, left)
            gone += left
            if not others and self._pool.remove(self._source, entry):
                self._forget(entry)
        if ticket.error is None:
            self._counters.cancelled_items += gone
        elif isinstance(ticket.error, DeadlineExpiredError):
            self._counters.expired_items += gone
        self._check_drained()

    def _forget(self, entry: Entry) -> None:
        del self._in_flight[entry.encoded.key]
        self._admission.tokens -= entry.length

    def _deliver(self, batch: Batch) -> None:
        """Hands a batch's results to everyone who waits for them. Called on the event loop by the pool."""
        if batch.is_void:
            return
        self._lag_s += 0.1 * (self._pool.clock() - batch.finished_s - self._lag_s)
        for index, entry in enumerate(batch.entries):
            self._forget(entry)
            for ticket, _ in entry.waiters:
                self._admission.remove(ticket.call.caller, 1)
            self._answer_waiters(entry, batch, index)
        if batch.values:
            self._note(batch)
        for entry, drop in batch.dropped:
            self._drop(entry, drop, batch.started_s)
        self._check_drained()

    def _answer_waiters(self, entry: Entry, batch: Batch, index: int) -> None:
        waiters, entry.waiters = entry.waiters, []
        error = batch.failures.get(index)
        if error is None:
            row = batch.values[index]
            self._cache.put(entry.encoded.key, row)
            self._counters.computed_items += len(waiters)
            for ticket, item in waiters:
                ticket.started_s = max(ticket.started_s, batch.started_s)  # the last batch counts
                ticket.finished_s = max(ticket.finished_s, batch.finished_s)
                ticket.answer(item, row)
            return
        self._counters.failed_items += len(waiters)
        for ticket, item in waiters:
            if isinstance(error, RefusedError):
                ticket.fail(error)
            else:
                ticket.fail_item(item, error)

    def _drop(self, entry: Entry, drop: Drop, now_s: float) -> None:
        """Fails the callers whose deadline made a worker drop an entry, unless one with more time has joined."""
        fastest_s = now_s + self._model.limits.costs.seconds(1, entry.length, entry.length)
        late = [ticket for ticket, _ in entry.waiters if not _has_time(ticket.call, fastest_s)]
        entry.waiters = [waiter for waiter in entry.waiters if _has_time(waiter[0].call, fastest_s)]
        if entry.waiters:
            self._pool.put(self._source, [entry])
        else:
            self._forget(entry)
        for ticket in late:
            self._admission.remove(ticket.call.caller, 1)
        if drop is Drop.EXPIRED:
            self._counters.expired_items += len(late)
        else:
            self._counters.shed_items += len(late)
        for ticket in late:
            ticket.fail(DeadlineExpiredError())
            self._leave(ticket)

    def _note(self, batch: Batch) -> None:
        tokens = sum(entry.length for entry in batch.entries)
        rows = len(batch.entries)
        record = BatchRecord(
            model=self._model.name,
            rows=rows,
            tokens=tokens,
            padded_tokens=rows * max(entry.length for entry in batch.entries),
            queue_s=batch.started_s - min(entry.queued_s for entry in batch.entries),
            compute_s=batch.finished_s - batch.started_s,
        )
        costs = self._model.limits.costs
        predicted_s = costs.seconds(rows, tokens, max(entry.length for entry in batch.entries))
        pause_s = max(0.0, min(record.queue_s, batch.started_s - batch.free_s))
        # A batch that hangs once says little of the next.
        measured = min((record.compute_s + pause_s) / max(predicted_s, 1e-9), 10.0)
        weight = 0.3 if measured > self._slowdown else 0.05  # what is promised in a quiet moment is late in the next
        self._slowdown += weight * (measured - self._slowdown)
        mean_s = sum(entry.worth_s for entry in batch.entries) / rows
        self._usual_s += min(1.0, rows / 100) * (mean_s - self._usual_s) if self._usual_s else mean_s
        self._counters.add_batch(record)
        if self._observe is not None:
            self._observe(record)

    def _check_drained(self) -> None:
        if self._drained is not None and self._admission.items == 0:
            self._drained.set()


def _has_time(call: Call, until_s: float) -> bool:
    return call.deadline_s is None or call.deadline_s >= until_s


class ResultCache:
    """Least-recently-used rows by token ids, of one model: a model's hash is part of the key by having its own.

    Lives on the event loop's thread alone. Failures are never put in.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rows: OrderedDict[bytes, Float32] = OrderedDict()
        self.byte_count = 0

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: bytes) -> Float32 | None:
        """The row of `key`, which must not be written to, or None."""
        row = self._rows.get(key)
        if row is not None:
            self._rows.move_to_end(key)
        return row

    def put(self, key: bytes, row: Float32) -> None:
        """Keeps a copy of `row`, and drops the rows used longest ago to make room for it."""
        size = _size(key, row)
        if size > self._max_bytes or key in self._rows:
            return
        self.byte_count += size
        while self.byte_count > self._max_bytes:
            self.byte_count -= _size(*self._rows.popitem(last=False))
        self._rows[key] = row.copy()  # a view would keep the whole batch's array alive


def _size(key: bytes, row: Float32) -> int:
    return len(key) + row.nbytes + 350  # bytes object, array object and linked dict slot: 40 + 112 + ~200
