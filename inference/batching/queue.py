"""Holds what waits for a worker: a lane for each model and priority, and whose turn it is.

A lane keeps its entries in order of length and in order of age, as the two ways to fill a batch need them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from itertools import islice

from inference.batching.batch import Batch, BatchLimits, ComputeModel, Drop, plan_nearest, plan_oldest
from inference.batching.in_flight import Entry
from inference.call import Priority

_AS_GOOD = 0.98  # of the throughput of the nearest, for which taking the oldest is the fairer choice


class Lane:
    """A queue from which whole batches are cut. The caller holds the pool's lock.

    Two views of the same entries: lists sorted by length, from which a batch is a slice, and a linked dict in order
    of age (a plain dict finds its first key in time proportional to the keys deleted before it).
    Adding and removing move list tails in memory: 3 us at 16,000 entries.
    """

    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.virtual_s = 0.0  # compute time given to this lane, divided by its weight
        self._lengths: list[int] = []
        self._by_length: list[Entry] = []
        self._by_age: OrderedDict[Entry, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, entry: Entry) -> None:
        """Puts a new entry behind those of its age and among those of its length."""
        index = bisect_right(self._lengths, entry.length)
        self._lengths.insert(index, entry.length)
        self._by_length.insert(index, entry)
        self._by_age[entry] = None
        entry.is_queued = True

    def remove(self, entry: Entry) -> None:
        """Takes one entry out, wherever it is."""
        index = self._index(entry)
        del self._by_length[index], self._lengths[index], self._by_age[entry]
        entry.is_queued = False

    def cut(self, limits: BatchLimits, now_s: float) -> tuple[list[Entry], list[tuple[Entry, Drop]]]:
        """Takes the oldest entry and its best company out. The lane is not empty.

        Entries whose deadline cannot be met are dropped instead, and their callers hear of it before the next batch
        is computed. An entry that can meet it alone but not in company makes the oldest go alone: a larger batch
        may not cost anybody the deadline.

        Returns:
            Either a batch or the dropped; the other is empty.
        """
        entries = self._plan(limits)
        finish_s = now_s + predict_seconds(entries, limits)
        late = [entry for entry in entries if entry.deadline_s is not None and entry.deadline_s < finish_s]
        dropped = [(entry, drop) for entry in late if (drop := _doom(entry, limits, now_s)) is not None]
        if dropped:
            entries = []
        elif late:
            entries = [next(iter(self._by_age))]
        for entry in entries or [entry for entry, _ in dropped]:
            self.remove(entry)
        return entries, dropped

    def take_all(self) -> list[Entry]:
        """Takes everything out."""
        entries = list(self._by_age)
        for entry in entries:
            self.remove(entry)
        return entries

    def _plan(self, limits: BatchLimits) -> list[Entry]:
        oldest = next(iter(self._by_age))
        if len(self._lengths) == 1:
            return [oldest]
        nearest = plan_nearest(self._lengths, self._index(oldest), limits)
        if limits.costs.skips_padding:
            lengths = [entry.length for entry in islice(self._by_age, limits.max_rows)]
            fair = plan_oldest(lengths, limits)
            if fair.quality >= nearest.quality * _AS_GOOD:
                return list(islice(self._by_age, fair.count))
        return self._by_length[nearest.start : nearest.stop]

    def _index(self, entry: Entry) -> int:
        first = bisect_left(self._lengths, entry.length)
        return self._by_length.index(entry, first)  # equal lengths stand in order of age: the oldest is at once


def predict_seconds(entries: list[Entry], limits: BatchLimits) -> float:
    """What a batch will cost; 0 for none."""
    if not entries:
        return 0.0
    lengths = [entry.length for entry in entries]
    return limits.costs.seconds(len(lengths), sum(lengths), max(lengths))


def _doom(entry: Entry, limits: BatchLimits, now_s: float) -> Drop | None:
    """Whether even computing the entry at once and alone is too late, on a machine as quiet as at warm-up."""
    if entry.deadline_s is None or now_s + limits.costs.seconds(1, entry.length, entry.length) <= entry.deadline_s:
        return None
    return Drop.EXPIRED if entry.deadline_s <= now_s else Drop.SHED


class Source:
    """One model's side of the work queue: a lane for each priority, and where its batches are delivered."""

    def __init__(self, model: ComputeModel, deliver: Callable[[Batch], None], *, interactive_weight: int) -> None:
        self.model = model
        self.deliver = deliver  # called on the event loop
        self.lanes = {Priority.INTERACTIVE: Lane(interactive_weight), Priority.BULK: Lane(1)}


class WorkQueue:
    """Weighted fair sharing of compute time among lanes. The caller holds the pool's lock.

    Each lane has a clock that advances by predicted compute time over weight; the lane whose clock is furthest
    behind goes next. So bulk work gets its share under any interactive load, and the reverse, and no model can
    crowd out the other; a lane alone gets everything. A lane that was empty starts at the present: idle time
    earns no credit.
    """

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._suspects: deque[tuple[Source, Entry]] = deque()
        self._virtual_s = 0.0

    def add_source(self, source: Source) -> None:
        """Takes a model's lanes into the sharing."""
        self._sources.append(source)

    def put(self, source: Source, entries: Sequence[Entry]) -> None:
        """Queues new entries."""
        for entry in entries:
            lane = source.lanes[entry.priority]
            if not lane:
                lane.virtual_s = max(lane.virtual_s, self._virtual_s)
            lane.add(entry)

    def put_suspects(self, source: Source, entries: Sequence[Entry]) -> None:
        """Queues entries that a worker died with. They go first and each alone, so that only the cause fails."""
        self._suspects.extend((source, entry) for entry in entries)
        for entry in entries:
            entry.is_queued = True

    def remove(self, source: Source, entry: Entry) -> bool:
        """Takes an entry out. Returns False when a worker has it already."""
        if not entry.is_queued:
            return False
        if entry.crash_count:
            self._suspects.remove((source, entry))
            entry.is_queued = False
        else:
            source.lanes[entry.priority].remove(entry)
        return True

    def promote(self, source: Source, entry: Entry, priority: Priority) -> None:
        """Moves an entry to another lane, if it still waits."""
        if entry.is_queued and not entry.crash_count:
            source.lanes[entry.priority].remove(entry)
            entry.priority = priority
            self.put(source, [entry])

    def take(self, now_s: float) -> tuple[Source, Batch] | None:
        """Cuts the next batch, or returns None when nothing waits. A batch has entries or dropped ones."""
        if self._suspects:
            source, entry = self._suspects.popleft()
            entry.is_queued = False
            return source, Batch([entry], [], now_s=now_s)
        turn = self._next_turn()
        if turn is None:
            return None
        source, lane = turn
        self._virtual_s = lane.virtual_s
        entries, dropped = lane.cut(source.model.limits, now_s)
        lane.virtual_s += predict_seconds(entries, source.model.limits) / lane.weight
        return source, Batch(entries, dropped, now_s=now_s)

    def take_all(self) -> list[tuple[Source, Entry]]:
        """Empties the queue."""
        taken = list(self._suspects)
        self._suspects.clear()
        for source in self._sources:
            for lane in source.lanes.values():
                taken.extend((source, entry) for entry in lane.take_all())
        for _, entry in taken:
            entry.is_queued = False
        return taken

    def _next_turn(self) -> tuple[Source, Lane] | None:
        turn: tuple[Source, Lane] | None = None
        for source in self._sources:
            for lane in source.lanes.values():
                if lane and (turn is None or lane.virtual_s < turn[1].virtual_s):
                    turn = source, lane
        return turn
