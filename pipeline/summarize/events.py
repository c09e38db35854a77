"""The events of a running summary, the channel that carries them to slow readers, and what an operator counts.

The server implements the counting with its metrics.
"""

import asyncio
import weakref
from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.plan import SummaryPlan
from pipeline.summarize.result import SummaryResult, SummarySection, SummaryWarning
from pipeline.summarize.retention import Retention
from pipeline.summarize.storage.records import Stage, SummaryStatus
from pipeline.summarize.writer import CriticVerdict


class Phase(StrEnum):
    """What the graph is at."""

    PLAN = "plan"
    MAP = "map"
    REDUCE = "reduce"
    REFLECT = "reflect"
    TOPICS = "topics"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class SummaryProgress:
    """How far a summary is. It comes with every step, so that a reader may miss any of them."""

    phase: Phase
    iteration: int
    calls_done: int  # planned calls that are finished, by this run, earlier ones or the cache
    calls_total: int  # planned calls of all iterations begun; grows when a FAIL begins another, or a group must shrink
    calls_reused: int  # part of `calls_done` that cost nothing in this run
    usage: LlmUsage
    elapsed_s: float
    eta_s: float | None  # estimate of the rest; None until a call has been timed
    joined_events: int = 0  # events that were dropped before this one since the reader was slow


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDone:
    """A call that writes a text is finished. It is progress: a slow reader may miss some."""

    chunk_indexes: tuple[int, int]
    pages: tuple[int, int]
    usage: LlmUsage  # of this call, with compressions
    is_reused: bool  # True if it cost nothing in this run
    result_key: str
    progress: SummaryProgress
    text: str | None = None  # what was written; None unless the reader asked for texts


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDone(TextDone):
    """A map call is finished."""

    batch_index: int
    batch_count: int
    retention: Retention


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDone(TextDone):
    """A reduce call is finished."""

    level: int  # from 1
    group_index: int
    group_count: int  # of this level, with a lone text that needs no call
    merged_count: int  # texts that became one


@dataclass(frozen=True, slots=True)
class Drafted:
    """What is written of the text of an iteration: a draft while a language model writes it, then the checked text."""

    iteration: int
    text: str  # into a channel goes all of it, to the reader what follows the pieces that he has
    begins_anew: bool = False  # the pieces that the reader has are void
    is_checked: bool = False  # False for a draft, which no check has read


@dataclass(frozen=True, slots=True)
class LayersFound:
    """An iteration has its text, and above it an overview and sections; see `SummaryLayers`."""

    overview: str
    sections: tuple[SummarySection, ...]
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class Reflected:
    """The critic has spoken."""

    iteration: int
    critic_verdict: CriticVerdict
    critique: str
    retention: Retention  # what of the document's terms survived in the summary
    begins_again: bool
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class TopicsFound:
    """The key topics."""

    topics: tuple[str, ...]
    progress: SummaryProgress


@dataclass(frozen=True, slots=True)
class Finished:
    """Last event: the result, complete or partial."""

    result: SummaryResult


@dataclass(frozen=True, slots=True)
class Shown:
    """Which texts a reader sees before the result."""

    include_text: bool = False  # that of every BatchDone and GroupDone
    include_draft: bool = False  # Drafted; a language model is then asked to send the last text in pieces


Event = Accepted | Planned | TextDone | Drafted | LayersFound | Reflected | TopicsFound | SummaryWarning | Finished


class CallOutcome(StrEnum):
    """How a planned call ended."""

    MADE = "made"
    REUSED = "reused"  # its answer was stored already
    FAILED = "failed"
    CANCELLED = "cancelled"


class SummaryObserver:
    """Is told of runs and calls, on the event loop. Must be quick and must not raise. This one counts nothing."""

    def answered_from_store(self) -> None:
        """A request was answered with a result that was there: nothing ran."""

    def run_started(self, *, is_resumed: bool) -> None:
        """A run begins; every run that began is told to have ended."""

    def run_ended(self, status: SummaryStatus, result: SummaryResult | None) -> None:
        """A run ended; the result, complete or partial, is None when nobody was left to read one."""

    def call_ended(self, stage: Stage, outcome: CallOutcome, call_s: float, usage: LlmUsage) -> None:
        """A planned call ended; a reused one took no time and cost nothing."""


class EventChannel:
    """A queue whose writer never waits and whose memory is bounded.

    Events of single batches and groups are progress. When too many wait, the oldest of them is dropped, and the next
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
        self._read_draft: Drafted | None = None
        self._events: deque[Event] = deque()
        self._past: deque[Event] = deque(maxlen=1_000)  # what a later reader is told
        self._dropped = 0
        self._closed = False
        self._changed = asyncio.Event()
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
        for event in self._past:
            channel.offer(event)
        if self._closed:
            channel.close()
        self._copies.add(channel)
        return channel

    def offer(self, event: Event) -> None:
        """Adds an event. Never waits."""
        _add(self._past, event, 1)
        if self._include_draft or not isinstance(event, Drafted):
            self._dropped += _add(self._events, event, self._limit)
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
        while True:
            while not self._events:
                if self._closed:
                    return None
                self._changed.clear()
                await self._changed.wait()
            event = self._events.popleft()
            if isinstance(event, TextDone) and self._dropped:
                event = replace(event, progress=replace(event.progress, joined_events=self._dropped))
                self._dropped = 0
            if not isinstance(event, Drafted):
                return event
            if (piece := self._piece(event)) is not None:
                return piece

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


def _add(events: deque[Event], event: Event, most_progress: int | None) -> bool:
    """Adds an event, in place of the oldest of its kind where as many wait as may: of drafts one.

    Returns whether progress was dropped. A draft says all that the one before it says.
    """
    kind, most = (Drafted, 1) if isinstance(event, Drafted) else (TextDone, most_progress)
    places = [at for at, one in enumerate(events) if isinstance(one, kind)] if isinstance(event, kind) and most else []
    is_full = bool(places) and len(places) == most
    if is_full:
        del events[places[0]]
    events.append(event)
    return is_full and kind is TextDone
