"""The graph of a summary: plan -> map waves -> reduce levels -> reflect -> again or topics.

A node is a function from the state, two numbers, to the next; texts come from the store and go there. A run that goes
on begins at the first node: batches, merges and verdicts that are stored are not asked for again. Nodes make their
calls at once; when one has failed, those that are on their way are let finish.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from functools import cache, partial
from itertools import count
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from opentelemetry.trace import Span

from pipeline.llm.chat_model import NO_USAGE
from pipeline.off_loop import stoppable
from pipeline.reading.terms import Term
from pipeline.summarize.citations.cite import CitationBounds, cite
from pipeline.summarize.citations.places import Citations
from pipeline.summarize.duplicates import DuplicateFilter
from pipeline.summarize.events import BatchDone, Drafted, GroupDone, LayersFound, Phase, Reflected, TopicsFound
from pipeline.summarize.graph.calls import PlannedCall, StepAnswer, answer, ask_text, or_instead, warn_of_text
from pipeline.summarize.graph.finish import finish, write_json, write_layers
from pipeline.summarize.graph.run import (
    GROUPS,
    TOPICS,
    UNIQUE,
    VERDICT,
    Run,
    TextOutcome,
    UniqueText,
    VerdictOutcome,
    alongside,
    read_step,
    text_key,
)
from pipeline.summarize.packing import Packer, begin_keys, fit_context, hash_text, tail_by_tokens, to_cuts
from pipeline.summarize.plan import level_calls
from pipeline.summarize.result import WarningCode
from pipeline.summarize.retention import measure
from pipeline.summarize.steering.wishes import PLAIN
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.storage.store import TEXTS_AT_ONCE
from pipeline.summarize.writer import (
    CriticVerdict,
    Critique,
    CritiqueTask,
    Extraction,
    ExtractTask,
    MergeStage,
    TopicList,
    TopicsTask,
    stretch_of,
)
from pipeline.tracing import note


class SummaryState(TypedDict, total=False):
    """Where a summary stands between two steps."""

    iteration: int  # from 1; 0 before the plan node
    best_iteration: int  # the one whose summary is the best so far; 0 before the first verdict


@cache
def summary_graph() -> CompiledStateGraph[SummaryState, Run, SummaryState, SummaryState]:
    """Compiles the graph. One graph serves all summaries."""
    builder = StateGraph(SummaryState, context_schema=Run)
    builder.add_node("plan", plan, destinations=("extract", "reflect"))
    builder.add_node("extract", extract)
    builder.add_node("reduce", reduce)
    builder.add_node("reflect", reflect, destinations=("plan", "topics"))
    builder.add_node("topics", topics)
    builder.add_edge(START, "plan")
    builder.add_edge("extract", "reduce")
    builder.add_edge("reduce", "reflect")
    builder.add_edge("topics", END)
    return builder.compile(name="summarize")


async def plan(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Begins an iteration. One that has its text goes to the critic at once."""
    run = runtime.context
    iteration = state["iteration"] + 1
    with run.span("plan", iteration=iteration, batch_count=len(run.plan.batches)) as span:
        run.meter.phase, run.meter.iteration = Phase.MAP, iteration
        run.meter.calls_total = max(run.meter.calls_total, run.plan.calls(iteration))
        note(span, calls_planned=run.meter.calls_total, chunk_count=len(run.document.chunks), wave=run.plan.wave)
        is_written = await run.store.outputs(run.summary_id, iteration, Stage.LAYERS)  # stored last
    return Command(update={"iteration": iteration}, goto="reflect" if is_written else "extract")


async def extract(state: SummaryState, runtime: Runtime[Run]) -> None:
    """Map step: one extraction stored for each batch that lacks one, a wave at once."""
    run, iteration = runtime.context, state["iteration"]
    known = {output.position for output in await run.outputs(iteration, 0)}
    async with alongside(_read_terms(run)):
        for first in range(0, len(run.plan.batches), run.plan.wave):
            wave = range(first, min(first + run.plan.wave, len(run.plan.batches)))
            await _at_once(_extract(run, iteration, batch) for batch in wave if batch not in known)


async def _read_terms(run: Run) -> None:
    """Finds the terms of all batches ahead, on a thread.

    Pauses in between: Python runs one thread at a time. Without pauses every request of the event loop waits for this
    one (64 requests at once took 0.3 s longer).
    """
    for index in range(len(run.plan.batches)):
        await run.off_loop(partial(run.terms_of, index))
        await asyncio.sleep(0.005)


