"""The graph of a summary: plan -> map waves -> reduce levels -> reflect -> again or topics.

A node is a function from the state, which is a few numbers, to the next; texts come from the store and go there. A run
that goes on begins at the first node: batches, merges and verdicts that are stored are not asked for again. When one
call has failed, those that are on their way are let finish.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send
from opentelemetry.trace import Span

from pipeline.llm.chat_model import NO_USAGE
from pipeline.summarize.duplicates import DuplicateFilter
from pipeline.summarize.events import BatchDone, Drafted, GroupDone, LayersFound, Phase, Reflected, TopicsFound
from pipeline.summarize.graph.calls import (
    PlannedCall,
    StepAnswer,
    TextCall,
    answer,
    ask_merge,
    ask_text,
    fit_group,
    or_instead,
    warn_of_text,
)
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
    read_step,
    text_key,
)
from pipeline.summarize.known_calls import TextRow, cut_row, hash_text, to_cuts
from pipeline.summarize.packing import fit_context, group_by_tokens, tail_by_tokens
from pipeline.summarize.plan import SummaryPlan, level_calls
from pipeline.summarize.result import WarningCode
from pipeline.summarize.retention import Mentions, Retention, measure
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
)
from pipeline.tracing import note


class SummaryState(TypedDict, total=False):
    """Where a summary stands between two steps.

    Attributes:
        iteration: from 1; 0 before the plan node.
        level: of the reduction whose texts are complete; 0 is the map.
        best_iteration: the one whose summary is the best so far; 0 before the first verdict.
    """

    iteration: int
    level: int
    best_iteration: int


class BatchTask(TypedDict):
    """One map call.

    Attributes:
        leads_wave: True for the one of its wave that sends the next wave.
    """

    iteration: int
    batch: int
    leads_wave: bool


class GroupTask(TypedDict):
    """One reduce call.

    Attributes:
        level: of the result, from 1.
        first: position of the first text in the level below.
        last: of the last text, inclusive.
    """

    iteration: int
    level: int
    group: int
    group_count: int
    first: int
    last: int


@cache
def summary_graph() -> CompiledStateGraph[SummaryState, Run, SummaryState, SummaryState]:
    """Compiles the graph. One graph serves all summaries.

    extract and merge run once for each task that another node sends; the step ends when all of them have.
    """
    builder = StateGraph(SummaryState, context_schema=Run)
    builder.add_node("plan", plan, destinations=("extract", "reduce", "reflect"))
    builder.add_node("extract", extract, input_schema=BatchTask, destinations=("extract", "reduce"))
    builder.add_node("reduce", reduce, destinations=("merge", "reduce", "reflect"))
    builder.add_node("merge", merge, input_schema=GroupTask)
    builder.add_node("reflect", reflect, destinations=("plan", "topics"))
    builder.add_node("topics", topics)
    builder.add_edge(START, "plan")
    builder.add_edge("merge", "reduce")
    builder.add_edge("topics", END)
    return builder.compile(name="summarize")


async def plan(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Begins an iteration with the first wave that lacks a batch. One that has its text goes to the critic at once."""
    run = runtime.context
    iteration = state.get("iteration", 0) + 1
    with run.span("plan", iteration=iteration, batch_count=len(run.plan.batches)) as span:
        run.meter.phase, run.meter.iteration = Phase.MAP, iteration
        run.meter.calls_total = max(run.meter.calls_total, run.plan.calls(iteration))
        note(span, calls_planned=run.meter.calls_total, chunk_count=len(run.job.document.chunks), wave=run.plan.wave)
        begun: SummaryState = {"iteration": iteration, "level": 0}
        if await run.job.store.outputs(run.job.summary_id, iteration, Stage.LAYERS):  # stored last
            return Command(update=begun, goto="reflect")
        run.known_batches = {output.position for output in await run.outputs(iteration, 0)}
        return Command(update=begun, goto=_wave(run, iteration, 0))


def _wave(run: Run, iteration: int, first: int) -> list[Send] | str:
    """Returns the tasks of the first wave from a batch on that lacks one, or what follows the last wave."""
    batch_count = len(run.plan.batches)
    for start in range(first, batch_count, run.plan.wave):
        wave = range(start, min(start + run.plan.wave, batch_count))
        if missing := [batch for batch in wave if batch not in run.known_batches]:
            tasks = [BatchTask(iteration=iteration, batch=each, leads_wave=each == missing[0]) for each in missing]
            return [Send("extract", task) for task in tasks]
    return "reduce"


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
        with run.span("extract", phase=Phase.MAP.value, **counts) as span:
            _note_text(span, await _extract_batch(run, iteration, index))
    next_wave = index - index % run.plan.wave + run.plan.wave
    return Command(goto=_wave(run, iteration, next_wave)) if state["leads_wave"] else None


