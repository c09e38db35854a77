"""The channel that carries the events of a running summary to a slow reader."""

import asyncio
import weakref
from collections import deque
from dataclasses import replace

from pipeline.summarize.events import Drafted, Event, WithText

_MOST_HISTORY = 1_000  # events that a later reader is told of


class EventChannel:
    """A queue whose writer never waits and whose memory is bounded.

    Events of single batches and groups are progress: when too many wait, the oldest of them is dropped, and the next
    one says how many were. Since each carries the totals, nothing is lost but the moments. Of drafts only the last
    waits, and the reader gets what he lacks of it as one piece. All other events are kept: each iteration has a few.

    Args:
        max_progress_events: that wait; None keeps all, for a reader who wants the text of every batch. An event holds
            no text, so that even all of a long document are small.
        include_draft: False drops all drafts.
    """

    def __init__(self, max_progress_events: int | None, *, include_draft: bool = False) -> None:
        self._limit = max_progress_events
        self._include_draft = include_draft
        self._draft: Drafted | None = None
        self._draft_waits = False
        self._read_draft: Drafted | None = None
        self._events: deque[Event] = deque()
        self._progress_count = 0
        self._dropped = 0
        self._closed = False
        self._changed = asyncio.Event()
        self._history: list[Event] = []
        self._last_progress: Event | None = None
        self._copies: weakref.WeakSet[EventChannel] = weakref.WeakSet()

    @property
    def wants_drafts(self) -> bool:
        """Whether a reader wants to see texts as they are written."""
        return self._include_draft or any(channel.wants_drafts for channel in tuple(self._copies))

    def copy(self, max_progress_events: int, *, include_draft: bool) -> "EventChannel":
        """Returns a channel for another reader: what happened so far, then every event; of batches and groups the last.

        Whoever forgets it leaves.
        """
        channel = EventChannel(max_progress_events, include_draft=include_draft)
        for event in (*self._history, self._last_progress, None if self._closed else self._draft):
            if event is not None:
                channel.offer(event)
        if self._closed:
            channel.close()
        self._copies.add(channel)
        return channel

    def offer(self, event: Event) -> None:
        """Adds an event. Never waits."""
        if isinstance(event, WithText):
            if self._progress_count == self._limit:
                self._drop_oldest()
            self._progress_count += 1
            self._last_progress = event
        elif isinstance(event, Drafted):
            self._draft = event
        elif len(self._history) < _MOST_HISTORY:
            self._history.append(event)
        if self._include_draft or not isinstance(event, Drafted):
            self._append(event)
        for channel in tuple(self._copies):
            channel.offer(event)

    def close(self) -> None:
        """Ends the stream after the events that wait."""
        self._closed = True
        self._changed.set()
        for channel in tuple(self._copies):
            channel.close()

    async def take(self) -> Event | None:
        """Returns the next event; None when the channel is closed and empty."""
        while True:
            while not self._events:
                if self._closed:
                    return None
                self._changed.clear()
                await self._changed.wait()
            event = self._events.popleft()
            if not isinstance(event, Drafted):
                return self._counted(event)
            self._draft_waits = False
            if (piece := self._piece(event)) is not None:
                return piece

    def _counted(self, event: Event) -> Event:
        if isinstance(event, WithText):
            self._progress_count -= 1
            if self._dropped:
                event = replace(event, progress=replace(event.progress, joined_events=self._dropped))
                self._dropped = 0
        return event

    def _append(self, event: Event) -> None:
        if isinstance(event, Drafted):
            if self._draft_waits:
                self._drop_draft()
            self._draft_waits = True
        self._events.append(event)
        self._changed.set()

    def _drop_oldest(self) -> None:
        position = next(i for i, event in enumerate(self._events) if isinstance(event, WithText))
        del self._events[position]
        self._progress_count -= 1
        self._dropped += 1

    def _drop_draft(self) -> None:
        """Drops the draft that waits, one of the last events: the next one says all that it says."""
        position = next(i for i in range(len(self._events) - 1, -1, -1) if isinstance(self._events[i], Drafted))
        del self._events[position]

    def _piece(self, event: Drafted) -> Drafted | None:
        """Returns what the reader lacks of a text; None if that is nothing."""
        before, self._read_draft = self._read_draft, event
        if before is None:
            return replace(event, begins_anew=True) if event.text else None
        is_same = before.iteration == event.iteration and not before.is_checked and not event.is_checked
        if not is_same or not event.text.startswith(before.text):
            return replace(event, begins_anew=True)
        piece = event.text[len(before.text) :]
        return replace(event, text=piece) if piece else None
