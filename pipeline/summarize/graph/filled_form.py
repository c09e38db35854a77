"""Gives a finished summary in the JSON that its caller has a schema for, and checks what that says.

The chat model behind the writer holds the answer to the schema and has it repaired. Its texts and numbers must stand in
the summary, which has passed the gate: where they do not, the model is asked once more, and the better answer is kept.
"""

from dataclasses import replace
from functools import partial

from langgraph.runtime import Runtime

from pipeline.llm.chat_model import NO_USAGE
from pipeline.summarize.gate.findings import Remedy
from pipeline.summarize.graph.notes import final_text, warn
from pipeline.summarize.graph.run import PlannedCall, Run
from pipeline.summarize.graph.texts import WRITTEN, text_key
from pipeline.summarize.packing import head_by_tokens
from pipeline.summarize.result import WarningCode
from pipeline.summarize.steering.json_form import parse_schema, stated_values
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask, Written

_CHOSEN = 1  # level of the answer that is kept; those that were asked for have 0
_REPAIRED = (Remedy.DROPPED, Remedy.CORRECTED)  # what the gate would do to a text, and does not do to JSON


async def write_json(runtime: Runtime[Run], iteration: int) -> None:
    """Stores the JSON of an iteration's summary."""
    run = runtime.context
    task = await _task(runtime, iteration)
    chosen, faults, complaint = await _checked(run, task, await _ask(run, StepId(iteration, Stage.JSON), task))
    if faults and run.plan.limits.repeats:
        run.meter.calls_total += 1
        again = replace(task, critique=complaint)
        second = await _ask(run, StepId(iteration, Stage.JSON, position=1), again)
        other, other_faults, _ = await _checked(run, task, second)
        if other_faults < faults:
            chosen, faults = other, other_faults
    if faults:
        message = f"{faults} texts or numbers of the JSON do not stand in the summary: compare them"
        await warn(runtime, WarningCode.JSON_FLAWED, message)
    output = StepOutput(0, text_key("json", chosen))
    body = WRITTEN.dump_json(Written(chosen, "stop", NO_USAGE)).decode()
    await run.job.store.record(run.job.summary_id, StepId(iteration, Stage.JSON, _CHOSEN), output, body=body)


async def _task(runtime: Runtime[Run], iteration: int) -> MergeTask:
    """Returns what is asked of the model, with as much of the summary as a prompt has room for."""
    run = runtime.context
    text = await final_text(run, iteration)
    shown = head_by_tokens(text, run.plan.reduce_budget_tokens, run.count_tokens)
    if len(shown.strip()) < len(text.strip()):
        message = "the summary is too long for one prompt: the JSON is made from its beginning"
        await warn(runtime, WarningCode.JSON_FLAWED, message)
    first, last = run.plan.batches[0], run.plan.batches[-1]
    chunks, pages = (first.chunk_indexes[0], last.chunk_indexes[1]), (first.pages[0], last.pages[1])
    task = run.job.merge_task(MergeStage.JSON, 0, [Extraction(shown, chunks, pages)], run.plan.limits.output_tokens)
    return replace(task, json_schema=run.job.options.json_schema)


async def _ask(run: Run, step: StepId, task: MergeTask) -> str:
    call = PlannedCall(step, task, partial(run.job.writer.merge, task), WRITTEN)
    return (await run.answer(call)).outcome.text


async def _checked(run: Run, task: MergeTask, answer: str) -> tuple[str, int, str]:
    """Returns an answer, how many of its texts and numbers the summary does not have, and what to tell the model."""
    gate = run.job.gate
    if gate is None:
        return answer, 0, ""
    values = await run.job.off_loop(lambda: stated_values(answer, parse_schema(task.json_schema)))
    if not values:
        return answer, 0, ""
    case = await gate.read(task, room=1.0, caller=run.job.caller)
    checked = await gate.check(values, case)
    return answer, sum(one.remedy in _REPAIRED for one in checked.trust.findings), checked.complaint()