async def _extract_batch(run: Run, iteration: int, index: int) -> StepAnswer[TextOutcome]:
    batch = run.plan.batches[index]
    task = await _extract_task(run, iteration, index)

    def measured(text: str) -> Retention:
        known = () if task.context_is_source else map(run.mentions_of, task.context)
        return measure(run.terms.of(index), [run.mentions_of(text), *known])

    output = StepOutput(index, "", 0, batch.chunk_indexes, batch.pages)
    call = TextCall(StepId(iteration, Stage.MAP, 0, index), task, measured, output, run.plan.batch_calls[index])
    extraction = await ask_text(run, call)
    run.job.channel.offer(
        BatchDone(
            batch_index=index,
            batch_count=len(run.plan.batches),
            chunk_indexes=batch.chunk_indexes,
            pages=batch.pages,
            usage=extraction.outcome.written.usage,
            is_reused=extraction.is_reused,
            retention=extraction.outcome.retention,
            result_key=extraction.result_key,
            progress=run.meter.progress(),
        )
    )
    await warn_of_text(run, extraction.outcome, call)
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
        summary_type=run.job.options.summary_type,
        document_name=run.job.document.name,
        batch_index=index,
        batch_count=len(run.plan.batches),
        chunks=run.plan.batches[index].chunks,
        context=await _context(run, iteration, index, limit),
        context_is_source=run.plan.uses_source_context,
        critique=critique,
        wishes=run.wishes,
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
    extractions = await run.written_texts(iteration, 0, first, wave_start - 1)
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


