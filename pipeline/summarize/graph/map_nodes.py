"""Plan and map: waves of batches, each batch one call."""

from functools import partial

from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from pipeline.summarize.events import BatchDone
from pipeline.summarize.graph.notes import critique_for, warn_of_text, written_texts
from pipeline.summarize.graph.overflow import extract_fitting
from pipeline.summarize.graph.run import BatchTask, Run, StepAnswer, SummaryState
from pipeline.summarize.graph.texts import TextOutcome
from pipeline.summarize.graph.trusted import TextCall, ask_text
from pipeline.summarize.packing import fit_context, tail_by_tokens
from pipeline.summarize.plan import Phase, SummaryPlan
from pipeline.summarize.retention import Retention, measure
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.tracing import node_span, note_text
from pipeline.summarize.writer import ExtractTask
from pipeline.tracing import note


async def plan(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Begins an iteration with its first wave."""
    run = runtime.context
    iteration = state.get("iteration", 0) + 1
    with node_span("plan", run.job.summary_id, iteration=iteration, batch_count=len(run.plan.batches)) as span:
        run.meter.phase, run.meter.iteration = Phase.MAP, iteration
        run.meter.calls_total = run.plan.calls(iteration)
        note(span, calls_planned=run.meter.calls_total, chunk_count=len(run.job.document.chunks), wave=run.plan.wave)
        return Command(update={"iteration": iteration, "level": 0}, goto=_wave(run.plan, iteration, 0))


async def extract(state: BatchTask, runtime: Runtime[Run]) -> Command[str] | None:
    """Map step: one batch in, one extraction stored.

    The first batch of a wave also sends the next wave. LangGraph starts that when the whole wave is done, since the
    tasks of a step wait for each other; a step of its own for it would cost as much again.
    """
    run = runtime.context
    run.meter.phase = Phase.MAP
    iteration, index = state["iteration"], state["batch"]
    async with run.slots:
        counts = {"iteration": iteration, "batch_index": index, "chunk_count": len(run.plan.batches[index].chunks)}
        with node_span("extract", run.job.summary_id, phase=Phase.MAP.value, **counts) as span:
            answer = await _extract_batch(runtime, iteration, index)
            note_text(span, answer.outcome, is_reused=answer.is_reused)
    leads_wave = index % run.plan.wave == 0
    return Command(goto=_wave(run.plan, iteration, index + run.plan.wave)) if leads_wave else None


async def _extract_batch(runtime: Runtime[Run], iteration: int, index: int) -> StepAnswer[TextOutcome]:
    run = runtime.context
    batch = run.plan.batches[index]
    extract_task = await _extract_task(run, iteration, index)

    def measured(text: str) -> Retention:
        known = () if extract_task.context_is_source else map(run.mentions_of, extract_task.context)
        return measure(run.terms.of(index), [run.mentions_of(text), *known])

    step = StepId(iteration, Stage.MAP, 0, index)
    output = StepOutput(index, "", 0, batch.chunk_indexes, batch.pages)
    texts = run.plan.batch_calls[index]
    answer = await ask_text(run, TextCall(step, extract_task, partial(extract_fitting, run), measured, output, texts))
    runtime.stream_writer(
        BatchDone(
            batch_index=index,
            batch_count=len(run.plan.batches),
            chunk_indexes=batch.chunk_indexes,
            pages=batch.pages,
            usage=answer.outcome.written.usage,
            is_reused=answer.is_reused,
            retention=answer.outcome.retention,
            result_key=answer.result_key,
            progress=run.meter.progress(),
        )
    )
    await warn_of_text(runtime, answer.outcome, step, output)
    return answer


def _wave(plan: SummaryPlan, iteration: int, first: int) -> list[Send] | str:
    """Returns the tasks of the wave that begins at a batch, or what follows the last wave."""
    last = min(first + plan.wave, len(plan.batches))
    sends = [Send("extract", BatchTask(iteration=iteration, batch=batch)) for batch in range(first, last)]
    return sends or "reduce"


async def _extract_task(run: Run, iteration: int, index: int) -> ExtractTask:
    critique = await critique_for(run, iteration)
    limit = run.plan.limits.context_limit_tokens - (run.count_tokens(critique) if critique else 0)
    return ExtractTask(
        summary_type=run.job.options.summary_type,
        document_name=run.job.document.name,
        batch_index=index,
        batch_count=len(run.plan.batches),
        chunks=run.plan.batches[index].chunks,
        context=await _context(run, iteration, index, limit),
        context_is_source=run.plan.uses_source_context,
        critique=critique,
        wishes=run.job.options.wishes,
        least_share=run.plan.least_share,
    )


async def _context(run: Run, iteration: int, index: int, limit_tokens: int) -> tuple[str, ...]:
    """Returns what a batch sees of what stands before it; see `SummarizeConfig.wave`."""
    if not run.plan.limits.reads_context:
        return ()
    if run.plan.uses_source_context:
        return await run.job.off_loop(lambda: _source_context(run, index, limit_tokens))
    wave_start = index - index % run.plan.wave
    first = max(0, wave_start - run.job.config.context_batches)
    if first == wave_start:
        return ()
    extractions = await written_texts(run, iteration, 0, first, wave_start - 1)
    return fit_context([extraction.text for extraction in extractions], limit_tokens, run.count_tokens)


def _source_context(run: Run, index: int, limit_tokens: int) -> tuple[str, ...]:
    """Returns the headings above a batch with abbreviations of other batches, and the end of the source before it."""
    config, count_tokens = run.job.config, run.job.writer.count_tokens
    tail = ""
    if index:
        before = run.plan.batches[index - 1].chunks[-1].text
        tail = tail_by_tokens(before, min(limit_tokens, config.source_tail_tokens), count_tokens).strip()
    room = limit_tokens - count_tokens(tail)
    return tuple(filter(None, (run.background.of(index, min(room, config.outline_tokens), count_tokens), tail)))
