"""Holds what waits for a worker: a lane for each model and priority, and whose turn it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from inference.batching.batch import Batch, predict_seconds
from inference.batching.in_flight import Entry
from inference.batching.lane import CROWD, Lane, Source
from inference.call import Call

_VISIT_S = 1.0  # how long after one guest another is reckoned with


class WorkQueue:
    """Weighted fair sharing of compute time among lanes. The caller holds the pool's lock.

    Each lane has a clock that advances by predicted compute time over weight; the lane whose clock is furthest
    behind goes next. So bulk work gets its share under any interactive load, and the reverse. No model can crowd out
    the other; a lane alone gets everything. A lane that was empty starts at the present: idle time earns no credit.

    A guest comes with little and has nothing waiting, while others have crowds. It waits for the batches in hand and
    for its own. While it waits and for a while after, for more are likely, both are brief.
    """

    def __init__(self) -> None:
        self.sources: list[Source] = []  # the models whose lanes share
        self._suspects: deque[tuple[Source, Entry]] = deque()
        self._virtual_s = 0.0
        self._guest: Entry | None = None  # the last that came
        self._guest_s = float("-inf")  # when it came, or was last seen waiting

    def put(self, source: Source, entries: Sequence[Entry]) -> None:
        """Queues new entries."""
        for entry in entries:
            lane = source.lanes[entry.priority]
            if not lane:
                lane.virtual_s = max(lane.virtual_s, self._virtual_s)
            if len(entries) < CROWD and self._guest_s < entry.queued_s and self._is_guest(entry):
                self._guest, self._guest_s = entry, entry.queued_s
            lane.add(entry)

    def _is_guest(self, entry: Entry) -> bool:
        """Whether a caller has nothing waiting in its priority, and the others on average a crowd."""
        if any(source.lanes[entry.priority].waiting(entry.caller) for source in self.sources):
            return False
        lanes = [lane for _, lane in self._lanes() if lane]
        return bool(lanes) and sum(map(len, lanes)) >= CROWD * sum(1 + lane.caller_count for lane in lanes)

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

    def join(self, source: Source, entry: Entry, call: Call) -> None:
        """Moves an entry to where another caller, who wants it too, is served sooner, if it still waits.

        That is in the lane of its priority, if that is higher, or among the fewer entries that it has waiting.
        """
        if not entry.is_queued or entry.crash_count:
            return
        lane = source.lanes[entry.priority]
        is_sooner = call.priority == entry.priority and lane.waiting(call.caller) < lane.waiting(entry.caller) - 1
        if call.priority < entry.priority or is_sooner:
            lane.remove(entry)
            entry.priority, entry.caller = call.priority, call.caller
            self.put(source, [entry])

    def predict_turn(self, source: Source, call: Call, seconds: float) -> float:
        """Returns the compute time that is given to anybody until so much more work of a call is done.

        Lanes get theirs by weight, callers of a lane alike; nobody waits for more than there is.
        """
        lane = source.lanes[call.priority]
        turn_s = lane.predict_turn(call.caller, seconds)
        others = [one for _, one in self._lanes() if one is not lane]
        return turn_s + sum(min(one.waiting_s, turn_s * one.weight / lane.weight) for one in others)

    def take(self, now_s: float) -> tuple[Source, Batch] | None:
        """Cuts the next batch, or returns None when nothing waits. A batch has entries or dropped ones."""
        if self._suspects:
            source, entry = self._suspects.popleft()
            entry.is_queued = False
            return source, Batch([entry], [], now_s=now_s)
        waiting = [turn for turn in self._lanes() if turn[1]]
        if not waiting:
            return None
        source, lane = min(waiting, key=lambda turn: turn[1].virtual_s)
        self._virtual_s = lane.virtual_s
        if self._guest is not None and self._guest.is_queued:
            self._guest_s = now_s
        entries, dropped = lane.cut(source.model.limits, now_s, has_guests=now_s - self._guest_s < _VISIT_S)
        lane.virtual_s += predict_seconds(entries, source.model.limits) / lane.weight
        return source, Batch(entries, dropped, now_s=now_s)

    def take_all(self) -> list[tuple[Source, Entry]]:
        """Empties the queue."""
        taken = list(self._suspects)
        self._suspects.clear()
        for source, lane in self._lanes():
            taken.extend((source, entry) for entry in lane.take_all())
        for _, entry in taken:
            entry.is_queued = False
        return taken

    def _lanes(self) -> list[tuple[Source, Lane]]:
        return [(source, lane) for source in self.sources for lane in source.lanes.values()]
