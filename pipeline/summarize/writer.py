"""The interface of a writer, which writes the graph's texts: a language model, or the embedded extractive writer.

The graph decides what is asked, in which order and how much fits; a writer only answers. Every text of a task is the
document's or was made from it: data, never instructions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.config import NO_PRICES, PriceConfig
from pipeline.summarize.document import SourceChunk, SummaryType
from pipeline.summarize.retention import Retention
from pipeline.summarize.steering.wishes import NO_WISHES, PLAIN, Shape, Wishes
from pipeline.summarize.storage.records import StepOutput


class MergeStage(Enum):
    """What a merge is for."""

    INTERMEDIATE = "intermediate"  # a group of several; more merges follow
    FINAL = "final"  # the last group: its text is the summary
    COMPRESS = "compress"  # one text that is too long for its group
    JSON = "json"  # one text that is to be given as JSON
    SHAPE = "shape"  # one text that is to become the summary, in the shape that the caller wants


class CriticVerdict(Enum):
    """What a critic says of a summary."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    UNPARSEABLE = "unparseable"  # the answer begins with neither word


@dataclass(frozen=True, slots=True)
class WriterLimits:
    """How much a writer can read and write at once. All tokens are those of `Writer.count_tokens`."""

    # for what a map call reads: context, critique and chunks together, without the prompt's own words
    prompt_budget_tokens: int
    context_limit_tokens: int  # part of it that context may take; less than `prompt_budget_tokens`
    model_context_tokens: int  # all that the model can hold, prompt and answer
    output_tokens: int  # longest answer of one call; less than `model_context_tokens`
    overhead_tokens: int = 0  # the prompt's own words in the longest prompt
    text_overhead_tokens: int = 0  # words of the prompt around each text of the document
    once_tokens: int = 0  # of a document that is read in one prompt, where its short answer leaves room; 0: none is
    concurrency: int = 1  # calls in flight that make sense; more only wait
    repeats: int = 0  # further calls that a gate may make for one text; none are planned
    # what is less than the settings ask for, since the model's context is small; empty if nothing is
    shortfall: str = ""
    # its texts are sentences of the input, and cost nothing. It is shown no context, and its final merge has no shape:
    # that is given to the text behind it.
    chooses: bool = False
    prices: PriceConfig = NO_PRICES  # of the model's tokens

    def reading_tokens(self, answer_tokens: int) -> int:
        """Returns how long one text may be that is read for an answer: the model's context without other words."""
        return self.model_context_tokens - answer_tokens - self.overhead_tokens - self.text_overhead_tokens


@dataclass(frozen=True, slots=True)
class Extraction:
    """A text that a writer made, with the stretch of the document behind it."""

    text: str
    chunk_indexes: tuple[int, int]  # first and last chunk, inclusive
    pages: tuple[int, int]  # first and last page, inclusive; (0, 0) when the document has no pages


