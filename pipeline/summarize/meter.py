"""Meters a run: what it does, how long the rest will take, and which technical terms its batches hold.

The terms are found while the first calls are on their way.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pipeline.llm.chat_model import LlmUsage
from pipeline.reading.values import Term, find_terms
from pipeline.summarize.packing import ChunkBatch
from pipeline.summarize.plan import Phase, SummaryPlan, SummaryProgress


@dataclass(slots=True)
class Meter:
    """The totals of one run.

    Attributes:
        calls_done: planned calls that are finished, of earlier runs too.
        calls_reused: part of `calls_done` that cost nothing in this run: what earlier runs had finished, and answers of
            other summaries to equal calls.
    """

    plan: SummaryPlan
    calls_done: int
    calls_total: int
    calls_reused: int
    usage: LlmUsage = field(default_factory=LlmUsage)
    phase: Phase = Phase.PLAN
    iteration: int = 1
    _began: float = field(default_factory=time.monotonic)
    _timed_calls: int = 0
    _timed_s: float = 0.0

    @property
    def elapsed_s(self) -> float:
        """Of this run."""
        return time.monotonic() - self._began

    def count(self, usage: LlmUsage, call_s: float) -> None:
        """Adds a call that was made."""
        self.calls_done += 1
        self.usage += usage
        self._timed_calls += 1
        self._timed_s += call_s

    def count_reused(self, *, was_counted: bool) -> None:
        """Adds a call that was not made since its result was stored; `was_counted` if an earlier run had done it."""
        self.calls_reused += not was_counted
        self.calls_done += not was_counted

    def progress(self) -> SummaryProgress:
        """Returns the totals as a reader sees them."""
        return SummaryProgress(
            phase=self.phase,
            iteration=self.iteration,
            calls_done=self.calls_done,
            calls_total=max(self.calls_total, self.calls_done),
            calls_reused=self.calls_reused,
            usage=self.usage,
            elapsed_s=self.elapsed_s,
            eta_s=self._eta_s(),
        )

    def _eta_s(self) -> float | None:
        """Estimates the critical path of the rest, in calls, times the mean duration of a call."""
        if not self._timed_calls:
            return None
        left = max(0, self.calls_total - self.calls_done) / max(1, self.calls_total)
        iterations = max(1, self.iteration)
        return left * self.plan.rounds(iterations) * self._timed_s / self._timed_calls


# Between two batches that are read ahead. Python runs one thread at a time, so that a thread that reads without a
# pause makes every request that the event loop sends wait for it: 64 requests at once took 0.3 s longer.
_PAUSE_S = 0.005


class BatchTerms:
    """Finds the terms of each batch once, whoever needs them first."""

    def __init__(self, batches: Sequence[ChunkBatch]) -> None:
        self._batches = batches
        self._terms: list[tuple[Term, ...] | None] = [None] * len(batches)
        self._stopped = False

    def of(self, index: int) -> tuple[Term, ...]:
        """Returns the distinct terms of a batch."""
        terms = self._terms[index]
        if terms is None:
            terms = tuple(find_terms("\n".join(chunk.text for chunk in self._batches[index].chunks)))
            self._terms[index] = terms
        return terms

    async def read_ahead(self, off_loop: Callable[[Callable[[], object]], Awaitable[object]]) -> None:
        """Reads all batches one by one on a thread, with pauses in between. Cancel it when nobody needs it any more."""
        for index in range(len(self._batches)):
            if self._terms[index] is None:
                await off_loop(lambda index=index: self.of(index))  # type: ignore[misc]  # mypy types no defaults
                await asyncio.sleep(_PAUSE_S)

    def of_document(self) -> dict[Term, None]:
        """Returns the distinct terms of all batches. CPU-heavy if not all were read: run it off the loop."""
        terms: dict[Term, None] = {}
        for index in range(len(self._batches)):
            if self._stopped:
                break
            terms.update(dict.fromkeys(self.of(index)))
        return terms

    def stop(self) -> None:
        """Ends `of_document` early: nobody needs it any more."""
        self._stopped = True
