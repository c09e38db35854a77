"""Writes the upper layers of a summary: a paragraph that stands alone, and one short text for each section.

They are chosen from what was extracted, by the models of this process, and cost no call. Without such models the
overview is how the summary begins, and sections are as long as they came out.
"""

from collections import Counter
from dataclasses import replace

from langgraph.runtime import Runtime

from pipeline.summarize.events import LayersFound
from pipeline.summarize.extractive.excerpt import ExcerptKind
from pipeline.summarize.extractive.source_blocks import count_words, split_source
from pipeline.summarize.graph.notes import stage_of, unique_texts
from pipeline.summarize.graph.run import Run, SummaryJob
from pipeline.summarize.graph.texts import LAYERS, text_key
from pipeline.summarize.result import SummaryLayers, SummarySection
from pipeline.summarize.steering.wishes import LengthGoal, LengthUnit, Shape, SummaryForm
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import Extraction, MergeStage, Writer

_OVERVIEW_WORDS, _FEWEST_WORDS = 90, 30
_OVERVIEW_SHARE, _SECTION_SHARE = 1 / 3, 1 / 4  # of a short text
_SECTION_WORDS = (60, 200)
_WHOLE_SECTION_WORDS = 120
_MOST_SECTIONS = 60
_MOST_CHARS = 200_000  # that sections are made from


async def write_layers(runtime: Runtime[Run], iteration: int, level: int, last: StepOutput, summary: str) -> None:
    """Stores the layers of an iteration and sends them."""
    run = runtime.context
    source = await _source(run, iteration, level, last)
    if run.plan.shape.language:  # what it was made from is in another one
        source = replace(source, text=summary)
    model = _shortener(run.job)
    parts = await run.job.off_loop(lambda: split_sections(source.text))
    overview = await _overview(run, model, source, summary)
    sections = [SummarySection(title, await _section(run, model, replace(source, text=text))) for title, text in parts]
    layers = SummaryLayers(overview, tuple(sections))
    body = LAYERS.dump_json(layers).decode()
    step = StepId(iteration, Stage.LAYERS)
    await run.job.store.record(run.job.summary_id, step, StepOutput(0, text_key("layers", body)), body=body)
    runtime.stream_writer(LayersFound(layers.overview, layers.sections, run.meter.progress()))


async def _source(run: Run, iteration: int, level: int, last: StepOutput) -> Extraction:
    """Returns what the summary was made from: the text of the last level, unless it has the summary's shape itself."""
    (whole,) = await unique_texts(run, iteration, level, last.position, last.position)
    if level == 0 or run.plan.shape.is_plain or not run.plan.limits.shapes_merges:
        return replace(whole, text=whole.text[:_MOST_CHARS])
    outputs = await run.job.store.outputs(run.job.summary_id, iteration, stage_of(level - 1), level - 1)
    members = await unique_texts(run, iteration, level - 1, 0, outputs[-1].position)
    return replace(whole, text="\n\n".join(member.text for member in members)[:_MOST_CHARS])


def _shortener(job: SummaryJob) -> Writer | None:
    """Returns the writer of this process that chooses sentences, if there is one."""
    if job.writer.limits.chooses:
        return job.writer
    return job.gate.fallback if job.gate else None


async def _overview(run: Run, model: Writer | None, source: Extraction, summary: str) -> str:
    words = count_words(source.text)
    size = min(_OVERVIEW_WORDS, max(_FEWEST_WORDS, round(_OVERVIEW_SHARE * words)))
    if model is None:
        blocks = [block for block in summary.split("\n\n") if block.strip() and not block.strip().startswith("#")]
        return " ".join(" ".join(blocks[:1]).split()[:_OVERVIEW_WORDS])
    text = await _shortened(run, model, source, Shape(LengthGoal(size, LengthUnit.WORDS), SummaryForm.PROSE))
    return " ".join(text.split())


async def _section(run: Run, model: Writer | None, source: Extraction) -> str:
    words = count_words(source.text)
    if model is None or words <= _WHOLE_SECTION_WORDS:
        return source.text
    size = min(max(round(_SECTION_SHARE * words), _SECTION_WORDS[0]), _SECTION_WORDS[1])
    return await _shortened(run, model, source, Shape(LengthGoal(size, LengthUnit.WORDS)))


async def _shortened(run: Run, model: Writer, source: Extraction, shape: Shape) -> str:
    task = run.job.merge_task(MergeStage.SHAPE, 0, [source], model.limits.output_tokens)
    return (await model.merge(replace(task, shape=shape))).text


def split_sections(markdown: str) -> list[tuple[str, str]]:
    """Returns title and text of each section below the highest headings that are two or more; none without such."""
    headings = [block for block in split_source(markdown) if block.kind is ExcerptKind.HEADING]
    counts = Counter(heading.level for heading in headings)
    top = min((level for level, count in counts.items() if count > 1), default=None)
    tops = [heading for heading in headings if heading.level == top]
    ends = [markdown.rfind("\n", 0, heading.start) for heading in tops[1:]] + [len(markdown)]
    found = [
        (markdown[heading.start : heading.end].strip("# \t*"), markdown[heading.end : end].lstrip("# ").strip())
        for heading, end in zip(tops, ends, strict=False)
    ]
    return [(title, text) for title, text in found if text][:_MOST_SECTIONS]
