"""The events of a running summary, the channel that carries them to a slow reader, and what an operator counts.

The server implements the counting with its metrics.
"""

import asyncio
import weakref
from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.plan import SummaryPlan, SummaryProgress
from pipeline.summarize.result import SummaryResult, SummarySection
from pipeline.summarize.retention import Retention
from pipeline.summarize.storage.records import Stage, SummaryStatus
from pipeline.summarize.writer import CriticVerdict


@dataclass(frozen=True, slots=True)
class Accepted:
    """First event: the summary is stored and can be resumed by its id from now on."""

    summary_id: str
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan, before any call; sent again by a resumed run."""

    plan: SummaryPlan
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A map call is finished.

    Attributes:
        is_reused: True if it cost nothing in this run.
        text: what was extracted; None unless the reader asked for texts.
    """

    batch_index: int
    batch_count: int
    chunk_indexes: tuple[int, int]
    pages: tuple[int, int]
    usage: LlmUsage
    is_reused: bool
    retention: Retention
    result_key: str
    progress: SummaryProgress
    text: str | None = None


@dataclass(frozen=True, slots=True)
class GroupDone:
    """A reduce call is finished.

    Attributes:
        level: from 1.
        group_count: of this level, with a lone text that needs no call.
        merged_count: texts that became one.
        usage: of this call, with compressions.
        text: what was written; None unless the reader asked for texts.
    """

    level: int
    group_index: int
    group_count: int
    merged_count: int
    chunk_indexes: tuple[int, int]
    pages: tuple[int, int]
    usage: LlmUsage
    is_reused: bool
    result_key: str
    progress: SummaryProgress
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LayersFound:
    """An iteration has its text, and above it an overview and sections; see `SummaryLayers`."""

    overview: str
    sections: tuple[SummarySection, ...]
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class Reflected:
    """The critic has spoken.

    Attributes:
        retention: what of the document's terms survived in the summary.
    """

    iteration: int
    critic_verdict: CriticVerdict
    critique: str
    retention: Retention
    begins_again: bool
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class TopicsFound:
    """The key topics."""

    topics: tuple[str, ...]
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the reader should know; the summary goes on. Its attributes are those of `SummaryWarning`."""

    code: str
    message: str
    place: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """Last event: the result, complete or partial."""

    result: SummaryResult


WithText = BatchDone | GroupDone
"""Events of calls that write a text. They are progress: a slow reader may miss some."""

Event = Accepted | Planned | BatchDone | GroupDone | LayersFound | Reflected | TopicsFound | Warned | Finished


_MOST_HISTORY = 1_000  # events that a later reader is told of


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
        self._history: list[Event] = []
        self._last_progress: Event | None = None
        self._copies: weakref.WeakSet[EventChannel] = weakref.WeakSet()

    def copy(self, max_progress_events: int) -> "EventChannel":
        """Returns a channel for another reader: what happened so far, then every event; of batches and groups the last.

        Whoever forgets it leaves.
        """
        channel = EventChannel(max_progress_events)
        for event in (*self._history, self._last_progress):
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
        elif len(self._history) < _MOST_HISTORY:
            self._history.append(event)
        self._events.append(event)
        self._changed.set()
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
        while not self._events:
            if self._closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        event = self._events.popleft()
        if isinstance(event, WithText):
            self._progress_count -= 1
            if self._dropped:
                event = replace(event, progress=replace(event.progress, joined_events=self._dropped))
                self._dropped = 0
        return event

    def _drop_oldest(self) -> None:
        position = next(i for i, event in enumerate(self._events) if isinstance(event, WithText))
        del self._events[position]
        self._progress_count -= 1
        self._dropped += 1


class CallOutcome(StrEnum):
    """How a planned call ended."""

    MADE = "made"
    REUSED = "reused"  # its answer was stored already
    FAILED = "failed"
    CANCELLED = "cancelled"


class SummaryObserver(Protocol):
    """Is told of runs and calls, on the event loop. Must be quick and must not raise."""

    def answered_from_store(self) -> None:
        """A request was answered with a result that was there: nothing ran."""

    def run_started(self, *, is_resumed: bool) -> None:
        """A run begins; every run that began is told to have ended."""

    def run_ended(self, status: SummaryStatus, result: SummaryResult | None) -> None:
        """A run ended; the result, complete or partial, is None when nobody was left to read one."""

    def call_ended(self, stage: Stage, outcome: CallOutcome, call_s: float, usage: LlmUsage) -> None:
        """A planned call ended; a reused one took no time and cost nothing."""


class NoObserver:
    """Counts nothing."""

    def answered_from_store(self) -> None:
        """See SummaryObserver."""

    def run_started(self, *, is_resumed: bool) -> None:
        """See SummaryObserver."""

    def run_ended(self, status: SummaryStatus, result: SummaryResult | None) -> None:
        """See SummaryObserver."""

    def call_ended(self, stage: Stage, outcome: CallOutcome, call_s: float, usage: LlmUsage) -> None:
        """See SummaryObserver."""
