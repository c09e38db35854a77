"""The events of a running summary, and what an operator counts.

The server implements the counting with its metrics.
"""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.plan import SummaryPlan, SummaryProgress
from pipeline.summarize.result import SummaryResult, SummarySection, SummaryWarning
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
class Drafted:
    """What is written of the text of an iteration: a draft while a language model writes it, then the checked text.

    Attributes:
        text: into a channel goes all of it, to the reader what follows the pieces that he has.
        begins_anew: the pieces that the reader has are void.
        is_checked: False for a draft, which no check has read.
    """

    iteration: int
    text: str
    begins_anew: bool = False
    is_checked: bool = False


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
class Finished:
    """Last event: the result, complete or partial."""

    result: SummaryResult


@dataclass(frozen=True, slots=True)
class Shown:
    """Which texts a reader sees before the result.

    Attributes:
        include_text: that of every BatchDone and GroupDone.
        include_draft: Drafted; a language model is then asked to send the last text in pieces.
    """

    include_text: bool = False
    include_draft: bool = False


WithText = BatchDone | GroupDone
"""Events of calls that write a text. They are progress: a slow reader may miss some."""

Event = (
    Accepted
    | Planned
    | BatchDone
    | GroupDone
    | Drafted
    | LayersFound
    | Reflected
    | TopicsFound
    | SummaryWarning
    | Finished
)


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