async def reduce(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Joins the texts of a level: drops what was said before, groups the rest, or ends with the last one."""
    run = runtime.context
    run.meter.phase = Phase.REDUCE
    iteration, level = state["iteration"], state["level"]
    with run.span("reduce", phase=Phase.REDUCE.value, iteration=iteration, level=level) as span:
        texts, hashes = await _drop_duplicates(run, iteration, level)
        if len(texts) == 1:
            note(span, group_count=0)
            await _end_with(run, iteration, level, texts[0])
            return Command(goto="reflect")
        sends = await _next_level(run, iteration, level, texts, hashes)
        note(span, group_count=len(sends))
        return Command(update={"level": level + 1}, goto=sends or "reduce")


async def _end_with(run: Run, iteration: int, level: int, last: StepOutput) -> None:
    """Makes the summary of an iteration from the one text that is left."""
    await finish(run, iteration, level, last)
    text = await run.final_text(iteration)
    if run.job.channel.wants_drafts:
        run.job.channel.offer(Drafted(iteration, text, is_checked=True))
    layers = await write_layers(run, iteration, level, last, text)
    run.job.channel.offer(LayersFound(layers.overview, layers.sections, run.meter.progress()))


async def _next_level(run: Run, iteration: int, level: int, texts: list[StepOutput], hashes: list[bytes]) -> list[Send]:
    """Returns the merges of the next level that are not stored. A lone text goes up without one."""
    groups = await _group(run, StepId(iteration, Stage.GROUPS, level), [text.tokens for text in texts], hashes)
    written = {output.position: output for output in await run.outputs(iteration, level)}
    merged = {output.position for output in await run.outputs(iteration, level + 1)}
    sends: list[Send] = []
    for index, group in enumerate(groups):
        if len(group) == 1:
            lone = written[texts[group[0]].position]._replace(position=index)
            await run.record(StepId(iteration, Stage.REDUCE, level + 1, index), lone, None)
        if len(group) == 1 or index in merged:
            continue
        task = GroupTask(
            iteration=iteration,
            level=level + 1,
            group=index,
            group_count=len(groups),
            first=group[0],
            last=group[-1],
        )
        sends.append(Send("merge", task))
    # When groups have shrunk by tokens, more calls are to come than were planned.
    planned = sum(level_calls(len(texts), run.plan.group_size))
    merges = sum(len(group) > 1 for group in groups)
    run.meter.calls_total += merges + sum(level_calls(len(groups), run.plan.group_size)) - planned
    return sends


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
        cleaned = await run.job.off_loop(lambda texts=written: [_clean(run, filter_, text) for text in texts])  # type: ignore[misc]
        steps = [
            (
                StepId(iteration, Stage.UNIQUE, level, output.position),
                output._replace(result_key=text_key("unique", body), tokens=tokens),
                body,
            )
            for output, (body, tokens, _) in zip(part, cleaned, strict=True)
        ]
        await run.job.store.record(run.job.summary_id, steps)
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
    return body, run.job.writer.count_tokens(text), hash_text(text)


def _scope(run: Run) -> str:
    return f"reduce\n{run.job.call_scope}"


async def _group(run: Run, step: StepId, token_counts: list[int], hashes: list[bytes]) -> list[range]:
    """Returns the groups of a level: known ones as they were, others as full as they may be.

    They are stored: another summary that ends meanwhile must not change them when the level is read again.
    """
    store, summary_id = run.job.store, run.job.summary_id
    stored = await read_step(store, summary_id, step, GROUPS)
    if stored is None:
        row = TextRow(_scope(run), tuple(hashes))
        known = await store.known_calls(row)
        may_stay, pack = partial(_fits, run.plan, token_counts), partial(_pack, run.plan, token_counts)
        groups = await run.job.off_loop(lambda: cut_row(row, known, may_stay, pack))
        body = GROUPS.dump_json([len(group) for group in groups]).decode()
        await run.record(step, StepOutput(0, text_key("groups", body)), body)
        stored = await read_step(store, summary_id, step, GROUPS)
    return to_cuts(stored or ())


def _fits(plan: SummaryPlan, token_counts: Sequence[int], cut: range) -> bool:
    is_small = len(cut) <= plan.group_size and sum(token_counts[cut.start : cut.stop]) <= plan.reduce_budget_tokens
    return len(cut) == 2 or is_small  # noqa: PLR2004 - two always merge


def _pack(plan: SummaryPlan, token_counts: Sequence[int], start: int, end: int) -> Iterator[range]:
    counts = token_counts[start:end]
    for group in group_by_tokens(counts, group_size=plan.group_size, budget_tokens=plan.reduce_budget_tokens):
        yield range(start + group.start, start + group.stop)


async def merge(state: GroupTask, runtime: Runtime[Run]) -> None:
    """Reduce step: one group in, one text stored."""
    run = runtime.context
    async with run.slots:
        counts = {"iteration": state["iteration"], "level": state["level"], "group_index": state["group"]}
        with run.span("merge", phase=Phase.REDUCE.value, **counts) as span:
            text = await _merge_group(run, state)
            note(span, text_count=state["last"] - state["first"] + 1)
            _note_text(span, text)


async def _merge_group(run: Run, state: GroupTask) -> StepAnswer[TextOutcome]:
    iteration, level = state["iteration"], state["level"]
    step = StepId(iteration, Stage.REDUCE, level, state["group"])
    members = await run.unique_texts(iteration, level - 1, state["first"], state["last"])
    fitting, extra = await fit_group(run, step, state["first"], members)
    is_final = state["group_count"] == 1
    is_shaped = is_final and run.plan.limits.shapes_merges
    stage = MergeStage.FINAL if is_final else MergeStage.INTERMEDIATE
    target = run.plan.answer_tokens if is_shaped else run.plan.limits.output_tokens
    task = replace(
        run.merge_task(stage, level, fitting, target),
        group_index=state["group"],
        group_count=state["group_count"],
        critique=await run.critique_for(iteration),
        shape=run.plan.shape if is_shaped else PLAIN,
    )
    whole = Extraction(
        "\n\n".join(member.text for member in members),
        (members[0].chunk_indexes[0], members[-1].chunk_indexes[1]),
        (min(member.pages[0] for member in members), max(member.pages[1] for member in members)),
    )
    texts = TextRow.of(_scope(run), [member.text for member in members]).call(0, len(members))
    merged = await ask_merge(run, step, task, whole, texts)
    run.job.channel.offer(
        GroupDone(
            level=level,
            group_index=state["group"],
            group_count=state["group_count"],
            merged_count=len(members),
            chunk_indexes=whole.chunk_indexes,
            pages=whole.pages,
            usage=merged.outcome.written.usage + extra,
            is_reused=merged.is_reused,
            result_key=merged.result_key,
            progress=run.meter.progress(),
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
        best = await _better(run, state.get("best_iteration", 0), iteration)
        begins_again = await _begins_again(run, iteration, outcome.verdict)
        await _tell_verdict(run, iteration, outcome, best, begins_again=begins_again)
        critic_verdict, share = outcome.verdict.critic_verdict.value, outcome.retention.share
        note(span, critic_verdict=critic_verdict, retained_share=share, best_iteration=best, begins_again=begins_again)
    return Command(update={"best_iteration": best}, goto="plan" if begins_again else "topics")


async def _judge(run: Run, iteration: int) -> VerdictOutcome:
    summary = await run.final_text(iteration)
    retention = await run.job.off_loop(lambda: measure(run.terms.of_document(), [Mentions.of(summary)]))
    options = run.job.options
    name, target = run.job.document.name, run.plan.target_tokens
    task = CritiqueTask(options.summary_type, name, iteration, summary, retention, run.wishes, target)

    async def ask(task: CritiqueTask) -> VerdictOutcome:
        # Without a critic the summary stands as it is, with a warning: it is paid for.
        missing = Critique(CriticVerdict.UNPARSEABLE, "", NO_USAGE)
        return VerdictOutcome(await or_instead(run.job.writer.critique(task), missing), retention)

    step = StepId(iteration, Stage.REFLECT)
    return (await answer(run, PlannedCall(step, task, ask, VERDICT))).outcome


async def _better(run: Run, best: int, iteration: int) -> int:
    """Returns the better of two iterations: a PASS wins, then what kept more terms, then the later one."""
    old = await run.verdict_of(best) if best else None
    new = await run.verdict_of(iteration)
    return best if old and new and _rank(old) > _rank(new) else iteration


def _rank(outcome: VerdictOutcome) -> tuple[bool, float]:
    return outcome.verdict.critic_verdict is CriticVerdict.PASS, outcome.retention.share


async def _begins_again(run: Run, iteration: int, verdict: Critique) -> bool:
    """Decides on another iteration. An answer that is no verdict counts as FAIL, but only once."""
    if verdict.critic_verdict is CriticVerdict.PASS or iteration >= run.plan.max_iterations:
        return False
    if verdict.critic_verdict is CriticVerdict.FAIL:
        return not verdict.is_general
    now = await run.verdict_of(iteration)
    if now is None or not now.verdict.text:  # the critic did not answer
        return False
    earlier = [await run.verdict_of(number) for number in range(1, iteration)]
    return not any(outcome and outcome.verdict.critic_verdict is CriticVerdict.UNPARSEABLE for outcome in earlier)


async def _tell_verdict(run: Run, iteration: int, outcome: VerdictOutcome, best: int, *, begins_again: bool) -> None:
    verdict = outcome.verdict
    run.job.channel.offer(
        Reflected(
            iteration=iteration,
            critic_verdict=verdict.critic_verdict,
            critique=verdict.text,
            retention=outcome.retention,
            begins_again=begins_again,
            progress=run.meter.progress(),
        )
    )
    if verdict.critic_verdict is CriticVerdict.UNPARSEABLE:
        message = f"no verdict on iteration {iteration}: counted as FAIL"
        await run.job.warn(WarningCode.CRITIC_NOT_UNDERSTOOD, message)
    if not begins_again and verdict.critic_verdict is not CriticVerdict.PASS:
        message = f"accepted iteration {best} of {iteration} without a PASS: check the critique and the retention"
        await run.job.warn(WarningCode.CRITIC_NOT_CONTENT, message)


async def topics(state: SummaryState, runtime: Runtime[Run]) -> None:
    """Asks for the key topics of the best summary."""
    run = runtime.context
    run.meter.phase = Phase.TOPICS
    best, fewest = state["best_iteration"], run.job.config.min_topics
    with run.span("topics", phase=Phase.TOPICS.value, iteration=best) as span:
        summary = await run.final_text(best)
        run.citing.begin(summary)  # beside the calls that are left
        task = TopicsTask(run.job.document.name, summary, fewest, run.job.config.max_topics)

        async def ask(task: TopicsTask) -> TopicList:
            return await or_instead(run.job.writer.topics(task), TopicList((), NO_USAGE))

        found = await answer(run, PlannedCall(StepId(best, Stage.TOPICS), task, ask, TOPICS))
        note(span, topic_count=len(found.outcome.topics), reused=found.is_reused)
    if found.outcome.left_out:
        message = f"{len(found.outcome.left_out)} key topics that the summary does not mention were left out"
        await run.job.warn(WarningCode.TOPICS_LEFT_OUT, message)
    if len(found.outcome.topics) < fewest:
        message = f"{len(found.outcome.topics)} key topics instead of {fewest} or more"
        await run.job.warn(WarningCode.FEW_TOPICS, message)
    if run.plan.json_calls:
        await write_json(run, best)
    run.meter.phase = Phase.DONE
    run.job.channel.offer(TopicsFound(found.outcome.topics, run.meter.progress()))
