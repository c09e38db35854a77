"""The last text of a summary: asked for in the shape that the caller wants, measured, corrected in bounded tries."""

from dataclasses import dataclass, replace
from functools import partial

from langgraph.runtime import Runtime

from pipeline.reading.terms import find_terms
from pipeline.summarize.extractive.source_blocks import count_words
from pipeline.summarize.graph.notes import critique_for, stage_of, unique_texts, warn, warn_of_text
from pipeline.summarize.graph.overflow import merge_fitting
from pipeline.summarize.graph.run import Run, StepAnswer
from pipeline.summarize.graph.texts import UNIQUE, TextOutcome, UniqueText, text_key
from pipeline.summarize.graph.trusted import TextCall, ask_text
from pipeline.summarize.incremental.known_calls import CallTexts
from pipeline.summarize.result import WarningCode
from pipeline.summarize.retention import Retention, measure
from pipeline.summarize.steering.goal import counter
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryLength
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask

_ANSWER_ROOM = 1.5  # of the length asked for: a text that ends is better than one that is cut


async def ask_merge(
    runtime: Runtime[Run], step: StepId, task: MergeTask, whole: Extraction, texts: CallTexts | None = None
) -> StepAnswer[TextOutcome]:
    """Asks for one text out of `whole`, and says what is wrong with it."""
    run = runtime.context

    def measured(text: str) -> Retention:
        return measure(find_terms(whole.text), [run.mentions_of(text)])

    output = StepOutput(step.position, "", 0, whole.chunk_indexes, whole.pages)
    answer = await ask_text(run, TextCall(step, task, partial(merge_fitting, run), measured, output, texts))
    await warn_of_text(runtime, answer.outcome, step, output)
    return answer


def answer_tokens(run: Run) -> int:
    """Returns the longest answer for a text that is to be the summary."""
    most = run.plan.limits.output_tokens
    wanted = run.plan.target_tokens
    return max(1, min(most, round(_ANSWER_ROOM * wanted))) if wanted else most


async def finish(runtime: Runtime[Run], iteration: int, level: int, last: StepOutput) -> tuple[StepOutput, str | None]:
    """Returns the text of an iteration, with its body if it is not the last one of the reduction as it stands."""
    run = runtime.context
    if run.plan.shape.is_plain:
        return last, None
    (whole,) = await unique_texts(run, iteration, level, last.position, last.position)
    is_shaped = run.plan.limits.shapes_merges and level > 0
    text = await _Finish(runtime, iteration, level, whole, run.plan.shape).text(whole.text if is_shaped else None)
    length = await _measure(runtime, text)
    body = UNIQUE.dump_json(UniqueText(text, (), length)).decode()
    tokens = await run.job.off_loop(lambda: run.job.writer.count_tokens(text))
    return last._replace(result_key=text_key("unique", body), tokens=tokens), body


async def _measure(runtime: Runtime[Run], text: str) -> SummaryLength | None:
    """Measures a summary, and warns where it is not as long as it should be."""
    run, goal = runtime.context, runtime.context.plan.shape.goal
    if goal is None:
        return None
    size = await run.job.off_loop(lambda: counter(run.plan.shape, run.job.writer.count_tokens)(text))
    if not goal.is_met(size):
        message = f"{goal.amount} {goal.unit.value} were asked for, and the summary has {size}"
        await warn(runtime, WarningCode.LENGTH_MISSED, message)
    return SummaryLength(goal.unit, goal.amount, size, goal.is_met(size))


@dataclass(frozen=True, slots=True)
class _Finish:
    """One summary on its way into its shape.

    Attributes:
        whole: what it is made from.
    """

    runtime: Runtime[Run]
    iteration: int
    level: int
    whole: Extraction
    shape: Shape

    async def text(self, draft: str | None) -> str:
        """Returns the text, after at most two calls.

        Args:
            draft: a text that was written in this shape; None if there is none yet.
        """
        run, goal = self.runtime.context, self.shape.goal
        if draft is None:
            draft = await self._ask(0, self.whole, None)
        size = self._size(draft)
        if goal is None or goal.is_met(size) or not run.plan.limits.shapes_merges:
            return draft
        run.meter.calls_total += 1
        # A text that is too long is rewritten; one that is too short is written anew, from what it was made from.
        source = replace(self.whole, text=draft) if size > goal.amount else await self._source()
        second = await self._ask(1, source, f"The text had {size} {goal.unit.value}; {goal.amount} were asked for.")
        if abs(self._size(second) - goal.amount) <= abs(size - goal.amount):
            draft = second
        return await self._trimmed(draft, goal)

    async def _ask(self, attempt: int, source: Extraction, complaint: str | None) -> str:
        run = self.runtime.context
        critique = "\n".join(filter(None, (complaint, await critique_for(run, self.iteration))))
        task = replace(self._task(source, self.shape, answer_tokens(run)), critique=critique or None)
        step = StepId(self.iteration, Stage.COMPRESS, self.level + 1, attempt)
        return (await ask_merge(self.runtime, step, task, source)).outcome.written.text

    def _task(self, source: Extraction, shape: Shape, target_tokens: int) -> MergeTask:
        job = self.runtime.context.job
        return replace(job.merge_task(MergeStage.SHAPE, self.level + 1, [source], target_tokens), shape=shape)

    def _size(self, text: str) -> int:
        return counter(self.shape, self.runtime.context.count_tokens)(text)

    async def _source(self) -> Extraction:
        """Returns the texts that the last merge read, if they still fit into one prompt; else what it wrote."""
        run = self.runtime.context
        if self.level == 0:
            return self.whole
        outputs = await run.job.store.outputs(
            run.job.summary_id, self.iteration, stage_of(self.level - 1), self.level - 1
        )
        members = await unique_texts(run, self.iteration, self.level - 1, 0, outputs[-1].position)
        joined = "\n\n".join(member.text for member in members)
        fits = run.count_tokens(joined) <= run.plan.reduce_budget_tokens
        return replace(self.whole, text=joined) if fits else self.whole

    async def _trimmed(self, text: str, goal: LengthGoal) -> str:
        """Leaves sentences out of a text that is still too long, where there is a model that can choose them."""
        run, size = self.runtime.context, self._size(text)
        gate = run.job.gate
        if size <= goal.amount or goal.is_met(size) or gate is None or gate.fallback is None:
            return text
        # The other writer counts tokens of its own.
        words = LengthGoal(max(1, round(goal.amount * count_words(text) / size)), LengthUnit.WORDS)
        source = replace(self.whole, text=text)
        task = self._task(source, replace(self.shape, goal=words), gate.fallback.limits.output_tokens)
        return (await gate.fallback.merge(task)).text
