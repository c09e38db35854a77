"""Reduce: level by level, groups of neighbours become one text, until one is left.

A text that is too long for its group is made shorter first.
"""

from dataclasses import replace

from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.duplicates import DuplicateFilter
from pipeline.summarize.errors import StalledReductionError
from pipeline.summarize.events import Drafted, GroupDone
from pipeline.summarize.graph.finish import answer_tokens, ask_merge, finish
from pipeline.summarize.graph.layers import write_layers
from pipeline.summarize.graph.notes import critique_for, final_text, stage_of, unique_texts, written_texts
from pipeline.summarize.graph.run import GroupTask, Run, StepAnswer, SummaryState
from pipeline.summarize.graph.texts import GROUPS, UNIQUE, TextOutcome, UniqueText, text_key
from pipeline.summarize.incremental.known_calls import TextRow, hash_text, known_lengths, to_cuts
from pipeline.summarize.incremental.take_over import regroup
from pipeline.summarize.packing import level_calls, split_by_tokens
from pipeline.summarize.plan import Phase
from pipeline.summarize.steering.wishes import PLAIN
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.tracing import node_span, note_text
from pipeline.summarize.writer import Extraction, MergeStage
from pipeline.tracing import note

_TEXTS_AT_ONCE = 64


async def reduce(state: SummaryState, runtime: Runtime[Run]) -> Command[str]:
    """Joins the texts of a level: drops what was said before, groups the rest, or ends with the last one."""
    run = runtime.context
    run.meter.phase = Phase.REDUCE
    iteration, level = state["iteration"], state["level"]
    with node_span("reduce", run.job.summary_id, phase=Phase.REDUCE.value, iteration=iteration, level=level) as span:
        command = await _next_level(runtime, iteration, level)
        note(span, group_count=len(command.goto) if isinstance(command.goto, list) else 0)
        return command


async def _next_level(runtime: Runtime[Run], iteration: int, level: int) -> Command[str]:
    run = runtime.context
    texts, hashes = await _drop_duplicates(run, iteration, level)
    if len(texts) == 1:
        final, body = await finish(runtime, iteration, level, texts[0])
        await run.job.store.record(run.job.summary_id, StepId(iteration, Stage.FINAL), final, body=body)
        text = await final_text(run, iteration)
        if run.readers.wants_drafts:
            run.readers.offer(Drafted(iteration, text, is_checked=True))
        await write_layers(runtime, iteration, level, texts[0], text)
        return Command(goto="reflect")
    groups = await _group(run, StepId(iteration, Stage.GROUPS, level), [text.tokens for text in texts], hashes)
    for index, group in enumerate(groups):
        if len(group) == 1:  # goes up as it is
            await _pass_on(run, StepId(iteration, Stage.REDUCE, level + 1, index), texts[group[0]])
    merges = [(index, group) for index, group in enumerate(groups) if len(group) > 1]
    _expect(run, len(texts), len(merges), len(groups))
    sends = [
        Send(
            "merge",
            GroupTask(
                iteration=iteration,
                level=level + 1,
                group=index,
                group_count=len(groups),
                first=group[0],
                last=group[-1],
            ),
        )
        for index, group in merges
    ]
    return Command(update={"level": level + 1}, goto=sends)


async def merge(state: GroupTask, runtime: Runtime[Run]) -> None:
    """Reduce step: one group in, one text stored."""
    run = runtime.context
    async with run.slots:
        counts = {"iteration": state["iteration"], "level": state["level"], "group_index": state["group"]}
        with node_span("merge", run.job.summary_id, phase=Phase.REDUCE.value, **counts) as span:
            answer = await _merge_group(runtime, state)
            note(span, text_count=state["last"] - state["first"] + 1)
            note_text(span, answer.outcome, is_reused=answer.is_reused)


async def _merge_group(runtime: Runtime[Run], state: GroupTask) -> StepAnswer[TextOutcome]:
    run = runtime.context
    iteration, level = state["iteration"], state["level"]
    members = await unique_texts(run, iteration, level - 1, state["first"], state["last"])
    fitting, extra = await fit_group(runtime, state, members)
    is_final = state["group_count"] == 1
    is_shaped = is_final and run.plan.limits.shapes_merges
    stage = MergeStage.FINAL if is_final else MergeStage.INTERMEDIATE
    target = answer_tokens(run) if is_shaped else run.plan.limits.output_tokens
    merge_task = replace(
        run.job.merge_task(stage, level, fitting, target),
        group_index=state["group"],
        group_count=state["group_count"],
        critique=await critique_for(run, iteration),
        shape=run.plan.shape if is_shaped else PLAIN,
    )
    whole = join_extractions(members)
    step = StepId(iteration, Stage.REDUCE, level, state["group"])
    texts = TextRow.of(_scope(run), [member.text for member in members]).call(0, len(members))
    answer = await ask_merge(runtime, step, merge_task, whole, texts)
    _tell(runtime, state, whole, answer, extra)
    return answer


