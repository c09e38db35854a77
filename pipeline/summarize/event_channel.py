"""Carries events from the graph to a reader that may be slow."""

import asyncio
from collections import deque
from dataclasses import replace

from pipeline.summarize.events import BatchDone, Event, GroupDone


class EventChannel:
    """A queue whose writer never waits and whose memory is bounded.

    Events of single batches and groups are progress: when too many wait, the oldest of them is dropped, and the next
    one says how many were. Since each carries the totals, nothing is lost but the moments. All other events are kept;
    there are only a few for each iteration.

    Args:
        max_progress_events: that wait; None keeps all, for a reader who wants the text of every batch. An event holds
            no text, so that even all of a long document are small.
    """

    def __init__(self, max_progress_events: int | None) -> None:
        self._limit = max_progress_events
        self._events: deque[Event] = deque()
        self._progress_count = 0
        self._dropped = 0
        self._closed = False
        self._changed = asyncio.Event()

    def offer(self, event: Event) -> None:
        """Adds an event. Never waits."""
        if isinstance(event, BatchDone | GroupDone):
            if self._progress_count == self._limit:
                self._drop_oldest()
            self._progress_count += 1
        self._events.append(event)
        self._changed.set()

    def close(self) -> None:
        """Ends the stream after the events that wait."""
        self._closed = True
        self._changed.set()

    async def take(self) -> Event | None:
        """Returns the next event; None when the channel is closed and empty."""
        while not self._events:
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        event = self._events.popleft()
        if isinstance(event, BatchDone | GroupDone):
            self._progress_count -= 1
            if self._dropped:
                event = replace(event, progress=replace(event.progress, joined_events=self._dropped))
                self._dropped = 0
        return event

    def _drop_oldest(self) -> None:
        position = next(i for i, event in enumerate(self._events) if isinstance(event, BatchDone | GroupDone))
        del self._events[position]
        self._progress_count -= 1
        self._dropped += 1
