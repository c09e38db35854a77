"""Asks for texts out of others that may be too long for one prompt. No text is skipped.

Budgets rest on counts that may be estimates, so that the endpoint has the last word: where a prompt overflows the
model's context although it was within its budget, less is asked at once, until it fits or cannot become less. A group
of a merge that is over its budget has its texts made shorter first.
"""

from dataclasses import replace
from functools import partial

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import ContextOverflowError
from pipeline.reading.terms import find_terms
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.errors import StalledReductionError
from pipeline.summarize.graph.calls import StepAnswer, TextCall, ask_text, warn_of_text
from pipeline.summarize.graph.run import Run
from pipeline.summarize.graph.texts import TextOutcome
from pipeline.summarize.known_calls import CallTexts
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.retention import Retention, measure
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction, ExtractTask, MergeStage, MergeTask, Written

_LEAST_TOKENS = 16  # of a text that is still worth cutting
_PARTS = 1_000  # of one text; keeps the positions of compress steps apart


async def ask_merge(
    run: Run, step: StepId, task: MergeTask, whole: Extraction, texts: CallTexts | None = None
) -> StepAnswer[TextOutcome]:
    """Asks for one text out of `whole`, and says what is wrong with it."""

    def measured(text: str) -> Retention:
        return measure(find_terms(whole.text), [run.mentions_of(text)])

    output = StepOutput(step.position, "", 0, whole.chunk_indexes, whole.pages)
    call = TextCall(step, task, partial(merge_fitting, run), measured, output, texts)
    answer = await ask_text(run, call)
    await warn_of_text(run, answer.outcome, call)
    return answer


async def fit_group(run: Run, step: StepId, first: int, members: list[Extraction]) -> tuple[list[Extraction], LlmUsage]:
    """Returns the members of a group, made shorter one by one until all fit into one prompt together.

    Args:
        step: of the merge.
        first: position of the first member in its level.

    Raises:
        StalledReductionError: a compression did not shorten its text, or not enough after several attempts.
    """
    budget, attempts = run.plan.reduce_budget_tokens, run.job.config.max_compressions
    fitting, usage = list(members), LlmUsage()
    for attempt in range(attempts + 1):
        sizes = [run.count_tokens(member.text) for member in fitting]
        if sum(sizes) <= budget:
            break
        if attempt == attempts:
            raise StalledReductionError(f"compressing group {step.position}", budget, sum(sizes))
        share = budget // len(fitting)
        for index, size in enumerate(sizes):
            if size > share:
                position = ((first + index) * attempts + attempt) * _PARTS
                own = StepId(step.iteration, Stage.COMPRESS, step.level, position)
                fitting[index], cost = await _compress(run, own, fitting[index], share)
                usage += cost
    return fitting, usage


async def _compress(run: Run, step: StepId, extraction: Extraction, target_tokens: int) -> tuple[Extraction, LlmUsage]:
    """Writes one text shorter, in parts if it is longer than a prompt. Proves that it became shorter."""
    parts = split_by_tokens(extraction.text, run.plan.reduce_budget_tokens, run.count_tokens)
    target = max(1, min(target_tokens // len(parts), run.plan.limits.output_tokens))
    written: list[Written] = []
    for index, text in enumerate(parts):
        run.meter.calls_total += 1
        part = replace(extraction, text=text)
        task = run.merge_task(MergeStage.COMPRESS, step.level, [part], target)
        task = replace(task, critique=await run.critique_for(step.iteration))
        answer = await ask_merge(run, step._replace(position=step.position + index), task, part)
        written.append(answer.outcome.written)
    compressed = _join(written)
    _expect_shorter(run, "compressing a text", extraction.text, compressed.text)
    return replace(extraction, text=compressed.text), compressed.usage


def _expect_shorter(run: Run, stage: str, before: str, after: str) -> None:
    sizes = run.count_tokens(before), run.count_tokens(after)
    if sizes[1] >= sizes[0]:
        raise StalledReductionError(stage, *sizes)


async def extract_fitting(run: Run, task: ExtractTask) -> Written:
    """Extracts a batch: first with its context, then without, then in halves down to parts of one chunk.

    Raises:
        ContextOverflowError: not even a scrap of text fits.
    """
    try:
        return await run.job.writer.extract(task)
    except ContextOverflowError:
        if task.context:
            return await extract_fitting(run, replace(task, context=()))
        halves = _halves(run, task.chunks)
        if len(halves) == 1:
            raise
    return _join([await extract_fitting(run, replace(task, chunks=half)) for half in halves])


async def merge_fitting(run: Run, task: MergeTask) -> Written:
    """Merges a group: if it does not fit, each text is first rewritten in half of its length.

    Raises:
        ContextOverflowError: not even a scrap of text fits.
        StalledReductionError: rewriting did not make a text shorter.
    """
    try:
        return await run.job.writer.merge(task)
    except ContextOverflowError:
        if task.stage is MergeStage.COMPRESS:
            return await _compress_in_parts(run, task)
    written = [await _shorten(run, task, extraction) for extraction in task.extractions]
    texts = zip(task.extractions, written, strict=True)
    shorter = replace(task, extractions=tuple(replace(extraction, text=one.text) for extraction, one in texts))
    merged = await merge_fitting(run, shorter)
    return replace(merged, usage=sum((one.usage for one in written), merged.usage))


async def _shorten(run: Run, task: MergeTask, extraction: Extraction) -> Written:
    target = max(1, min(run.count_tokens(extraction.text) // 2, run.plan.limits.output_tokens))
    compress = replace(task, stage=MergeStage.COMPRESS, extractions=(extraction,), target_tokens=target)
    written = await merge_fitting(run, compress)
    _expect_shorter(run, "shortening a text that overflowed the model", extraction.text, written.text)
    return written


async def _compress_in_parts(run: Run, task: MergeTask) -> Written:
    (extraction,) = task.extractions
    parts = _half_texts(run, extraction.text)
    if len(parts) == 1:
        raise ContextOverflowError("the model's context does not hold the shortest prompt: use a larger one")
    target = max(1, task.target_tokens // len(parts))
    tasks = [
        replace(task, extractions=(replace(extraction, text=part),), target_tokens=target)
        for part in parts
        if part.strip()
    ]
    return _join([await merge_fitting(run, part) for part in tasks])


def _halves(run: Run, chunks: tuple[SourceChunk, ...]) -> list[tuple[SourceChunk, ...]]:
    if len(chunks) > 1:
        middle = len(chunks) // 2
        return [chunks[:middle], chunks[middle:]]
    texts = [text for text in _half_texts(run, chunks[0].text) if text.strip()]
    return [(replace(chunks[0], text=text),) for text in texts]


def _half_texts(run: Run, text: str) -> list[str]:
    tokens = run.count_tokens(text)
    return split_by_tokens(text, tokens // 2 + 1, run.job.writer.count_tokens) if tokens >= _LEAST_TOKENS else [text]


def _join(parts: list[Written]) -> Written:
    """Returns parts as one text, cut if one of them was cut."""
    is_cut = any(part.finish_reason == "length" for part in parts)
    return Written(
        "\n\n".join(part.text for part in parts),
        "length" if is_cut else parts[-1].finish_reason,
        sum((part.usage for part in parts), LlmUsage()),
        tuple(duplicate for part in parts for duplicate in part.duplicates),
    )
