"""The result of a summary: what there is when it ends."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.llm.chat_model import NO_USAGE, LlmUsage
from pipeline.summarize.citations.places import NOT_CITED, Citations
from pipeline.summarize.retention import Retention
from pipeline.summarize.steering.budget import SummaryBudget
from pipeline.summarize.steering.wishes import SummaryLength
from pipeline.summarize.storage.records import SummaryStatus
from pipeline.summarize.writer import CriticVerdict, RemovedDuplicate


class WarningCode(StrEnum):
    """What a warning is about."""

    EMPTY_CHUNKS = "empty_chunks"  # chunks without text were left out
    ANSWER_CUT = "answer_cut"  # an answer was still cut after all continuations
    CRITIC_NOT_CONTENT = "critic_not_content"  # the last iteration was accepted without a PASS
    CRITIC_NOT_UNDERSTOOD = "critic_not_understood"  # a verdict was neither PASS nor FAIL
    FEW_TOPICS = "few_topics"  # fewer key topics than asked for
    SMALL_CONTEXT = "small_context"  # the endpoint's context cannot hold the budgets of the settings
    WRITER_CHANGED = "writer_changed"  # the summary was resumed with another writer
    ITERATION_FAILED = "iteration_failed"  # a later iteration failed; the result is an earlier one
    TOPICS_LEFT_OUT = "invented_topic"  # the summary does not mention them
    LENGTH_MISSED = "length_missed"  # the summary is not within a tenth of the length that was asked for
    FOCUS_MISSED = "focus_missed"  # nothing in the document answers the focus
    JSON_FLAWED = "json_flawed"  # the JSON says what the summary does not, or lacks its end
    TEXT_CUT = "text_cut"  # a partial result holds only the beginning of what was extracted


@dataclass(frozen=True, slots=True)
class SummaryWarning:
    """One warning."""

    code: str  # a `WarningCode`, or a `FaultKind` that the gate found
    message: str
    place: str = ""  # of the document, where the gate found it; empty otherwise
    text: str = ""  # the words at fault, or missing


@dataclass(frozen=True, slots=True)
class StageRetention:
    """What survived one stage, added up over its calls: the terms of each call's input in its output.

    A term of a map call's input also counts as kept if the context shown to the writer has it. The writer is told not
    to repeat that.
    """

    stage: str  # "map" or "reduce"; "join" of texts that were put together without a call, which loses nothing
    level: int  # of the reduction; 0 for the map
    retention: Retention


@dataclass(frozen=True, slots=True)
class SummaryFailure:
    """Why a summary ended before it was done."""

    kind: str
    message: str
    retry_after_s: float | None = None  # when the endpoint asked to be called again; None if it did not


@dataclass(frozen=True, slots=True)
class IntermediateSummary:
    """A text that a map or reduce call wrote on the way to the summary."""

    level: int  # 0 of a batch; else of the merge
    index: int  # its place in the level, from 0
    chunk_indexes: tuple[int, int]  # first and last chunk of the stretch behind it, inclusive
    pages: tuple[int, int]  # likewise
    text: str


@dataclass(frozen=True, slots=True)
class TrustReport:
    """What the gate found in all texts of a summary."""

    part_count: int = 0  # sentences, list items, table rows and lines of code that were checked, at every level
    verbatim_count: int = 0  # those that stand in their input word for word
    read_count: int = 0  # those that a model compared with a passage
    unread_count: int = 0  # those of which only the values were compared
    removed_count: int = 0  # pieces around and between sentences that stated nothing
    dropped_count: int = 0  # sentences
    corrected_count: int = 0  # sentences
    asked_again_count: int = 0  # answers that a second one replaced
    rewritten_count: int = 0  # answers that sentences of the input replaced
    flaw_count: int = 0  # what is still wrong; the summary's text says where


@dataclass(frozen=True, slots=True)
class SummarySection:
    """A section of the document in short."""

    title: str  # its heading
    text: str


@dataclass(frozen=True, slots=True)
class SummaryLayers:
    """The layers above the text."""

    overview: str = ""  # one paragraph that stands alone
    # below the document's highest headings that are two or more; empty without such
    sections: tuple[SummarySection, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A summary, complete or as far as it came."""

    summary_id: str  # names it to callers; a result that is not done can be resumed by it
    document_id: str
    document_name: str
    status: SummaryStatus
    text: str  # the summary; of a partial result the texts of the last level that is complete, else all extractions
    topics: tuple[str, ...]  # key topics, best first; empty in a partial result
    writer: str
    iteration: int  # the one that `text` is of, from 1
    iterations: int
    critic_verdict: CriticVerdict | None  # of the critic on `text`; None if it was not asked
    critique: str
    warnings: tuple[SummaryWarning, ...]
    failure: SummaryFailure | None  # why it is partial; None if it is done
    calls_done: int = 0  # planned calls that are finished
    calls_planned: int = 0  # of all iterations begun
    calls_reused: int = 0  # part of `calls_done` that cost nothing in this run
    usage: LlmUsage = NO_USAGE  # of this run
    elapsed_s: float = 0.0  # of this run
    input_tokens: int = 0
    output_tokens: int = 0
    stages: tuple[StageRetention, ...] = ()  # retention of each stage of the iteration that `text` is of
    retention: Retention | None = None  # distinct terms of the document that `text` has; None in a partial result
    # sentences that were dropped since they stood elsewhere word for word, with their chunks
    duplicates: tuple[RemovedDuplicate, ...] = ()
    duplicate_count: int = 0  # all of them; `duplicates` holds at most 1,000
    trust: TrustReport | None = None  # what the gate found in the texts that `text` was made of; None without a gate
    citation: Citations = NOT_CITED  # where the sentences of `text` stand in the document; none in a partial result
    total_usage: LlmUsage = NO_USAGE  # of all runs; of a result that was stored for an equal request, what it cost then
    total_elapsed_s: float = 0.0  # likewise; a run that was killed counts up to its last heartbeat
    run_count: int = 0  # of them
    current_batch: int = 0  # batches that are extracted, of the iteration begun last
    batch_count: int = 0  # of the plan; 0 before there is one
    # the texts behind `text`, as far as they are shown; only in a view
    intermediate_summaries: tuple[IntermediateSummary, ...] = ()
    length: SummaryLength | None = None  # asked for and got; None if none was asked for, or the result is partial
    # in front of and above `text`; empty in a result that has no text of its own yet
    layers: SummaryLayers = SummaryLayers()
    budget: SummaryBudget | None = None  # of all runs; None without bounds
    json: str = ""  # what the text says, by the caller's schema; empty without one, and in a partial result

    @property
    def flaw_count(self) -> int | None:
        """What the gate left wrong; None without a gate."""
        return self.trust.flaw_count if self.trust else None


@dataclass(frozen=True, slots=True)
class SummaryView:
    """Where a summary stands."""

    summary_id: str
    status: SummaryStatus  # as last written; RUNNING without a living server means that it was killed
    is_running: bool  # True while a living server runs it
    result: SummaryResult
