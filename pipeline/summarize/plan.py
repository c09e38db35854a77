"""What a summary will cost, worked out before its first call, and how far it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from pipeline.errors import InvalidInputError
from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.config import ALL, SummarizeConfig, Wave
from pipeline.summarize.document import Document, SummarizeOptions
from pipeline.summarize.incremental.known_calls import CallTexts
from pipeline.summarize.packing import BatchPacker, ChunkBatch, ChunkPart, level_calls, to_batches
from pipeline.summarize.steering.goal import measure_document, set_goal
from pipeline.summarize.steering.wishes import PLAIN, Shape
from pipeline.summarize.writer import Writer, WriterLimits

# One superstep of `wave="all"` holds at most this many batches: LangGraph prepares all tasks of a step at once.
_MOST_TASKS_OF_A_STEP = 1_024
MIN_CONTENT_TOKENS = 16
"""A budget below leaves no room for text; such limits are a mistake in the settings."""

_REFLECT_CALLS = 1
_LEAST_SHARE = 0.4
_SPARE, _SHARE_STEPS = 1.4, 10  # to choose from
_TOPICS_CALLS = 1


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """All calls of a summary, and how they follow each other.

    Attributes:
        uses_source_context: True for wave "all", whose batches do not wait for each other's extractions.
        reduce_budget_tokens: most tokens that a merge may read.
        is_exact: True if every answer of full length still fits its reduce group, so that no group can shrink, and no
            batch was taken over from another summary.
        batch_lengths: parts of each batch; empty if all are as full as they may be.
        batch_calls: what the batches are known by to later summaries.
        shape: of the final text.
        goal_share: length that was asked for, as a share of the document's; 1 for all that the writer has room for.
        json_calls: of the whole summary: 1 if it is to be given as JSON too.
    """

    batches: tuple[ChunkBatch, ...]
    level_calls: tuple[int, ...]
    wave: int
    uses_source_context: bool
    concurrency: int
    group_size: int
    max_iterations: int
    reduce_budget_tokens: int
    is_exact: bool
    limits: WriterLimits
    batch_lengths: tuple[int, ...] = ()
    batch_calls: tuple[CallTexts, ...] = ()
    shape: Shape = PLAIN
    goal_share: float = 1.0
    json_calls: int = 0

    @property
    def map_calls(self) -> int:
        """One for each batch."""
        return len(self.batches)

    @property
    def reduce_calls(self) -> int:
        """Of all levels."""
        return sum(self.level_calls)

    @property
    def wave_count(self) -> int:
        """Waves of the map."""
        return -(-len(self.batches) // self.wave)

    @property
    def input_tokens(self) -> int:
        """Of all chunks, each once."""
        return sum(batch.token_count for batch in self.batches)

    @property
    def shape_calls(self) -> int:
        """Of one iteration: 1 if the last text must be written once more to have its shape, else 0."""
        is_shaped = self.limits.shapes_merges and bool(self.level_calls)
        return int(not (self.shape.is_plain or is_shaped))

    @property
    def least_share(self) -> float:
        """What the map must leave of each batch to choose the final text from, in steps that many lengths share.

        0 for a language model, whose map is the same for all lengths. A single batch is left whole: what is chosen
        twice is chosen worse.
        """
        if self.shape.goal is None or self.limits.shapes_merges:
            return 0.0
        if len(self.batches) == 1:
            return 1.0
        return min(1.0, max(_LEAST_SHARE, ceil(self.goal_share * _SPARE * _SHARE_STEPS) / _SHARE_STEPS))

    @property
    def target_tokens(self) -> int:
        """The length that was asked for; 0 for all that the writer has room for."""
        return round(self.goal_share * self.input_tokens) if self.shape.goal else 0

    def calls(self, iterations: int = 1) -> int:
        """Returns all calls when the critic is content, or at the limit, after `iterations`: 270, then 539."""
        each = self.map_calls + self.reduce_calls + self.shape_calls + _REFLECT_CALLS
        return iterations * each + _TOPICS_CALLS + self.json_calls

    def most_repeats(self, iterations: int = 1) -> int:
        """Bounds the calls beside the planned ones: every text of map and reduce, and the JSON, is asked for again.

        And the last text of each iteration once more where a language model misses the length.
        """
        corrections = iterations * int(self.shape.goal is not None and self.limits.shapes_merges)
        texts = iterations * (self.map_calls + self.reduce_calls + self.shape_calls) + self.json_calls
        return (texts + corrections) * self.limits.repeats + corrections

    def max_prompt_tokens(self, iterations: int = 1) -> int:
        """Bounds what all prompts hold: full contexts, full answers; continuations and repairs left out."""
        limits = self.limits
        map_tokens = self.input_tokens + self.map_calls * (limits.context_limit_tokens + limits.overhead_tokens)
        texts = self.reduce_calls * self.group_size
        reduce_tokens = texts * limits.output_tokens + self.reduce_calls * limits.overhead_tokens
        rest = limits.output_tokens + limits.overhead_tokens
        return iterations * (map_tokens + reduce_tokens + (1 + self.shape_calls) * rest) + (1 + self.json_calls) * rest

    def max_completion_tokens(self, iterations: int = 1) -> int:
        """Bounds what all answers hold, continuations left out."""
        return self.calls(iterations) * self.limits.output_tokens

    def cost(self, iterations: int = 1) -> float | None:
        """Bounds what all calls cost, as the tokens are bounded; None where no price is known."""
        usage = LlmUsage(
            self.calls(iterations), self.max_prompt_tokens(iterations), self.max_completion_tokens(iterations)
        )
        return self.limits.prices.cost_if_priced(usage)

    def rounds(self, iterations: int = 1) -> int:
        """Returns the critical path: calls that must follow one another however fast the endpoint is."""
        parallel = self.concurrency
        full_waves, rest = divmod(len(self.batches), self.wave)
        map_rounds = full_waves * -(-self.wave // parallel) + -(-rest // parallel)
        if self.uses_source_context:  # batches do not wait for a wave
            map_rounds = -(-len(self.batches) // parallel)
        reduce_rounds = sum(-(-calls // parallel) for calls in self.level_calls)
        each = map_rounds + reduce_rounds + self.shape_calls + _REFLECT_CALLS
        return iterations * each + _TOPICS_CALLS + self.json_calls

    @property
    def supersteps(self) -> int:
        """Bounds LangGraph's steps, also when every group shrinks to two texts. Its default of 25 is for short runs.

        Between groups that are taken over single texts may stand: a level is then shorter by a third only, and two
        levels by a half at least.
        """
        levels = 2 * len(self.batches).bit_length() + 1
        each = 1 + self.wave_count + 2 * levels + 1
        return self.max_iterations * each + 4


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
    """How far a summary is. It comes with every step, so that a reader may miss any of them.

    Attributes:
        calls_done: planned calls that are finished, by this run, earlier ones or the cache.
        calls_total: planned calls of all iterations begun; grows when a FAIL begins another, or a group must shrink.
        calls_reused: part of `calls_done` that cost nothing in this run.
        eta_s: estimate of the rest; None until a call has been timed.
        joined_events: events that were dropped before this one since the reader was slow.
    """

    phase: Phase
    iteration: int
    calls_done: int
    calls_total: int
    calls_reused: int
    usage: LlmUsage
    elapsed_s: float
    eta_s: float | None
    joined_events: int = 0


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans the summary of a document with a writer and its caller's choices."""

    document: Document
    writer: Writer
    config: SummarizeConfig
    options: SummarizeOptions

    @property
    def packer(self) -> BatchPacker:
        """Packs the batches of the map."""
        limits = self.writer.limits
        return BatchPacker(
            batch_size=self.options.batch_size or self.config.batch_size,
            budget_tokens=content_budget_tokens(limits, self._most_context_tokens),
            count_tokens=self.writer.count_tokens,
            overhead_tokens=limits.text_overhead_tokens,
        )

    @property
    def _most_context_tokens(self) -> int:
        """Of context and critique; with wave "all" no batch sees extractions, which take most of it."""
        limits, config = self.writer.limits, self.config
        if (self.options.wave or config.wave) != ALL or not limits.reads_context:
            return limits.context_limit_tokens
        critique = min(config.critique_tokens, limits.context_limit_tokens // 2)
        return min(limits.context_limit_tokens, config.source_tail_tokens + config.outline_tokens + critique)

    def parts(self) -> list[ChunkPart]:
        """Counts all tokens of the document: the CPU-heavy step of a long one, run it off the loop."""
        return self.packer.parts(self.document.chunks)

    def plan(
        self, parts: Sequence[ChunkPart], cuts: Iterable[range] | None = None, calls: tuple[CallTexts, ...] = ()
    ) -> SummaryPlan:
        """Counts all calls.

        Args:
            cuts: the batches; by default each is as full as it may be.
            calls: what the batches are known by to later summaries.

        Raises:
            InvalidInputError: the writer cannot do what the caller asks for.
        """
        limits, config, options = self.writer.limits, self.config, self.options
        refuse_unable(options, limits)
        full = list(self.packer.cuts(parts, 0, len(parts)))
        cuts = full if cuts is None else list(cuts)
        wave: Wave = options.wave or config.wave
        group_size = options.reduce_group_size or config.reduce_group_size
        budget = reduce_budget_tokens(limits, config, group_size)
        size = measure_document(sum(part.token_count for part in parts), (part.chunk.text for part in parts))
        goal = set_goal(options, config.detail, size, limits.output_tokens)
        return SummaryPlan(
            batches=to_batches(parts, cuts),
            level_calls=tuple(level_calls(len(cuts), group_size)),
            wave=min(len(cuts), _MOST_TASKS_OF_A_STEP if isinstance(wave, str) else wave),
            uses_source_context=wave == ALL,
            concurrency=limits.concurrency,
            group_size=group_size,
            max_iterations=options.max_iterations or config.max_iterations,
            reduce_budget_tokens=budget,
            is_exact=cuts == full and group_size * limits.output_tokens <= budget,
            limits=limits,
            batch_lengths=() if cuts == full else tuple(map(len, cuts)),
            batch_calls=calls,
            shape=Shape(goal, options.form, options.language.strip()),
            goal_share=size.share(goal) if goal else 1.0,
            json_calls=int(bool(options.json_schema)),
        )


def refuse_unable(options: SummarizeOptions, limits: WriterLimits) -> None:
    """Raises InvalidInputError for what only a language model can do, where none writes."""
    for name in ("language", "instructions", "json_schema"):
        if getattr(options, name) and not limits.shapes_merges:
            raise InvalidInputError(f"options.{name}", "nothing, for no language model writes here", "a text")


def content_budget_tokens(limits: WriterLimits, most_context_tokens: int) -> int:
    """Returns what the chunks of a batch may take.

    The most that may stand beside them is set aside, also where less does. The batches, and with them the number of
    calls, are then known before the first call, and no prompt is ever over its budget.
    """
    return max(MIN_CONTENT_TOKENS, limits.prompt_budget_tokens - most_context_tokens)


def reduce_budget_tokens(limits: WriterLimits, config: SummarizeConfig, group_size: int) -> int:
    """Returns what the texts of a merge may take: the model's context without answer, prompt words and critique."""
    critique = min(config.critique_tokens, limits.context_limit_tokens // 2)
    words = limits.overhead_tokens + group_size * limits.text_overhead_tokens + critique
    return max(2, limits.model_context_tokens - limits.output_tokens - words)
