"""Extractive summaries, for machines without a language model: every sentence written stands in the document."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from pipeline.llm.chat_model import LlmUsage
from pipeline.model_answers import checked_vectors
from pipeline.off_loop import OffLoop
from pipeline.protocols import ENTAILMENT, Models
from pipeline.reading.blocks import BlockKind
from pipeline.reading.words import token_offsets
from pipeline.summarize.document import SummaryType
from pipeline.summarize.duplicates import find_entailed, find_repeats
from pipeline.summarize.extractive.config import ExtractiveConfig
from pipeline.summarize.extractive.excerpt import (
    ANSWERS,
    TEXT_KINDS,
    Excerpt,
    read_excerpts,
    resized,
    words_of,
    writable,
    write_form,
)
from pipeline.summarize.extractive.selection import (
    VALUE_KINDS,
    Budget,
    Float64,
    Material,
    RankedPassage,
    find_passages,
    keep_all,
    rank_passages,
    score_focus,
    score_sentences,
    shorten,
)
from pipeline.summarize.extractive.topics import choose_topics, find_phrases
from pipeline.summarize.retention import Kept, Retention, TermRetention
from pipeline.summarize.steering.wishes import PLAIN, Shape, counter
from pipeline.summarize.writer import (
    CriticVerdict,
    Critique,
    CritiqueTask,
    ExtractTask,
    MergeStage,
    MergeTask,
    RemovedDuplicate,
    TextTask,
    TopicList,
    TopicsTask,
    WriterLimits,
    Written,
)

_VERSION = "extractive-27"
"""Changes whenever the same input may give another text, so that no cache answers with the old one."""

_CONTEXT_TOKENS = 2_048  # the graph cuts a critique to a part of the context's limit
_SHORT_CHARS, _REMEMBERED_COUNTS = 300, 1 << 14  # of texts whose tokens were counted
_READ_AGAIN = 8  # passages that the NLI model reads for a focus
_DUPLICATE_ROUNDS = 3  # what takes the place of a duplicate may be one
_PROGRESS_SHARE = 0.9  # a text that must be compressed comes out shorter by a tenth at least


class ExtractiveWriter:
    """Map, reduce, reflect and topics by choosing sentences: `pipeline.summarize.writer.Writer`.

    Deterministic, and the same whatever runs beside it. The context of a map call is not used: what was said before is
    found in reduce, where it is known which chunks said it.

    Args:
        models: the embedder finds what is central and what is close. The NLI model decides for a few close pairs
            whether they say the same. The tokenizer counts.
        executor: threads for reading and choosing. None: in the loop's own thread, for scripts and tests.
    """

    def __init__(self, config: ExtractiveConfig, models: Models, *, executor: Executor | None = None) -> None:
        self._config = config
        self._models = models
        self._off_loop = OffLoop(executor)
        self._count_short = lru_cache(maxsize=_REMEMBERED_COUNTS)(self._count)
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
            chooses=True,
        )

    def count_tokens(self, text: str) -> int:
        """Counts tokens of the embedding model; excerpts come again on every level of the reduction."""
        return self._count_short(text) if len(text) <= _SHORT_CHARS else self._count(text)

    def _count(self, text: str) -> int:
        return len(token_offsets(self._models.tokenizer, text))

    async def extract(self, task: ExtractTask) -> Written:
        """Keeps what is central, values, warnings, procedures and commands."""
        return await self._abridge(task, is_last=task.batch_count == 1)

    async def merge(self, task: MergeTask) -> Written:
        """Joins texts, says once what they say twice, and shortens what is over the target."""
        shape = task.shape if task.stage is MergeStage.SHAPE else PLAIN
        return await self._abridge(task, shape, is_last=task.stage is MergeStage.FINAL)  # one to be shaped was before

    def _budget(self, task: TextTask, tokens: int) -> Budget | None:
        """Returns how much of so many tokens may be kept; None: all of them."""
        config = self._config
        if isinstance(task, ExtractTask):
            share = max(config.map_share, task.least_share)
            # What answers is chosen once, from all that a merge has room for.
            is_whole = tokens <= config.min_map_tokens or bool(task.wishes.focus)
            return None if is_whole else Budget(share * tokens, config.output_tokens)
        if task.stage is MergeStage.SHAPE:
            goal = task.shape.goal
            return Budget(goal.amount, goal.amount) if goal else None
        target = float(min(task.target_tokens, config.output_tokens))
        target = min(target, _PROGRESS_SHARE * tokens) if task.stage is MergeStage.COMPRESS else target
        return Budget(target, target)

    async def critique(self, task: CritiqueTask) -> Critique:
        """Says what was measured. Another iteration would choose the same, so that every summary passes."""
        tokens = await self._off_loop(partial(self.count_tokens, task.summary))
        text = _report(task.retention)
        return Critique(CriticVerdict.PASS, text, LlmUsage(1, tokens, self.count_tokens(text)))

    async def topics(self, task: TopicsTask) -> TopicList:
        """Chooses key phrases of headings and sentences that are close to the middle of the summary."""
        excerpts, tokens = await self._read([task.summary])
        phrases = await self._off_loop(partial(find_phrases, excerpts))
        sentences = [excerpt.text for excerpt in excerpts if excerpt.kind in TEXT_KINDS]
        sample = sentences[:: 1 + len(sentences) // self._config.topic_sentences]
        vectors = await self._embed([phrase.text for phrase in phrases] + sample)
        of_phrases, of_sentences = vectors[: len(phrases)], vectors[len(phrases) :]
        topics = choose_topics(phrases, of_phrases, of_sentences, fewest=task.min_topics, most=task.max_topics)
        if len(topics) < task.min_topics and task.document_name.strip() and task.document_name not in topics:
            topics = (*topics, task.document_name.strip())
        return TopicList(topics, LlmUsage(1, tokens, sum(map(self.count_tokens, topics))))

    async def _abridge(self, task: TextTask, shape: Shape = PLAIN, *, is_last: bool) -> Written:
        """Reads, chooses and writes; of the last text, the summary, what another sentence says is left out.

        Texts that hold no sentence, such as a rule of dashes, stay as they are.
        """
        texts, config = [one.text for one in task.extractions], self._config
        excerpts, tokens = await self._read(texts, shape, starts_document=task.starts_document)
        if task.wishes.focus:  # an answer needs the heading above it, and not those above that
            excerpts = [replace(each, needs=()) if each.kind is BlockKind.HEADING else each for each in excerpts]
        exact = await self._off_loop(partial(find_repeats, excerpts))
        kinds = ANSWERS if task.wishes.focus else TEXT_KINDS
        sentences = [at for at, each in enumerate(excerpts) if each.kind in kinds and at not in exact]
        unfit = exact.keys() | (set(range(len(excerpts))) - writable(excerpts, shape.form))
        dropped = frozenset(unfit if len(unfit) < len(excerpts) else exact)  # else nothing can be written in this form
        sizes = (each.token_count for position, each in enumerate(excerpts) if position not in dropped)
        budget = self._budget(task, tokens)
        budget = None if budget is None or sum(sizes) <= budget.central else budget
        is_compared = is_last or budget is not None
        vectors = await self._embed([words_of(excerpts, excerpts[at]) for at in sentences if is_compared])
        is_part = isinstance(task, MergeTask) and task.stage is MergeStage.COMPRESS  # of a text that goes on
        material = Material(excerpts, sentences, vectors, dropped, task.ends_document and not is_part)
        if budget:
            material = await self._scored(material, task)
        choose = partial(self._choose, shape=shape, budget=budget)
        chosen, pairs, entailed = await self._off_loop(partial(choose, material)), config.max_pairs, dict[int, int]()
        for _ in range(_DUPLICATE_ROUNDS * is_last):
            entailment, keeps_needed = self._models.entailment, budget is None
            near = await find_entailed(material, set(chosen), entailment, max_pairs=pairs, keeps_needed=keeps_needed)
            if not near:
                break
            entailed |= near
            material = replace(material, dropped=material.dropped | near.keys())
            chosen = await self._off_loop(partial(choose, material))
        text = write_form(excerpts, chosen, shape.form) or "\n\n".join(map(str.strip, texts))
        places = [one.chunk_indexes for one in task.extractions]
        chunks = [places[each.origin] for each in excerpts]
        duplicates = tuple(
            RemovedDuplicate(excerpts[gone].text, chunks[kept], chunks[gone], gone in exact)
            for gone, kept in (*exact.items(), *entailed.items())
        )
        usage = LlmUsage(1, tokens, self.count_tokens(text))
        return Written(text, "stop", usage, duplicates, misses_focus=not material.has_answer)

    def _choose(self, material: Material, shape: Shape, budget: Budget | None) -> list[int]:
        """Returns the positions of what is worth most within a budget, or everything; none if there are only rules."""
        if budget is None:
            return keep_all(material)
        count, amount = counter(shape, self.count_tokens), shape.goal.amount if shape.goal else None
        return shorten(material, budget, lambda kept: count(write_form(material.excerpts, kept, shape.form)), amount)

    async def _scored(self, material: Material, task: TextTask) -> Material:
        """Returns the material with what its sentences are worth: by a focus, if there is one."""
        excerpts, sentences, vectors = material.excerpts, material.sentences, material.vectors
        material = replace(material, has_acts_first=task.summary_type is SummaryType.OPERATOR)
        if not sentences:
            return material
        if focus := task.wishes.focus:
            return await self._answers(material, focus)
        score = partial(score_sentences, excerpts, sentences, vectors, starts_document=task.starts_document)
        return replace(material, centrality=await self._off_loop(score))

    async def _answers(self, material: Material, focus: str) -> Material:
        """Returns the material with what its sentences are worth for a focus: those of one passage come together."""
        found = await self._off_loop(partial(list[RankedPassage], find_passages(material)))
        wanted, *wholes = await self._embed([focus, *(passage.text for passage in found)])
        likeness = material.vectors @ wanted
        passages = await self._off_loop(partial(rank_passages, found, focus, likeness, np.array(wholes) @ wanted))
        asked = [(passage.text, focus) for passage in passages[:_READ_AGAIN]]
        chances = (await self._models.entailment.entail(asked))[:, ENTAILMENT]
        scores, has_answer = score_focus(likeness, passages, chances.tolist())
        return replace(material, centrality=scores, has_focus=True, has_answer=has_answer)

    async def _read(
        self, texts: Sequence[str], shape: Shape = PLAIN, *, starts_document: bool = True
    ) -> tuple[list[Excerpt], int]:
        count = counter(shape, self.count_tokens)
        excerpts = await self._off_loop(partial(read_excerpts, texts, count, starts_document=starts_document))
        size_of = partial(sum, map(self.count_tokens, texts))
        return await self._off_loop(partial(resized, excerpts, shape.form, count)), await self._off_loop(size_of)

    async def _embed(self, texts: Sequence[str]) -> Float64:
        """Embeds in small submissions, between which other callers of the model get their turn."""
        size = self._config.embed_batch
        parts = [await self._models.embedder.embed(texts[start : start + size]) for start in range(0, len(texts), size)]
        return checked_vectors(np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32), len(texts))


def _report(retention: Retention) -> str:
    """Returns what a summary kept of its document's values, and some of what it did not."""
    values = [retention.of(kind) for kind in VALUE_KINDS]
    share = Kept(sum(kind.input_count for kind in values), sum(kind.kept_count for kind in values)).share
    found = [kind for kind in retention.kinds if kind.input_count]
    kept = [f"- {_plural(kind)} kept: {kind.kept_count} of {kind.input_count}" for kind in found]
    missing = [f"- {_plural(kind)} missing, for example: {' ; '.join(kind.missing)}" for kind in values if kind.missing]
    return "\n".join([f"PASS: {share:.1%} of the document's values are in the summary.", *kept, *missing])


def _plural(kind: TermRetention) -> str:
    name = kind.kind.value.replace("_", " ")
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
