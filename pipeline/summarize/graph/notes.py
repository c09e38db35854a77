"""Reads what earlier steps of a run wrote, and notes what went less than well, for the reader and for the result."""

from langgraph.runtime import Runtime

from pipeline.summarize.gate.findings import place_of, trust_warnings
from pipeline.summarize.graph.run import Run
from pipeline.summarize.graph.texts import TEXT, UNIQUE, VERDICT, TextOutcome, VerdictOutcome
from pipeline.summarize.packing import head_by_tokens
from pipeline.summarize.result import SummaryWarning, WarningCode
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction


def stage_of(level: int) -> Stage:
    """Returns the stage that wrote the texts of a level."""
    return Stage.REDUCE if level else Stage.MAP


async def written_texts(run: Run, iteration: int, level: int, first: int, last: int) -> list[Extraction]:
    """Returns the texts of a level from position `first` to `last`, inclusive, as they were written."""
    bodies = await run.job.store.bodies(run.job.summary_id, StepId(iteration, stage_of(level), level, first), last)
    return [
        Extraction(TEXT.validate_json(body).written.text, output.chunk_indexes, output.pages) for output, body in bodies
    ]


async def unique_texts(run: Run, iteration: int, level: int, first: int, last: int) -> list[Extraction]:
    """Returns the same texts without what was said before."""
    bodies = await run.job.store.bodies(run.job.summary_id, StepId(iteration, Stage.UNIQUE, level, first), last)
    return [Extraction(UNIQUE.validate_json(body).text, output.chunk_indexes, output.pages) for output, body in bodies]


async def final_text(run: Run, iteration: int) -> str:
    """Returns the summary of an iteration that was reduced to one text."""
    bodies = await run.job.store.bodies(run.job.summary_id, StepId(iteration, Stage.FINAL), 0)
    return UNIQUE.validate_json(bodies[0][1]).text


async def verdict_of(run: Run, iteration: int) -> VerdictOutcome | None:
    """Returns the critic's verdict on an iteration; None before it."""
    bodies = await run.job.store.bodies(run.job.summary_id, StepId(iteration, Stage.REFLECT), 0)
    return VERDICT.validate_json(bodies[0][1]) if bodies else None


async def critique_for(run: Run, iteration: int) -> str | None:
    """Returns what the critic said of the iteration before, cut to what prompts may carry; None in the first."""
    if iteration not in run.critiques:
        before = await verdict_of(run, iteration - 1)
        limit = min(run.job.config.critique_tokens, run.plan.limits.context_limit_tokens // 2)
        text = head_by_tokens(before.verdict.text, limit, run.count_tokens) if before else ""
        run.critiques[iteration] = text or None
    return run.critiques[iteration]


async def warn(runtime: Runtime[Run], code: WarningCode, message: str) -> None:
    """Stores a warning and sends it."""
    await runtime.context.job.store.warn(runtime.context.job.summary_id, code, message)
    runtime.stream_writer(SummaryWarning(code, message))


async def warn_of_text(runtime: Runtime[Run], outcome: TextOutcome, step: StepId, output: StepOutput) -> None:
    """Warns of an answer that was still cut after all continuations, and of what the gate found wrong with it.

    What the gate found is stored with the answer, and so not once more.
    """
    where = place_of(step, output)
    if outcome.written.finish_reason == "length":
        await warn(runtime, WarningCode.ANSWER_CUT, f"the answer for {where} was cut: more output_tokens would help")
    for warning in trust_warnings(outcome.trust, where):
        runtime.stream_writer(warning)