async def _at_once(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Waits for several works; with the first error, and when nobody waits any more, the others end."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _extract(run: Run, iteration: int, index: int) -> None:
    async with run.slots:
        counts = {"iteration": iteration, "batch_index": index, "chunk_count": len(run.plan.batches[index].chunks)}
        with run.span("extract", phase=Phase.MAP.value, **counts) as span:
            _note_text(span, await _extract_batch(run, iteration, index))


async def _extract_batch(run: Run, iteration: int, index: int) -> StepAnswer[TextOutcome]:
    task = await _extract_task(run, iteration, index)
    extraction = await ask_text(run, StepId(iteration, Stage.MAP, 0, index), task, run.plan.batch_keys[index])
    run.channel.offer(
        BatchDone(
            batch_index=index,
            batch_count=task.batch_count,
            chunk_indexes=extraction.output.chunk_indexes,
            pages=extraction.output.pages,
            usage=extraction.outcome.written.usage,
            is_reused=extraction.is_reused,
            retention=extraction.outcome.retention,
            result_key=extraction.output.result_key,
            progress=run.progress(),
        )
    )
    await warn_of_text(run, extraction)
    return extraction


def _note_text(span: Span, text: StepAnswer[TextOutcome]) -> None:
    written = text.outcome.written
    note(
        span,
        reused=text.is_reused,
        output_tokens=text.outcome.tokens,
        retained_share=text.outcome.retention.share,
        finish_reason=written.finish_reason,
        model_calls=0 if text.is_reused else written.usage.calls,
    )


async def _extract_task(run: Run, iteration: int, index: int) -> ExtractTask:
    # What was worded for a length is mended where that was done; the map's texts are known then, and cost nothing.
    critique = await run.critique_for(iteration) if run.plan.shape.goal is None else None
    limit = run.plan.limits.context_limit_tokens - (run.count_tokens(critique) if critique else 0)
    return ExtractTask(
        summary_type=run.options.summary_type,
        document_name=run.document.name,
        batch_index=index,
        batch_count=len(run.plan.batches),
        chunks=run.plan.batches[index].chunks,
        context=await _context(run, iteration, index, limit),
        context_is_source=run.plan.uses_source_context,
        critique=critique,
        wishes=run.options.wishes,
        least_share=run.plan.least_share,
    )


async def _context(run: Run, iteration: int, index: int, limit_tokens: int) -> tuple[str, ...]:
    """Returns what a batch sees of what stands before it; see `SummarizeConfig.wave`."""
    if run.plan.limits.chooses:
        return ()
    if run.plan.uses_source_context:
        return await run.off_loop(lambda: _source_context(run, index, limit_tokens))
    wave_start = index - index % run.plan.wave
    first = max(0, wave_start - run.config.context_batches)
    if first == wave_start:
        return ()
    extractions = await run.written_texts(iteration, 0, first, wave_start - 1)
    return fit_context([extraction.text for extraction in extractions], limit_tokens, run.count_tokens)


def _source_context(run: Run, index: int, limit_tokens: int) -> tuple[str, ...]:
    """Returns the headings above a batch with abbreviations of other batches, and the end of the source before it."""
    config, count_tokens = run.config, run.writer.count_tokens
    tail = ""
    if index:
        before = run.plan.batches[index - 1].chunks[-1].text
        tail = tail_by_tokens(before, min(limit_tokens, config.source_tail_tokens), count_tokens).strip()
    room = limit_tokens - count_tokens(tail)
    return tuple(filter(None, (run.background.of(index, min(room, config.outline_tokens), count_tokens), tail)))


async def reduce(state: SummaryState, runtime: Runtime[Run]) -> None:
    """Joins the texts of a level, again and again: drops what was said before, merges groups, ends with one text."""
    run, iteration = runtime.context, state["iteration"]
    run.meter.phase = Phase.REDUCE
    for level in count():
        with run.span("reduce", phase=Phase.REDUCE.value, iteration=iteration, level=level) as span:
            texts, hashes = await _drop_duplicates(run, iteration, level)
            is_merged = len(texts) > run.plan.most_joined
            groups = await _next_level(run, iteration, level, texts, hashes) if is_merged else []
            note(span, group_count=len(groups))
            if not is_merged:
                await _end_with(run, iteration, level, texts)
                return
        steps = (StepId(iteration, Stage.REDUCE, level + 1, index) for index in range(len(groups)))
        merged = {output.position for output in await run.outputs(iteration, level + 1)}
        await _at_once(
            _merge(run, step, group, len(groups))
            for step, group in zip(steps, groups, strict=True)
            if step.position not in merged
        )


async def _end_with(run: Run, iteration: int, level: int, texts: list[StepOutput]) -> None:
    """Makes the summary of an iteration from the one text that is left, or from a few that are joined."""
    if len(texts) > 1:
        texts, level = [await _joined(run, iteration, level, texts)], level + 1
    (last,) = texts
    await finish(run, iteration, level, last)
    text = await run.final_text(iteration)
    if run.channel.wants_drafts:
        run.channel.offer(Drafted(iteration, text, is_checked=True))
    layers = await write_layers(run, iteration, level, last, text)
    run.channel.offer(LayersFound(layers.overview, layers.sections, run.progress()))


async def _joined(run: Run, iteration: int, level: int, texts: list[StepOutput]) -> StepOutput:
    """Stores the texts of a level as the one of the next, in order. That costs neither a call nor a value."""
    text = await run.level_text(iteration, level)
    body = UNIQUE.dump_json(UniqueText(text, ())).decode()
    tokens = await run.off_loop(lambda: run.writer.count_tokens(text))
    output = StepOutput(0, text_key("unique", body), tokens, *stretch_of(texts))
    await run.record(StepId(iteration, Stage.UNIQUE, level + 1), output, body)
    return output


async def _next_level(
    run: Run, iteration: int, level: int, texts: list[StepOutput], hashes: list[bytes]
) -> list[range]:
    """Returns the groups of the texts of a level. A lone text goes up without a merge."""
    groups = await _group(run, StepId(iteration, Stage.GROUPS, level), [text.tokens for text in texts], hashes)
    written = {output.position: output for output in await run.outputs(iteration, level)}
    for index, group in enumerate(groups):
        if len(group) == 1:
            lone = written[texts[group[0]].position]._replace(position=index)
            await run.record(StepId(iteration, Stage.REDUCE, level + 1, index), lone, None)
    # When groups have shrunk by tokens, more calls are to come than were planned.
    size, most = run.plan.group_size, run.plan.most_joined
    planned, left = (sum(level_calls(len(some), size, most)) for some in (texts, groups))
    run.meter.calls_total += sum(len(group) > 1 for group in groups) + left - planned
    return groups


async def _drop_duplicates(run: Run, iteration: int, level: int) -> tuple[list[StepOutput], list[bytes]]:
    """Stores the texts of a level without sentences that an earlier one of them has. Repeating it changes nothing.

    Returns them with their hashes.
    """
    outputs = await run.outputs(iteration, level)
    filter_ = DuplicateFilter()
    unique: list[StepOutput] = []
    hashes: list[bytes] = []
    for first in range(0, len(outputs), TEXTS_AT_ONCE):
        part = outputs[first : first + TEXTS_AT_ONCE]
        written = await run.written_texts(iteration, level, part[0].position, part[-1].position)
        cleaned = await run.off_loop(lambda texts=written: [_clean(run, filter_, text) for text in texts])  # type: ignore[misc]
        steps = [
            (
                StepId(iteration, Stage.UNIQUE, level, output.position),
                output._replace(result_key=text_key("unique", body), tokens=tokens),
                body,
            )
            for output, (body, tokens, _) in zip(part, cleaned, strict=True)
        ]
        await run.store.record(run.summary_id, steps)
        unique += [output for _, output, _ in steps]
        hashes += [text_hash for *_, text_hash in cleaned]
    return unique, hashes


def _clean(run: Run, filter_: DuplicateFilter, extraction: Extraction) -> tuple[str, int, bytes]:
    """Returns a text without its duplicates as JSON, its tokens and its hash.

    What would lose everything keeps everything.
    """
    known = len(filter_.removed)
    text = filter_.clean(extraction) or extraction.text
    removed = filter_.removed[known:] if text != extraction.text else []
    body = UNIQUE.dump_json(UniqueText(text, tuple(removed))).decode()
    return body, run.writer.count_tokens(text), hash_text(text)


async def _group(run: Run, step: StepId, token_counts: list[int], hashes: list[bytes]) -> list[range]:
    """Returns the groups of a level: they begin where earlier ones began, and are as full as they may be.

    They are stored: another summary that ends meanwhile must not change them when the level is read again.
    """
    if (stored := await read_step(run.store, run.summary_id, step, GROUPS)) is not None:
        return to_cuts(stored)
    keys = begin_keys(f"reduce\n{run.call_scope}", hashes)
    packer = Packer(token_counts, run.plan.group_size, run.plan.reduce_budget_tokens, 2)
    known = await run.store.known_calls(keys)
    groups = await run.off_loop(lambda: packer.cuts_at(keys, known))
    body = GROUPS.dump_json([len(group) for group in groups]).decode()
    await run.record(step, StepOutput(0, text_key("groups", body)), body)
    return groups


async def _merge(run: Run, step: StepId, group: range, group_count: int) -> None:
    """Stores one text for a group of several."""
    async with run.slots:
        counts = {"iteration": step.iteration, "level": step.level, "group_index": step.position}
        with run.span("merge", phase=Phase.REDUCE.value, text_count=len(group), **counts) as span:
            _note_text(span, await _merge_group(run, step, group, group_count))


async def _merge_group(run: Run, step: StepId, group: range, group_count: int) -> StepAnswer[TextOutcome]:
    members = await run.unique_texts(step.iteration, step.level - 1, group[0], group[-1])
    is_final = group_count == 1
    is_shaped = is_final and not run.plan.limits.chooses
    stage = MergeStage.FINAL if is_final else MergeStage.INTERMEDIATE
    target = run.plan.answer_tokens if is_shaped else run.plan.limits.output_tokens
    task = replace(
        run.merge_task(stage, step.level, members, target),
        group_index=step.position,
        group_count=group_count,
        critique=await run.critique_for(step.iteration),
        shape=run.plan.shape if is_shaped else PLAIN,
    )
    begin_key, *_ = begin_keys(f"reduce\n{run.call_scope}", [hash_text(member.text) for member in members[:2]])
    is_half_full = 2 * len(members) >= run.plan.group_size
    merged = await ask_text(run, step, task, begin_key if is_half_full else "")
    await warn_of_text(run, merged, is_summary=is_final and run.plan.shape.is_plain)
    run.channel.offer(
        GroupDone(
            level=step.level,
            group_index=step.position,
            group_count=group_count,
            merged_count=len(members),
            chunk_indexes=merged.output.chunk_indexes,
            pages=merged.output.pages,
            usage=merged.outcome.written.usage,
            is_reused=merged.is_reused,
            result_key=merged.output.result_key,
            progress=run.progress(),
        )
    )
    return merged


async def reflect(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Asks the critic, keeps the best iteration so far, and decides whether to begin again."""
    run = runtime.context
    run.meter.phase = Phase.REFLECT
    iteration = state["iteration"]
    with run.span("reflect", phase=Phase.REFLECT.value, iteration=iteration) as span:
        outcome = await run.verdict_of(iteration) or await _judge(run, iteration)
        best = await _better(run, state["best_iteration"], iteration, outcome)
        begins_again = await _begins_again(run, iteration, outcome.verdict)
        await _tell_verdict(run, iteration, outcome, best, begins_again=begins_again)
        critic_verdict, share = outcome.verdict.critic_verdict.value, outcome.retention.share
        note(span, critic_verdict=critic_verdict, retained_share=share, best_iteration=best, begins_again=begins_again)
    return Command(update={"best_iteration": best}, goto="plan" if begins_again else "topics")


async def _judge(run: Run, iteration: int) -> VerdictOutcome:
    summary = await run.final_text(iteration)
    retention = await run.off_loop(lambda: measure(_document_terms(run), [run.mentions_of(summary)]))
    options = run.options
    name, target = run.document.name, run.plan.target_tokens
    is_read = target and not run.plan.limits.chooses
    passages = await run.off_loop(lambda: _passages(run, summary)) if is_read else ""
    task = CritiqueTask(options.summary_type, name, iteration, summary, retention, options.wishes, target, passages)

    async def ask(task: CritiqueTask) -> VerdictOutcome:
        # Without a critic the summary stands as it is, with a warning: it is paid for.
        missing = Critique(CriticVerdict.UNPARSEABLE, "", NO_USAGE)
        return VerdictOutcome(await or_instead(run.writer.critique(task), missing), retention)

    return (await answer(run, PlannedCall(StepId(iteration, Stage.REFLECT), task, ask, VERDICT))).outcome


def _passages(run: Run, summary: str) -> str:
    return "\n".join(run.cited.text[start:end] for start, end in run.cited.told(summary))


def _document_terms(run: Run) -> dict[Term, None]:
    return dict.fromkeys(term for index in stoppable(range(len(run.plan.batches))) for term in run.terms_of(index))


async def _better(run: Run, best: int, iteration: int, new: VerdictOutcome) -> int:
    """Returns the better of two iterations: a PASS wins, then what kept more terms, then the later one."""
    old = await run.verdict_of(best) if best else None
    return best if old and _rank(old) > _rank(new) else iteration


def _rank(outcome: VerdictOutcome) -> tuple[bool, float]:
    return outcome.verdict.critic_verdict is CriticVerdict.PASS, outcome.retention.share


async def _begins_again(run: Run, iteration: int, verdict: Critique) -> bool:
    """Decides on another iteration. An answer that is no verdict counts as FAIL, but only once."""
    if verdict.critic_verdict is CriticVerdict.PASS or iteration >= run.plan.max_iterations:
        return False
    if verdict.critic_verdict is CriticVerdict.FAIL:
        return not verdict.is_general
    if not verdict.text:  # the critic did not answer
        return False
    earlier = [await run.verdict_of(number) for number in range(1, iteration)]
    return not any(outcome and outcome.verdict.critic_verdict is CriticVerdict.UNPARSEABLE for outcome in earlier)


async def _tell_verdict(run: Run, iteration: int, outcome: VerdictOutcome, best: int, *, begins_again: bool) -> None:
    verdict = outcome.verdict
    run.channel.offer(
        Reflected(
            iteration=iteration,
            critic_verdict=verdict.critic_verdict,
            critique=verdict.text,
            retention=outcome.retention,
            begins_again=begins_again,
            progress=run.progress(),
        )
    )
    if verdict.critic_verdict is CriticVerdict.UNPARSEABLE:
        message = f"no verdict on iteration {iteration}: counted as FAIL"
        await run.warn(WarningCode.CRITIC_NOT_UNDERSTOOD, message)
    if not begins_again and verdict.critic_verdict is not CriticVerdict.PASS:
        message = f"accepted iteration {best} of {iteration} without a PASS: check the critique and the retention"
        await run.warn(WarningCode.CRITIC_NOT_CONTENT, message)


async def topics(state: SummaryState, runtime: Runtime[Run]) -> None:
    """Asks for the key topics of the best summary, and cites it meanwhile."""
    run, best = runtime.context, state["best_iteration"]
    run.meter.phase = Phase.TOPICS
    summary = await run.final_text(best)
    async with alongside(_cite(run, summary)) as citing:
        found = await _find_topics(run, best, summary)
        if run.plan.json_calls:
            await write_json(run, best)
        run.meter.phase = Phase.DONE
        run.channel.offer(TopicsFound(found.topics, run.progress()))
        run.citation = await citing


async def _cite(run: Run, text: str) -> Citations:
    """Finds where the sentences of the finished text stand in the document."""
    gate, config = run.gate, run.config
    bounds = CitationBounds(config.max_citations, gate.max_cited_claims if gate else 0, run.caller)
    return await cite(text, run.cited, bounds, gate.reader if gate else None, run.off_loop)


async def _find_topics(run: Run, iteration: int, summary: str) -> TopicList:
    fewest = run.config.min_topics
    with run.span("topics", phase=Phase.TOPICS.value, iteration=iteration) as span:
        task = TopicsTask(run.document.name, summary, fewest, run.config.max_topics)

        async def ask(task: TopicsTask) -> TopicList:
            return await or_instead(run.writer.topics(task), TopicList((), NO_USAGE))

        found = await answer(run, PlannedCall(StepId(iteration, Stage.TOPICS), task, ask, TOPICS))
        note(span, topic_count=len(found.outcome.topics), reused=found.is_reused)
    if left_out := len(found.outcome.left_out):
        message = f"{left_out} key topics that the summary does not mention were left out"
        await run.warn(WarningCode.TOPICS_LEFT_OUT, message)
    if len(found.outcome.topics) < fewest:
        message = f"{len(found.outcome.topics)} key topics instead of {fewest} or more"
        await run.warn(WarningCode.FEW_TOPICS, message)
    return found.outcome
