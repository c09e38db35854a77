"""What an operator counts of summaries. The server implements it with its metrics."""

from enum import StrEnum
from typing import Protocol

from pipeline.llm.llm_usage import LlmUsage
from pipeline.summarize.result import SummaryResult
from pipeline.summarize.storage.records import Stage, SummaryStatus


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
