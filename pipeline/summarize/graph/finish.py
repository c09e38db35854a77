"""What is made of the last text: the summary in its caller's shape, the layers above it, and JSON by a schema.

The shape is asked for once, and a length that is missed is mended without a call. Layers cost no call: the models of
this process choose them. Without such models the overview is the summary's beginning, and sections stay as they are.
Texts and numbers of the JSON must stand in the summary, which has passed the gate. Where they do not, the model is
asked once more, and the better answer is kept.
"""

from collections import Counter
from dataclasses import dataclass, replace

from pipeline.llm.chat_model import NO_USAGE
from pipeline.reading.blocks import BlockKind, read_blocks
from pipeline.reading.words import count_words
from pipeline.summarize.citations.cite import CitedDocument
from pipeline.summarize.document import SourceChunk
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
        text = await _Finish(run, iteration, level, whole).text()
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

    async def text(self) -> str:
        """Returns the text, after at most one call: what misses its length is mended with whole sentences.

        A text that is too long is cut to its best sentences. A text that is too short gets what it does not tell from
        its input, unless that is in another language. So does a text so long that it is only a beginning.
        """
        is_shaped = self.level > 0 and not self.run.plan.limits.chooses  # by the last merge
        text = self.whole.text if is_shaped else await self._ask()
        size, goal, gate = self._size(text), self.run.plan.shape.goal, self.run.gate
        writer = gate.fallback if gate else None
        if goal is None or writer is None or goal.is_met(size):
            return text
        kept, source = (text, "") if size < goal.amount else ("", text)
        if not (goal.amount <= size <= 1.25 * goal.amount or self.run.plan.shape.language):
            whole = await _source(self.run, self.iteration, self.level, self.whole)
            source += "\n\n" + await self.run.off_loop(
                lambda: CitedDocument([SourceChunk(0, 0, whole.text)]).untold(text)
            )
        return await self._chosen(writer, goal, source, kept) if source.strip() else text

    async def _ask(self) -> str:
        run, target_tokens = self.run, self.run.plan.answer_tokens
        room = run.plan.limits.reading_tokens(target_tokens) - run.count_tokens(self.whole.text)
        critique = head_by_tokens(await run.critique_for(self.iteration) or "", room, run.count_tokens)
        task = run.merge_task(MergeStage.SHAPE, self.level + 1, [self.whole], target_tokens)
        task = replace(task, shape=run.plan.shape, critique=critique or None)
        found = await ask_text(run, StepId(self.iteration, Stage.COMPRESS, self.level + 1), task)
        await warn_of_text(run, found, is_summary=True)
        return found.outcome.written.text

    def _size(self, text: str) -> int:
        return counter(self.run.plan.shape, self.run.count_tokens)(text)

    async def _chosen(self, writer: Writer, goal: LengthGoal, source: str, kept: str) -> str:
        """Returns what is kept, and behind it sentences of a source for the rest of the length."""
        text, room = kept, goal.amount - self._size(kept)
        words = room * count_words(source) / max(1, self._size(source))  # the other writer counts other tokens
        for _ in range(2):
            shape = replace(self.run.plan.shape, goal=LengthGoal(max(1, round(words)), LengthUnit.WORDS))
            found = await _shortened(self.run, writer, replace(self.whole, text=source), shape)
            text = "\n\n".join(filter(None, (kept, found)))
            if goal.is_met(self._size(text)):
                break
            words *= room / max(1, self._size(text) - self._size(kept))
        return text


_WHOLE_SECTION_WORDS = 120


async def write_layers(run: Run, iteration: int, level: int, last: StepOutput, summary: str) -> SummaryLayers:
    """Stores the layers of an iteration, and returns them."""
    (whole,) = await run.unique_texts(iteration, level, last.position, last.position)
    source = await _source(run, iteration, level, whole)
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


async def _source(run: Run, iteration: int, level: int, last: Extraction) -> Extraction:
    """Returns what the summary was made from: the text of the last level, unless it has the summary's shape itself."""
    is_shaped = level > 0 and not (run.plan.limits.chooses or run.plan.shape.is_plain)
    text = await run.level_text(iteration, level - 1) if is_shaped else last.text
    return replace(last, text=text[:200_000])


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
    task = run.merge_task(MergeStage.JSON, 0, [Extraction(shown, (0, 0), (0, 0))], run.plan.limits.output_tokens)
    return replace(task, json_schema=run.options.json_schema)


async def _ask_json(run: Run, iteration: int, position: int, task: MergeTask) -> tuple[str, tuple[int, str]]:
    """Returns an answer, how many of its texts and numbers the summary does not have, and what to tell the model."""
    call = PlannedCall(StepId(iteration, Stage.JSON, position=position), task, run.writer.merge, WRITTEN)
    text, gate = (await answer(run, call)).outcome.text, run.gate
    if gate is None:
        return text, (0, "")
    values = await run.off_loop(lambda: stated_values(text, parse_schema(task.json_schema)))
    if not values:
        return text, (0, "")
    case = await gate.read(task, room=1.0, caller=run.caller)
    checked = await gate.check(await gate.inspect(values, case), case)
    return text, (sum(one.remedy in _REPAIRED for one in checked.trust.findings), checked.complaint())
