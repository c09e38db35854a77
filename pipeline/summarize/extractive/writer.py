"""Extractive summaries, for machines without a language model: every sentence written stands in the document."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

import numpy as np

from pipeline.llm.chat_model import LlmUsage
from pipeline.model_answers import checked_vectors
from pipeline.off_loop import OffLoop
from pipeline.protocols import Models
from pipeline.summarize.extractive.abridge import (
    Shortening,
    comparable,
    find_repeats,
    keep_all,
    shorten,
)
from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.excerpt import Excerpt
from pipeline.summarize.extractive.key_phrases import choose_topics, find_phrases
from pipeline.summarize.extractive.near_duplicates import DuplicateRule, find_near_duplicates
from pipeline.summarize.extractive.read_excerpts import read_excerpts
from pipeline.summarize.extractive.selection import Budget, Material
from pipeline.summarize.extractive.values import ExcerptValues, judge
from pipeline.summarize.writer import (
    Critique,
    CritiqueTask,
    ExtractTask,
    MergeStage,
    MergeTask,
    RemovedDuplicate,
    TopicList,
    TopicsTask,
    WriterLimits,
    Written,
)
from pipeline.text.windows import token_offsets

_VERSION = "extractive-3"
"""Changes whenever the same input may give another text, so that no cache answers with the old one."""

_CONTEXT_TOKENS = 2_048  # the graph cuts a critique to a part of the context's limit
_FIRST_CHUNKS = (0, 1)  # callers count from either
_PROGRESS_SHARE = 0.9  # a text that must be compressed comes out shorter by a tenth at least


class ExtractiveWriter:
    """Map, reduce, reflect and topics by choosing sentences: `pipeline.summarize.writer.Writer`.

    Deterministic, and the same whatever runs beside it. The context of a map call is not used: what was said before is
    found in reduce, where it is known which chunks said it.

    Args:
        models: the embedder finds what is central and what is close, the NLI model decides for a few close pairs
            whether they say the same, and all tokens are counted with the tokenizer.
        executor: threads for reading and choosing. None: in the loop's own thread, for scripts and tests.
    """

    def __init__(self, config: ExtractiveConfig, models: Models, *, executor: Executor | None = None) -> None:
        self._config = config
        self._models = models
        self._off_loop = OffLoop(executor)
        named = models.identities
        parts = (_VERSION, str(named.embedder), str(named.entailment), named.tokenizer, config.model_dump_json())
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        self.identity = f"{_VERSION}/{named.embedder.name}+{named.entailment.name}/{digest[:16]}"
        self.limits = WriterLimits(
            prompt_budget_tokens=config.prompt_budget_tokens + _CONTEXT_TOKENS,
            context_limit_tokens=_CONTEXT_TOKENS,
            model_context_tokens=(config.group_texts + 1) * config.output_tokens + _CONTEXT_TOKENS,
            output_tokens=config.output_tokens,
            concurrency=config.concurrency,
        )

    def count_tokens(self, text: str) -> int:
        """Counts tokens of the embedding model."""
        return len(token_offsets(self._models.tokenizer, text))

    async def extract(self, task: ExtractTask) -> Written:
        """Keeps values, warnings, procedures and commands, and of the rest what is central."""
        texts = [chunk.text for chunk in task.chunks]
        config = self._config
        chunks = [(chunk.chunk_index, chunk.chunk_index) for chunk in task.chunks]
        starts_document = task.batch_index == 0
        excerpts, tokens = await self._read(texts, starts_document=starts_document)
        material, duplicates = await self._without_duplicates(excerpts, chunks, config.max_map_pairs, is_merge=False)
        keep = config.map_share * tokens
        text = await self._shorten(
            material,
            task,
            None if tokens <= config.min_map_tokens else Budget(config.fill_share * keep, keep, config.output_tokens),
            starts_document=starts_document,
            ends_document=task.batch_index == task.batch_count - 1,
        )
        return self._written(text or _verbatim(texts), tokens, duplicates)

    async def merge(self, task: MergeTask) -> Written:
        """Joins texts, says once what they say twice, and shortens what is over the target."""
        texts = [extraction.text for extraction in task.extractions]
        chunks = [extraction.chunk_indexes for extraction in task.extractions]
        starts_document = task.extractions[0].chunk_indexes[0] in _FIRST_CHUNKS
        excerpts, tokens = await self._read(texts, starts_document=starts_document)
        limit = self._config.max_merge_pairs
        material, duplicates = await self._without_duplicates(excerpts, chunks, limit, is_merge=len(texts) > 1)
        target = float(min(task.target_tokens, self._config.output_tokens))
        if task.stage is MergeStage.COMPRESS:
            target = min(target, _PROGRESS_SHARE * tokens)
        kept_tokens = sum(
            excerpt.token_count for position, excerpt in enumerate(excerpts) if position not in material.dropped
        )
        text = await self._shorten(
            material,
            task,
            None if kept_tokens <= target else Budget(target, target, target),
            starts_document=starts_document,
            ends_document=task.stage is not MergeStage.COMPRESS and task.group_index == task.group_count - 1,
        )
        return self._written(text or _verbatim(texts), tokens, duplicates)

    async def critique(self, task: CritiqueTask) -> Critique:
        """Judges by what was measured: are the values there, or is the summary as long as it may be?"""
        tokens = await self._off_loop(partial(self.count_tokens, task.summary))
        critic_verdict, text = judge(
            task.retention,
            min_share=self._config.min_retention,
            fullness=tokens / self._config.output_tokens,
        )
        return Critique(critic_verdict, text, LlmUsage(1, tokens, self.count_tokens(text)))

    async def topics(self, task: TopicsTask) -> TopicList:
        """Chooses key phrases of headings and sentences that are close to the middle of the summary."""
        excerpts, tokens = await self._read([task.summary])
        phrases = await self._off_loop(partial(find_phrases, excerpts))
        sentences = [excerpts[position].text for position in comparable(excerpts)]
        sample = sentences[:: 1 + len(sentences) // self._config.topic_sentences]
        vectors = await self._embed([phrase.text for phrase in phrases] + sample)
        topics = choose_topics(phrases, vectors[: len(phrases)], vectors[len(phrases) :], task.max_topics)
        if len(topics) < task.min_topics and task.document_name.strip() and task.document_name not in topics:
            topics = (*topics, task.document_name.strip())
        return TopicList(topics, LlmUsage(1, tokens, sum(map(self.count_tokens, topics))))

    async def _read(self, texts: Sequence[str], *, starts_document: bool = True) -> tuple[list[Excerpt], int]:
        def read() -> tuple[list[Excerpt], int]:
            excerpts = read_excerpts(texts, self.count_tokens, starts_document=starts_document)
            return excerpts, sum(map(self.count_tokens, texts))

        return await self._off_loop(read)

    async def _without_duplicates(
        self, excerpts: list[Excerpt], chunks: Sequence[tuple[int, int]], max_pairs: int, *, is_merge: bool
    ) -> tuple[Material, tuple[RemovedDuplicate, ...]]:
        """Finds exact repeats, embeds the rest, and asks the NLI model about the closest pairs."""
        config = self._config
        repeats = find_repeats(excerpts)
        sentences = [position for position in comparable(excerpts) if position not in repeats]
        vectors = await self._embed([excerpts[position].text for position in sentences])
        rule = DuplicateRule(config.near_duplicate_cosine, config.near_duplicate_entailment, max_pairs, is_merge)
        near = await find_near_duplicates(excerpts, sentences, vectors, rule=rule, entailment=self._models.entailment)
        material = Material(excerpts, sentences, vectors, frozenset((*repeats, *near)))
        return material, (
            *_removed(excerpts, repeats, chunks, is_exact=True),
            *_removed(excerpts, near, chunks, is_exact=False),
        )

    async def _embed(self, texts: Sequence[str]) -> Float64:
        """Embeds in small submissions, between which other callers of the model get their turn."""
        size = self._config.embed_batch
        parts = [await self._models.embedder.embed(texts[start : start + size]) for start in range(0, len(texts), size)]
        return checked_vectors(np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32), len(texts))

    async def _shorten(
        self,
        material: Material,
        task: ExtractTask | MergeTask,
        budget: Budget | None,
        *,
        starts_document: bool,
        ends_document: bool,
    ) -> str:
        """Writes what is worth most within a budget, or everything; empty if there is nothing but rules."""

        def work() -> str:
            if budget is None or not material.excerpts:
                return keep_all(material, ends_document=ends_document)
            values = ExcerptValues(material.excerpts, task.summary_type, task.critique)
            shortening = Shortening(values, budget, self._config.relevance_weight, starts_document, ends_document)
            return shorten(material, shortening, self.count_tokens)

        return await self._off_loop(work)

    def _written(self, text: str, tokens_read: int, duplicates: tuple[RemovedDuplicate, ...]) -> Written:
        return Written(text, "stop", LlmUsage(1, tokens_read, self.count_tokens(text)), duplicates)


def _verbatim(texts: Sequence[str]) -> str:
    """Returns texts that hold no sentence, such as a rule of dashes, as they are."""
    return "\n\n".join(text.strip() for text in texts)


def _removed(
    excerpts: Sequence[Excerpt], kept_of: Mapping[int, int], chunks: Sequence[tuple[int, int]], *, is_exact: bool
) -> Iterator[RemovedDuplicate]:
    for dropped, kept in kept_of.items():
        yield RemovedDuplicate(
            excerpts[dropped].text, chunks[excerpts[kept].origin], chunks[excerpts[dropped].origin], is_exact
        )