def _tell(
    runtime: Runtime[Run], state: GroupTask, whole: Extraction, answer: StepAnswer[TextOutcome], extra: LlmUsage
) -> None:
    runtime.stream_writer(
        GroupDone(
            level=state["level"],
            group_index=state["group"],
            group_count=state["group_count"],
            merged_count=state["last"] - state["first"] + 1,
            chunk_indexes=whole.chunk_indexes,
            pages=whole.pages,
            usage=answer.outcome.written.usage + extra,
            is_reused=answer.is_reused,
            result_key=answer.result_key,
            progress=runtime.context.meter.progress(),
        )
    )


def join_extractions(members: list[Extraction]) -> Extraction:
    """Returns neighbours as one text with the whole stretch of the document."""
    return Extraction(
        "\n\n".join(member.text for member in members),
        (members[0].chunk_indexes[0], members[-1].chunk_indexes[1]),
        (min(member.pages[0] for member in members), max(member.pages[1] for member in members)),
    )


async def _drop_duplicates(run: Run, iteration: int, level: int) -> tuple[list[StepOutput], list[bytes]]:
    """Stores the texts of a level without sentences that an earlier one of them has. Repeating it changes nothing.

    Returns them with their hashes.
    """
    outputs = await run.job.store.outputs(run.job.summary_id, iteration, stage_of(level), level)
    filter_ = DuplicateFilter()
    unique: list[StepOutput] = []
    hashes: list[bytes] = []
    for first in range(0, len(outputs), _TEXTS_AT_ONCE):
        part = outputs[first : first + _TEXTS_AT_ONCE]
        written = await written_texts(run, iteration, level, part[0].position, part[-1].position)
        cleaned = await run.job.off_loop(lambda texts=written: [_clean(run, filter_, text) for text in texts])  # type: ignore[misc]
        steps = [
            (
                StepId(iteration, Stage.UNIQUE, level, output.position),
                output._replace(result_key=text_key("unique", body), tokens=tokens),
                body,
            )
            for output, (body, tokens, _) in zip(part, cleaned, strict=True)
        ]
        await run.job.store.record_all(run.job.summary_id, steps)
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
    stored = await store.bodies(summary_id, step, 0)
    if not stored:
        row = TextRow(_scope(run), tuple(hashes))
        known = await store.call_texts.find(row)
        groups = await run.job.off_loop(lambda: regroup(run.plan, token_counts, known_lengths(row, known)))
        body = GROUPS.dump_json([len(group) for group in groups]).decode()
        await store.record(summary_id, step, StepOutput(0, text_key("groups", body)), body=body)
        stored = await store.bodies(summary_id, step, 0)
    return to_cuts(GROUPS.validate_json(stored[0][1]))


async def _pass_on(run: Run, step: StepId, text: StepOutput) -> None:
    """Moves a lone text up without a call."""
    level, store = step.level - 1, run.job.store
    below = StepId(step.iteration, stage_of(level), level, text.position)
    ((written, _),) = await store.bodies(run.job.summary_id, below, text.position)
    await store.record(run.job.summary_id, step, written._replace(position=step.position))


def _expect(run: Run, text_count: int, merge_count: int, group_count: int) -> None:
    """Corrects the expected calls when groups have shrunk by tokens."""
    planned = sum(level_calls(text_count, run.plan.group_size))
    run.meter.calls_total += merge_count + sum(level_calls(group_count, run.plan.group_size)) - planned


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
    for attempt in range(run.job.config.max_compressions + 1):
        sizes = [run.count_tokens(member.text) for member in fitting]
        if sum(sizes) <= budget:
            break
        if attempt == run.job.config.max_compressions:
            raise StalledReductionError(f"compressing group {task['group']}", budget, sum(sizes))
        share = budget // len(fitting)
        for index, size in enumerate(sizes):
            if size > share:
                position = ((task["first"] + index) * run.job.config.max_compressions + attempt) * _PARTS
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
    task = run.job.merge_task(MergeStage.COMPRESS, step.level, [part], target_tokens)
    task = replace(task, critique=await critique_for(run, step.iteration))
    return (await ask_merge(runtime, step, task, part)).outcome
