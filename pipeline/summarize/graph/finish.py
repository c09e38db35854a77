"""What is made of the last text: the summary in its caller's shape, the layers above it, and JSON by a schema.

The shape is asked for, measured and corrected in bounded tries. Layers are chosen by the models of this process and
cost no call; without such models the overview is how the summary begins, and sections are as long as they came out.
The texts and numbers of the JSON must stand in the summary, which has passed the gate: where they do not, the model is
asked once more, and the better answer is kept.
"""

from collections import Counter
from dataclasses import dataclass, replace

from pipeline.llm.chat_model import NO_USAGE
from pipeline.reading.blocks import BlockKind, read_blocks
from pipeline.reading.words import count_words
from pipeline.summarize.gate.findings import Remedy
from pipeline.summarize.graph.calls import PlannedCall, answer, ask_text, warn_of_text
from pipeline.summarize.graph.run import LAYERS, UNIQUE, WRITTEN, Run, UniqueText, text_key
from pipeline.summarize.packing import head_by_tokens
from pipeline.summarize.result import SummaryLayers, SummarySection, WarningCode
from pipeline.summarize.steering.json_form import parse_schema, stated_values
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryForm, SummaryLength, counter
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction, MergeStage, MergeTask, Writer, Written


async def finish(run: Run, iteration: int, level: int, last: StepOutput) -> None:
    """Stores the text of an iteration, made from the last one of the reduction."""
    step, body = StepId(iteration, Stage.FINAL), None
    if not run.plan.shape.is_plain:
        (whole,) = await run.unique_texts(iteration, level, last.position, last.position)
        is_shaped = run.plan.limits.shapes_merges and level > 0
        text = await _Finish(run, iteration, level, whole).text(whole.text if is_shaped else None)
        body = UNIQUE.dump_json(UniqueText(text, (), await _measure(run, text))).decode()
        tokens = await run.off_loop(lambda: run.writer.count_tokens(text))
        last = last._replace(result_key=text_key("unique", body), tokens=tokens)
    await run.record(step, last, body)


async def _measure(run: Run, text: str) -> SummaryLength | None:
    """Measures a summary, and warns where it is not as long as it should be."""
    goal = run.plan.shape.goal
    if goal is None:
        return None
    size = await run.off_loop(lambda: counter(run.plan.shape, run.writer.count_tokens)(text))
    if not goal.is_met(size):
        message = f"{goal.amount} {goal.unit.value} were asked for, and the summary has {size}"
        await run.warn(WarningCode.LENGTH_MISSED, message)
    return SummaryLength(goal.unit, goal.amount, size, goal.is_met(size))


