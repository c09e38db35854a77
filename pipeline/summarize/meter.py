"""Counts what a run does, and estimates how long the rest takes."""

import time
from dataclasses import dataclass, field

from pipeline.llm.llm_usage import LlmUsage
from pipeline.summarize.events import Phase, Progress
from pipeline.summarize.plan import Plan


@dataclass(slots=True)
class Meter:
    """The totals of one run.

    Attributes:
        plan: of the summary.
        calls_done: planned calls that are finished, of earlier runs too.
        calls_total: planned calls of all iterations begun.
        calls_reused: planned calls that cost nothing in this run.
        usage: of this run.
        phase: what the graph is at.
        iteration: from 1.
    """

    plan: Plan
    calls_done: int
    calls_total: int
    calls_reused: int = 0
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
        """Adds a call that was not made since its result was stored; `was_counted` if it is in `calls_done` already."""
        self.calls_reused += 1
        self.calls_done += not was_counted

    def progress(self) -> Progress:
        """Returns the totals as a reader sees them."""
        return Progress(
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
