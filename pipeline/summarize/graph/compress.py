"""Makes texts shorter that are too long for their group."""

from dataclasses import replace

from langgraph.runtime import Runtime

from pipeline.llm.llm_usage import LlmUsage
from pipeline.summarize.errors import StalledReductionError
from pipeline.summarize.graph.outcomes import TEXT, TextOutcome
from pipeline.summarize.graph.overflow import merge_fitting
from pipeline.summarize.graph.run import Question, Run
from pipeline.summarize.graph.state import GroupTask
from pipeline.summarize.graph.texts import critique_for
from pipeline.summarize.graph.warn import warn_if_cut
from pipeline.summarize.retention import measure
from pipeline.summarize.splitting import split_by_tokens
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask
from pipeline.text.technical_terms import find_terms

_PARTS = 1_000  # of one text; keeps the positions of compress steps apart


async def fit_group(
    runtime: Runtime[Run], task: GroupTask, members: list[Extraction]
) -> tuple[list[Extraction], LlmUsage]:
    """Returns the members of a group, made shorter one by one until all fit into one prompt together.

    Raises:
        StalledReductionError: a compression did not shorten its text, or not enough after several attempts.
    """
    run = runtime.context
    budget = run.plan.reduce_budget_tokens
    fitting = list(members)
    usage = LlmUsage()
    for attempt in range(run.config.max_compressions + 1):
        sizes = [run.count_tokens(member.text) for member in fitting]
        if sum(sizes) <= budget:
            break
        if attempt == run.config.max_compressions:
            raise StalledReductionError(f"compressing group {task['group']}", budget, sum(sizes))
        share = budget // len(fitting)
        for index, size in enumerate(sizes):
            if size > share:
                position = ((task["first"] + index) * run.config.max_compressions + attempt) * _PARTS
                step = StepId(task["iteration"], Stage.COMPRESS, task["level"], position)
                fitting[index], cost = await _compress(runtime, step, fitting[index], share)
                usage += cost
    return fitting, usage


async def _compress(
    runtime: Runtime[Run], step: StepId, extraction: Extraction, target_tokens: int
) -> tuple[Extraction, LlmUsage]:
    """Writes one text shorter, in parts if it is longer than a prompt. Proves that it became shorter."""
    run = runtime.context
    parts = split_by_tokens(extraction.text, run.plan.reduce_budget_tokens, run.count_tokens)
    target = max(1, min(target_tokens // len(parts), run.plan.limits.output_tokens))
    texts: list[str] = []
    usage = LlmUsage()
    for index, part in enumerate(parts):
        outcome = await _compress_part(
            runtime, step._replace(position=step.position + index), replace(extraction, text=part), target
        )
        texts.append(outcome.written.text)
        usage += outcome.written.usage
    compressed = replace(extraction, text="\n\n".join(texts))
    before, after = run.count_tokens(extraction.text), run.count_tokens(compressed.text)
    if after >= before:
        raise StalledReductionError("compressing a text", before, after)
    return compressed, usage


async def _compress_part(runtime: Runtime[Run], step: StepId, part: Extraction, target_tokens: int) -> TextOutcome:
    run = runtime.context
    run.meter.calls_total += 1
    task = MergeTask(
        summary_type=run.options.summary_type,
        document_name=run.document.name,
        stage=MergeStage.COMPRESS,
        level=step.level,
        group_index=0,
        group_count=1,
        extractions=(part,),
        target_tokens=target_tokens,
        critique=await critique_for(run, step.iteration),
    )

    async def ask() -> TextOutcome:
        written = await merge_fitting(run, task)
        retention = measure(find_terms(part.text), [run.mentions_of(written.text)])
        return TextOutcome(written, run.count_tokens(written.text), retention)

    answer = await run.answer(
        Question(
            step,
            task,
            ask,
            TEXT,
            describe=lambda outcome: StepOutput(0, "", outcome.tokens, part.chunk_indexes, part.pages),
            usage=lambda outcome: outcome.written.usage,
        )
    )
    await warn_if_cut(runtime, answer.outcome.written, "a compressed text")
    return answer.outcome