@dataclass(frozen=True, slots=True)
class _Finish:
    """One summary on its way into its shape."""

    run: Run
    iteration: int
    level: int
    whole: Extraction  # what it is made from

    async def text(self, draft: str | None) -> str:
        """Returns the text, after at most two calls.

        Args:
            draft: a text that was written in this shape; None if there is none yet.
        """
        goal = self.run.plan.shape.goal
        first = (draft, False) if draft is not None else await self._ask(0, self.whole, self.run.plan.shape, None)
        size = self._size(first[0])
        if goal is None or goal.is_met(size) or not self.run.plan.limits.shapes_merges:
            return first[0]
        self.run.meter.calls_total += 1
        # A text that is too long is rewritten; one that is too short, or only begins, is written anew from its source.
        source = await self._source() if first[1] or size < goal.amount else replace(self.whole, text=first[0])
        words = self._in_words(first[0], goal)
        complaint = f"The text had {count_words(first[0])} words; {words.amount} were asked for."
        second = await self._ask(1, source, replace(self.run.plan.shape, goal=words), complaint)
        best, is_cut = min(second, first, key=lambda one: (one[1], abs(self._size(one[0]) - goal.amount)))
        is_translated = bool(self.run.plan.shape.language)  # what it was made from is in another language
        chosen_from = await self._source() if is_cut and not is_translated else replace(self.whole, text=best)
        return await self._trimmed(best, goal, chosen_from)

    def _in_words(self, text: str, goal: LengthGoal) -> LengthGoal:
        """Returns a length in words, which models can count, as many tokens in each as those of a text have."""
        return LengthGoal(max(1, round(goal.amount * count_words(text) / max(1, self._size(text)))), LengthUnit.WORDS)

    async def _ask(self, attempt: int, source: Extraction, shape: Shape, complaint: str | None) -> tuple[str, bool]:
        """Returns an answer, and whether it was cut: a text that only begins says nothing of the rest."""
        critique = "\n".join(filter(None, (complaint, await self.run.critique_for(self.iteration))))
        task = replace(self._task(source, shape, self.run.plan.answer_tokens), critique=critique or None)
        step = StepId(self.iteration, Stage.COMPRESS, self.level + 1, attempt)
        found = await ask_text(self.run, step, task)
        await warn_of_text(self.run, found)
        written = found.outcome.written
        return written.text, written.finish_reason == "length"

    def _task(self, source: Extraction, shape: Shape, target_tokens: int) -> MergeTask:
        return replace(self.run.merge_task(MergeStage.SHAPE, self.level + 1, [source], target_tokens), shape=shape)

    def _size(self, text: str) -> int:
        return counter(self.run.plan.shape, self.run.count_tokens)(text)

    async def _source(self) -> Extraction:
        """Returns the texts that the last merge read, if they still fit into one prompt; else what it wrote."""
        if self.level == 0:
            return self.whole
        joined = await self.run.level_text(self.iteration, self.level - 1)
        fits = self.run.count_tokens(joined) <= self.run.plan.reduce_budget_tokens
        return replace(self.whole, text=joined) if fits else self.whole

    async def _trimmed(self, text: str, goal: LengthGoal, source: Extraction) -> str:
        """Chooses sentences of a source in place of a text that is still too long, where there is a model for it."""
        size, gate = self._size(text), self.run.gate
        if size <= goal.amount or goal.is_met(size) or gate is None or gate.fallback is None:
            return text
        shape = replace(self.run.plan.shape, goal=self._in_words(text, goal))  # the other writer counts other tokens
        task = self._task(source, shape, gate.fallback.limits.output_tokens)
        return (await gate.fallback.merge(task)).text


_WHOLE_SECTION_WORDS = 120


async def write_layers(run: Run, iteration: int, level: int, last: StepOutput, summary: str) -> SummaryLayers:
    """Stores the layers of an iteration, and returns them."""
    source = await _source(run, iteration, level, last)
    if run.plan.shape.language:  # what it was made from is in another one
        source = replace(source, text=summary)
    is_chosen, gate = run.writer.limits.chooses, run.gate
    model = run.writer if is_chosen else gate.fallback if gate else None
    parts = await run.off_loop(lambda: split_sections(source.text))
    overview = await _overview(run, model, source, summary)
    sections = [SummarySection(title, await _section(run, model, replace(source, text=text))) for title, text in parts]
    layers = SummaryLayers(overview, tuple(sections))
    body = LAYERS.dump_json(layers).decode()
    await run.record(StepId(iteration, Stage.LAYERS), StepOutput(0, text_key("layers", body)), body)
    return layers


async def _source(run: Run, iteration: int, level: int, last: StepOutput) -> Extraction:
    """Returns what the summary was made from: the text of the last level, unless it has the summary's shape itself."""
    (whole,) = await run.unique_texts(iteration, level, last.position, last.position)
    is_shaped = level > 0 and run.plan.limits.shapes_merges and not run.plan.shape.is_plain
    text = await run.level_text(iteration, level - 1) if is_shaped else whole.text
    return replace(whole, text=text[:200_000])


async def _overview(run: Run, model: Writer | None, source: Extraction, summary: str) -> str:
    """Returns a third of a short text, 90 words of a long one."""
    most_words = 90
    if model is None:
        blocks = [block for block in summary.split("\n\n") if block.strip() and not block.strip().startswith("#")]
        return " ".join(" ".join(blocks[:1]).split()[:most_words])
    size = min(most_words, max(30, round(count_words(source.text) / 3)))
    text = await _shortened(run, model, source, Shape(LengthGoal(size, LengthUnit.WORDS), SummaryForm.PROSE))
    return " ".join(text.split())


