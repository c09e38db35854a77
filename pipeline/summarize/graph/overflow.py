"""What happens when a prompt overflows the model's context although it was within its budget?

Budgets rest on counts that may be estimates, so that the endpoint has the last word. No text is skipped: less is asked
at once, until it fits or cannot become less.
"""

from dataclasses import replace

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import ContextOverflowError
from pipeline.summarize.document import SourceChunk
from pipeline.summarize.errors import StalledReductionError
from pipeline.summarize.graph.run import Run
from pipeline.summarize.packing import split_by_tokens
from pipeline.summarize.writer import Extraction, ExtractTask, MergeStage, MergeTask, Written

_LEAST_TOKENS = 16  # of a text that is still worth cutting


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
    before = run.count_tokens(extraction.text)
    target = max(1, min(before // 2, run.plan.limits.output_tokens))
    compress = replace(task, stage=MergeStage.COMPRESS, extractions=(extraction,), target_tokens=target)
    written = await merge_fitting(run, compress)
    after = run.count_tokens(written.text)
    if after >= before:
        raise StalledReductionError("shortening a text that overflowed the model", before, after)
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
