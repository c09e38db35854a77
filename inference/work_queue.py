"""Everything that waits for a worker: the lanes of all models, and whose turn it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from inference.batch import Batch, ComputeModel
from inference.call import Priority
from inference.entry import Entry
from inference.lane import Lane, predict_seconds


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
