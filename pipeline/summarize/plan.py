"""What a summary will cost, worked out before its first call: its batches, its length and all calls.

A batch holds chunks in order, as many as the batch size and the prompt's budget allow. Batches that an earlier summary
read are read again, wherever their texts stand in the document now.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

from pipeline.compression import get_target_summary_length
from pipeline.errors import InvalidInputError
from pipeline.llm.chat_model import LlmUsage
from pipeline.off_loop import OffLoop
from pipeline.reading.words import count_words
from pipeline.summarize.config import ALL, SummarizeConfig, Wave
from pipeline.summarize.document import Document, SourceChunk, SummarizeOptions
from pipeline.summarize.packing import Packer, begin_keys, hash_text, split_by_tokens, to_cuts
from pipeline.summarize.steering.wishes import PLAIN, LengthGoal, LengthUnit, Shape, SummaryDetail
from pipeline.summarize.storage.store import SummaryStore
from pipeline.summarize.writer import Writer, WriterLimits

MIN_CONTENT_TOKENS = 16
"""A budget below leaves no room for text; such limits are a mistake in the settings."""


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """What one map call reads."""

    chunks: tuple[SourceChunk, ...]  # at least one; parts of one chunk may be in several batches
    token_count: int  # of all chunks

    @property
    def text(self) -> str:
        """Of all chunks."""
        return "\n".join(chunk.text for chunk in self.chunks)

    @property
    def chunk_indexes(self) -> tuple[int, int]:
        """First and last, inclusive."""
        return self.chunks[0].chunk_index, self.chunks[-1].chunk_index


def split_chunks(
    chunks: Iterable[SourceChunk], max_tokens: int, count_tokens: Callable[[str], int]
) -> Iterator[ChunkBatch]:
    """Yields each chunk for itself, in order, those that are too long in parts. Together they hold every character."""
    for chunk in chunks:
        if (tokens := count_tokens(chunk.text)) <= max_tokens:
            yield ChunkBatch((chunk,), tokens)
            continue
        for text in split_by_tokens(chunk.text, max_tokens, count_tokens):
            if text.strip():
                yield ChunkBatch((replace(chunk, text=text),), count_tokens(text))


def join_parts(parts: Sequence[ChunkBatch]) -> ChunkBatch:
    """Returns parts of `split_chunks` as one batch."""
    return ChunkBatch(tuple(part.chunks[0] for part in parts), sum(part.token_count for part in parts))


def level_calls(text_count: int, group_size: int, most_joined: int = 1) -> list[int]:
    """Returns the calls of every reduce level when all groups are full: 201 texts by 4 are 50, 13, 3 and 1.

    A lone last text goes up without a call. So few as are joined need none.
    """
    calls: list[int] = []
    while text_count > most_joined:
        full_groups, rest = divmod(text_count, group_size)
        calls.append(full_groups + (rest > 1))
        text_count = full_groups + (rest > 0)
    return calls


def longest_answer(target_tokens: int, limits: WriterLimits) -> int:
    """Returns how long a text may be that is asked for in a length: one that ends is better than one that is cut."""
    return min(limits.output_tokens, round(1.5 * target_tokens)) if target_tokens else limits.output_tokens


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """All calls of a summary, and how they follow each other."""

    batches: tuple[ChunkBatch, ...]
    level_calls: tuple[int, ...]
    wave: int
    uses_source_context: bool  # True for wave "all", whose batches do not wait for each other's extractions
    concurrency: int
    group_size: int
    max_iterations: int
    reduce_budget_tokens: int  # most tokens that a merge may read
    # True if every answer of full length still fits its reduce group (no group can shrink), and no batch was taken over
    # from another summary
    is_exact: bool
    limits: WriterLimits
    most_joined: int = 1  # texts of a level that become one without a call
    batch_lengths: tuple[int, ...] = ()  # parts of each batch
    # what the beginning of each batch is known by to later summaries; empty of one that is small
    batch_keys: tuple[str, ...] = ()
    shape: Shape = PLAIN  # of the final text
    # length that was asked for, as a share of the document's; 1 for all that the writer has room for
    goal_share: float = 1.0
    json_calls: int = 0  # of the whole summary: 1 if it is to be given as JSON too

    @property
    def key(self) -> str:
        """Hash of all that the positions of steps depend on."""
        digest = hashlib.sha256()
        for batch in self.batches:
            digest.update(b"%d %d %d %d\n" % (*batch.chunk_indexes, len(batch.chunks), len(batch.chunks[0].text)))
        numbers = (self.wave, self.uses_source_context, self.group_size, self.max_iterations, self.reduce_budget_tokens)
        digest.update(repr((*numbers, self.most_joined, self.shape)).encode())
        return digest.hexdigest()

    @property
    def map_calls(self) -> int:
        """One for each batch."""
        return len(self.batches)

    @property
    def reduce_calls(self) -> int:
        """Of all levels."""
        return sum(self.level_calls)

    @property
    def input_tokens(self) -> int:
        """Of all chunks, each once."""
        return sum(batch.token_count for batch in self.batches)

    @property
    def shape_calls(self) -> int:
        """Of one iteration: 1 if the last text must be written once more to have its shape, else 0."""
        is_shaped = self.level_calls and not self.limits.chooses
        return int(not (self.shape.is_plain or is_shaped))

    @property
    def least_share(self) -> float:
        """What the map must leave of each batch to choose the final text from, in steps that many lengths share.

        0 where all is kept that there is room for. A single batch is left whole: what is chosen twice is chosen worse.
        """
        if self.shape.goal is None:
            return 0.0
        if len(self.batches) == 1:
            return 1.0
        least, spare, steps = 0.4 if self.limits.chooses else 0.0, 1.4, 10  # a language model's text is paid for
        return min(1.0, max(least, ceil(self.goal_share * spare * steps) / steps))

    @property
    def target_tokens(self) -> int:
        """The length that was asked for; 0 for all that the writer has room for."""
        return round(self.goal_share * self.input_tokens) if self.shape.goal else 0

    @property
    def answer_tokens(self) -> int:
        """The longest answer for a text that is to be the summary."""
        return longest_answer(self.target_tokens, self.limits)

    def calls(self, iterations: int = 1) -> int:
        """Returns all calls when the critic is content, or at the limit, after `iterations`: 270, then 539.

        The critic is asked once in each iteration, topics are asked for once.
        """
        return iterations * (self.map_calls + self.reduce_calls + self.shape_calls + 1) + 1 + self.json_calls

    @property
    def most_calls(self) -> int:
        """All calls if the critic is never content."""
        return self.calls(self.max_iterations)

    @property
    def most_cost(self) -> float | None:
        """What these calls cost at most."""
        return self.cost(self.max_iterations)

    @property
    def most_repeats(self) -> int:
        """Bounds the calls beside these: every text of map and reduce, and the JSON, is asked for again."""
        texts = self.max_iterations * (self.map_calls + self.reduce_calls + self.shape_calls) + self.json_calls
        return texts * self.limits.repeats

    def max_prompt_tokens(self, iterations: int = 1) -> int:
        """Bounds what all prompts hold: full contexts, full answers; continuations and repairs left out."""
        limits = self.limits
        map_tokens = self.input_tokens + self.map_calls * (limits.context_limit_tokens + limits.overhead_tokens)
        texts = self.reduce_calls * self.group_size
        reduce_tokens = texts * limits.output_tokens + self.reduce_calls * limits.overhead_tokens
        rest = min(self.map_calls, self.most_joined) * limits.output_tokens + limits.overhead_tokens
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
        reduce_rounds = sum(-(-calls // parallel) for calls in self.level_calls)
        return iterations * (map_rounds + reduce_rounds + self.shape_calls + 1) + 1 + self.json_calls


def answer_scope(owner: str, writer: str) -> str:
    """Returns whose answers may be used again: those of a writer to an owner."""
    return f"{owner}\n{writer}" if owner else writer


def call_scope(scope: str, config: SummarizeConfig, options: SummarizeOptions) -> str:
    """Returns what calls of an `answer_scope` must have in common, besides texts, for one to be known by the other."""
    return f"{scope}\n{options.model_dump_json()}\n{config.result_settings()}"


class Planner:
    """Plans the summary of a document with a writer and its caller's choices."""

    def __init__(self, document: Document, writer: Writer, config: SummarizeConfig, options: SummarizeOptions) -> None:
        self.document, self.writer, self.config, self.options = document, writer, config, options

    @cached_property
    def parts(self) -> list[ChunkBatch]:
        """The document in pieces that fit. To count all tokens takes long: ask for it off the loop first."""
        most = self._budget_tokens - self.writer.limits.text_overhead_tokens
        return list(split_chunks(self.document.chunks, max(1, most), self.writer.count_tokens))

    @cached_property
    def packer(self) -> Packer:
        """Makes batches of the parts; one where a language model can read all at once and is asked for a length.

        The most that may stand beside the chunks of a batch is set aside, also where less does. The batches, and with
        them the number of calls, are then known before the first call, and no prompt is ever over its budget. What is
        read at once is one text without context, and its critique gives way.
        """
        limits, counts = self.writer.limits, [part.token_count for part in self.parts]
        if self._goal is not None and not self.options.batch_size:
            answer_tokens = longest_answer(round(self._goal_share * sum(counts)), limits)
            once = min(limits.once_tokens, limits.reading_tokens(answer_tokens))
            if sum(counts) <= once:
                return Packer(counts, len(counts), once)
        with_tags = [tokens + limits.text_overhead_tokens for tokens in counts]
        return Packer(with_tags, self.options.batch_size or self.config.batch_size, self._budget_tokens)

    @property
    def _budget_tokens(self) -> int:
        return max(MIN_CONTENT_TOKENS, self.writer.limits.prompt_budget_tokens - self._most_context_tokens)

    @property
    def _critique_tokens(self) -> int:
        return min(self.config.critique_tokens, self.writer.limits.context_limit_tokens // 2)

    @property
    def _most_context_tokens(self) -> int:
        """Of context and critique; with wave "all" no batch sees extractions, which take most of it."""
        limits, config = self.writer.limits, self.config
        if (self.options.wave or config.wave) != ALL or limits.chooses:
            return limits.context_limit_tokens
        most = config.source_tail_tokens + config.outline_tokens + self._critique_tokens
        return min(limits.context_limit_tokens, most)

    @cached_property
    def _goal(self) -> LengthGoal | None:
        tokens = sum(part.token_count for part in self.parts)
        words = sum(count_words(part.text) for part in self.parts) if self.options.target_words else 0
        return set_goal(self.options, self.config.detail, tokens, words, most_tokens=self.writer.limits.output_tokens)

    @cached_property
    def _goal_share(self) -> float:
        goal = self._goal
        if goal is None:
            return 1.0
        is_words = goal.unit is LengthUnit.WORDS
        size = sum(count_words(part.text) if is_words else part.token_count for part in self.parts)
        return min(1.0, goal.amount / max(1, size))

    async def plan_with_known(
        self, scope: str, lengths: Sequence[int] = (), *, store: SummaryStore, off_loop: OffLoop
    ) -> SummaryPlan:
        """Plans with the batches of a summary that has begun, by their lengths, else with those of earlier ones."""
        keys = await off_loop(lambda: begin_keys(f"map\n{scope}", [hash_text(part.text) for part in self.parts]))
        known = await store.known_calls(keys)

        def cuts() -> list[range]:
            former = to_cuts(lengths)
            may_stay = sum(lengths) == len(keys) and all(map(self.packer.fits, former))  # unless limits have changed
            return former if may_stay else self.packer.cuts_at(keys, known)

        return await off_loop(lambda: self.plan(cuts(), keys))

    def plan(self, cuts: Sequence[range], keys: Sequence[str]) -> SummaryPlan:
        """Counts all calls.

        Args:
            keys: of all parts, by which beginnings of batches are known to later summaries.

        Raises InvalidInputError: the writer cannot do what the caller asks for.
        """
        limits, config, options = self.writer.limits, self.config, self.options
        refuse_unable(options, limits)
        wave: Wave = options.wave or config.wave
        group_size = options.reduce_group_size or config.reduce_group_size
        beside = (group_size - 1) * limits.text_overhead_tokens + self._critique_tokens
        budget = max(2, limits.reading_tokens(limits.output_tokens) - beside)
        shape = Shape(self._goal, options.form, options.language.strip())
        most_joined = self._most_joined(len(cuts), group_size) if shape.is_plain else 1
        levels = level_calls(len(cuts), group_size, most_joined)
        holds_groups = not levels or group_size * limits.output_tokens <= budget
        return SummaryPlan(
            batches=tuple(join_parts(self.parts[cut.start : cut.stop]) for cut in cuts),
            level_calls=tuple(levels),
            wave=len(cuts) if isinstance(wave, str) else min(len(cuts), wave),
            uses_source_context=wave == ALL,
            concurrency=limits.concurrency,
            group_size=group_size,
            max_iterations=options.max_iterations or config.max_iterations,
            reduce_budget_tokens=budget,
            is_exact=cuts == list(self.packer.cuts()) and holds_groups,
            limits=limits,
            most_joined=most_joined,
            batch_lengths=tuple(map(len, cuts)),
            batch_keys=tuple(keys[cut.start] if self.packer.is_half_full(cut) else "" for cut in cuts),
            shape=shape,
            goal_share=self._goal_share,
            json_calls=int(bool(options.json_schema)),
        )

    def _most_joined(self, batch_count: int, group_size: int) -> int:
        """Returns how many texts are joined and not merged, where all shall be kept and one answer has no room for it.

        They are those of the map, if as many answers as a group holds have room for the document; else the last group.
        """
        limits, tokens = self.writer.limits, sum(part.token_count for part in self.parts)
        if limits.chooses or tokens <= limits.output_tokens:
            return 1
        return max(group_size, batch_count if tokens <= group_size * limits.output_tokens else 0)


def refuse_unable(options: SummarizeOptions, limits: WriterLimits) -> None:
    """Raises InvalidInputError for what only a language model can do, where none writes."""
    for name in ("language", "instructions", "json_schema"):
        if getattr(options, name) and limits.chooses:
            way = "nothing, for no language model writes here: leave it out, or set PRECIS_LLM__BASE_URL"
            raise InvalidInputError(f"options.{name}", way, "a text")


def set_goal(
    options: SummarizeOptions, default: SummaryDetail, tokens: int, words: int, *, most_tokens: int
) -> LengthGoal | None:
    """Returns the length that a document's summary shall have; None for all that the writer has room for.

    Args:
        default: counts where the caller sets no length.
        most_tokens: the longest text that the writer can write.

    Raises InvalidInputError: the writer cannot write so much.
    """
    if options.target_words is not None:
        _refuse_above(int(most_tokens * words / max(1, tokens)), options.target_words, "options.target_words")
        return LengthGoal(max(1, min(options.target_words, words)), LengthUnit.WORDS)
    if options.target_tokens is not None:
        _refuse_above(most_tokens, options.target_tokens, "options.target_tokens")
        return LengthGoal(max(1, min(options.target_tokens, tokens)), LengthUnit.TOKENS)
    if options.target_share is not None:
        amount = max(1, round(options.target_share * tokens))
        if amount > most_tokens:
            most_share = f"at most {most_tokens / tokens:.3f}, which is {most_tokens} tokens"
            raise InvalidInputError("options.target_share", most_share, f"{options.target_share}")
        return LengthGoal(amount, LengthUnit.TOKENS)
    scheduled = get_target_summary_length(tokens)
    if (options.detail or default) is SummaryDetail.FULL or scheduled >= tokens:
        return None
    return LengthGoal(min(scheduled, most_tokens), LengthUnit.TOKENS)


def _refuse_above(most: int, amount: int, field: str) -> None:
    if amount > most:
        raise InvalidInputError(field, f"at most {most}, which this writer can write at once", str(amount))