async def _section(run: Run, model: Writer | None, source: Extraction) -> str:
    """Returns a quarter of a section, within bounds; a short one is left whole."""
    words = count_words(source.text)
    if model is None or words <= _WHOLE_SECTION_WORDS:
        return source.text
    size = min(max(round(words / 4), 60), 200)
    return await _shortened(run, model, source, Shape(LengthGoal(size, LengthUnit.WORDS)))


async def _shortened(run: Run, model: Writer, source: Extraction, shape: Shape) -> str:
    task = run.merge_task(MergeStage.SHAPE, 0, [source], model.limits.output_tokens)
    return (await model.merge(replace(task, shape=shape))).text


def split_sections(markdown: str) -> list[tuple[str, str]]:
    """Returns title and text of at most 60 sections below the highest headings that are two or more; else none."""
    headings = [block for block in read_blocks(markdown) if block.kind is BlockKind.HEADING]
    counts = Counter(heading.level for heading in headings)
    top = min((level for level, count in counts.items() if count > 1), default=None)
    tops = [heading for heading in headings if heading.level == top]
    ends = [markdown.rfind("\n", 0, heading.start) for heading in tops[1:]] + [len(markdown)]
    found = [
        (markdown[heading.start : heading.end].strip("# \t*"), markdown[heading.end : end].lstrip("# ").strip())
        for heading, end in zip(tops, ends, strict=False)
    ]
    return [(title, text) for title, text in found if text][:60]


_CHOSEN = 1  # level of the answer that is kept; those that were asked for have 0
_REPAIRED = (Remedy.DROPPED, Remedy.CORRECTED)  # what the gate would do to a text, and does not do to JSON


async def write_json(run: Run, iteration: int) -> None:
    """Stores the JSON of an iteration's summary."""
    task = await _json_task(run, iteration)
    chosen, (faults, complaint) = await _ask_json(run, iteration, 0, task)
    if faults and run.plan.limits.repeats:
        run.meter.calls_total += 1
        other, (other_faults, _) = await _ask_json(run, iteration, 1, replace(task, critique=complaint))
        if other_faults < faults:
            chosen, faults = other, other_faults
    if faults:
        message = f"{faults} texts or numbers of the JSON do not stand in the summary: compare them"
        await run.warn(WarningCode.JSON_FLAWED, message)
    body = WRITTEN.dump_json(Written(chosen, "stop", NO_USAGE)).decode()
    await run.record(StepId(iteration, Stage.JSON, _CHOSEN), StepOutput(0, text_key("json", chosen)), body)


async def _json_task(run: Run, iteration: int) -> MergeTask:
    """Returns what is asked of the model, with as much of the summary as a prompt has room for."""
    text = await run.final_text(iteration)
    shown = head_by_tokens(text, run.plan.reduce_budget_tokens, run.count_tokens)
    if len(shown.strip()) < len(text.strip()):
        message = "the summary is too long for one prompt: the JSON is made from its beginning"
        await run.warn(WarningCode.JSON_FLAWED, message)
    first, last = run.plan.batches[0], run.plan.batches[-1]
    chunks, pages = (first.chunk_indexes[0], last.chunk_indexes[1]), (first.pages[0], last.pages[1])
    task = run.merge_task(MergeStage.JSON, 0, [Extraction(shown, chunks, pages)], run.plan.limits.output_tokens)
    return replace(task, json_schema=run.options.json_schema)


async def _ask_json(run: Run, iteration: int, position: int, task: MergeTask) -> tuple[str, tuple[int, str]]:
    """Returns an answer, how many of its texts and numbers the summary does not have, and what to tell the model."""
    step = StepId(iteration, Stage.JSON, position=position)
    call = PlannedCall(step, task, run.writer.merge, WRITTEN)
    text, gate = (await answer(run, call)).outcome.text, run.gate
    if gate is None:
        return text, (0, "")
    values = await run.off_loop(lambda: stated_values(text, parse_schema(task.json_schema)))
    if not values:
        return text, (0, "")
    case = await gate.read(task, room=1.0, caller=run.caller)
    checked = await gate.check(values, case)
    return text, (sum(one.remedy in _REPAIRED for one in checked.trust.findings), checked.complaint())