def stretch_of(texts: Sequence[Extraction | StepOutput]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns the first and last chunk, and the lowest and highest page, of neighbouring texts."""
    pages = [number for one in texts for number in one.pages]
    return (texts[0].chunk_indexes[0], texts[-1].chunk_indexes[1]), (min(pages), max(pages))


DraftListener = Callable[[str], None]
"""Is told what is written so far of an answer, again and again; "" when it begins anew. Is quick and never raises."""


@dataclass(frozen=True, slots=True)
class ExtractTask:
    """Map: keep everything technical that a batch of chunks says and the context does not say already."""

    summary_type: SummaryType
    document_name: str
    batch_index: int
    batch_count: int
    chunks: tuple[SourceChunk, ...]  # in the order of the document; at least one
    # what stands before the batch, oldest first: extractions of earlier batches. If `context_is_source`, it is the end
    # of the batch before, as it stands in the document. Already cut to its limit.
    context: tuple[str, ...] = ()
    context_is_source: bool = False
    critique: str | None = None  # what the critic found wrong with the iteration before; None in the first
    wishes: Wishes = NO_WISHES
    # of the batch, that is left to write the final text from: 1 takes it as it is, 0 keeps all that fits the answer
    least_share: float = 0.0
    on_draft: DraftListener | None = field(default=None, compare=False, repr=False)  # by writers that can

    @property
    def extractions(self) -> tuple[Extraction, ...]:
        """The chunks as texts with their places."""
        places = ((one.text, one.chunk_index, one.page_number) for one in self.chunks)
        return tuple(Extraction(text, (chunk, chunk), (page, page)) for text, chunk, page in places)

    @property
    def starts_document(self) -> bool:
        """Whether nothing stands before it."""
        return self.batch_index == 0

    @property
    def ends_document(self) -> bool:
        """Whether nothing stands behind it."""
        return self.batch_index == self.batch_count - 1


@dataclass(frozen=True, slots=True)
class MergeTask:
    """Reduce: one text out of several, nothing lost, nothing said twice."""

    summary_type: SummaryType
    document_name: str
    stage: MergeStage
    level: int
    group_index: int
    group_count: int
    # in the order of the document; at least two, exactly one to compress or to shape
    extractions: tuple[Extraction, ...]
    target_tokens: int  # the answer should not be longer than this; at most `WriterLimits.output_tokens`
    critique: str | None = None
    wishes: Wishes = NO_WISHES
    shape: Shape = PLAIN  # of the summary, where the answer is to be it
    json_schema: str = ""  # that the answer must fit, to give a text as JSON
    on_draft: DraftListener | None = field(default=None, compare=False, repr=False)  # by writers that can

    @property
    def starts_document(self) -> bool:
        """Whether nothing stands before it. Callers count chunks from 0 or from 1."""
        return self.extractions[0].chunk_indexes[0] in (0, 1)

    @property
    def ends_document(self) -> bool:
        """Whether nothing stands behind it."""
        return self.group_index == self.group_count - 1


TextTask = ExtractTask | MergeTask


@dataclass(frozen=True, slots=True)
class CritiqueTask:
    """Reflect: is the summary complete, with its procedures apart and its values intact?"""

    summary_type: SummaryType
    document_name: str
    iteration: int
    summary: str
    retention: Retention  # what of the document's terms survived in it, measured
    wishes: Wishes = NO_WISHES
    target_tokens: int = 0  # the length that was asked for; 0 for all that fits
    passages: str = ""  # what the summary of such a length was made from: sentences of the document


@dataclass(frozen=True, slots=True)
class TopicsTask:
    """Topics: words by which a reader would look for the document."""

    document_name: str
    summary: str
    min_topics: int = 5
    max_topics: int = 10


@dataclass(frozen=True, slots=True)
class RemovedDuplicate:
    """A sentence that stood twice. It was kept once, and this remembers where it was dropped."""

    text: str  # the sentence as it was dropped
    kept_chunks: tuple[int, int]  # first and last chunk of the text that keeps it
    dropped_chunks: tuple[int, int]  # first and last chunk of the text that lost it
    is_exact: bool = True  # False for a near duplicate, which only a writer with models can tell


@dataclass(frozen=True, slots=True)
class Written:
    """A writer's answer to a map or reduce task."""

    text: str
    finish_reason: str  # "stop", or "length" when the answer was still cut after all continuations
    usage: LlmUsage
    # what the writer itself dropped as said twice; a language model cannot tell
    duplicates: tuple[RemovedDuplicate, ...] = ()
    misses_focus: bool = False  # nothing in a longer input answers the focus; a language model cannot tell


@dataclass(frozen=True, slots=True)
class Critique:
    """A critic's answer; `text` holds its reasons and becomes the critique of the next iteration.

    Attributes:
        is_general: a FAIL that names no place of the summary and no term that it lacks: nothing to begin again for.
    """

    critic_verdict: CriticVerdict
    text: str
    usage: LlmUsage
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class TopicList:
    """Topics, best first, without repeats."""

    topics: tuple[str, ...]
    usage: LlmUsage
    left_out: tuple[str, ...] = ()  # those of the answer that the summary does not mention


class Writer(Protocol):
    """Writes the text of a summary. One object serves many summaries at once and keeps nothing between calls.

    Cancelling a call stops the work behind it. Errors are of the tree in `pipeline/llm/errors.py` or of
    `pipeline/errors.py`; they end the summary, which can be resumed.
    """

    @property
    def identity(self) -> str:
        """What results are cached under: everything besides the task that the answer depends on."""

    @property
    def limits(self) -> WriterLimits:
        """Constant for one writer."""

    def count_tokens(self, text: str) -> int:
        """Counts tokens, never too few."""

    async def extract(self, task: ExtractTask) -> Written:
        """Map."""

    async def merge(self, task: MergeTask) -> Written:
        """Reduce."""

    async def critique(self, task: CritiqueTask) -> Critique:
        """Reflect."""

    async def topics(self, task: TopicsTask) -> TopicList:
        """Topics."""
