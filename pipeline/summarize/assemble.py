"""Puts a result together from what the store holds, complete or not."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.citations.places import NOT_CITED, Citations
from pipeline.summarize.config import SummarizeConfig
from pipeline.summarize.gate.findings import Trust, add_up_trust, first_warnings, flaw_note, place_of, trust_warnings
from pipeline.summarize.graph.run import Meter
from pipeline.summarize.graph.texts import (
    LAYERS,
    TEXT,
    TOPICS,
    UNIQUE,
    VERDICT,
    WRITTEN,
    Stored,
    TextOutcome,
    UniqueText,
    VerdictOutcome,
    read_step,
)
from pipeline.summarize.result import (
    IntermediateSummary,
    StageRetention,
    SummaryFailure,
    SummaryLayers,
    SummaryResult,
    SummaryWarning,
    WarningCode,
)
from pipeline.summarize.retention import add_up
from pipeline.summarize.storage.records import Stage, StepId, StepOutput, StoredSummary, SummaryStatus
from pipeline.summarize.storage.store import SummaryStore
from pipeline.summarize.writer import RemovedDuplicate

RESULT = TypeAdapter(SummaryResult)

_MOST_DUPLICATES = 1_000
_MOST_INTERMEDIATE_CHARS = 200_000
_TEXTS_AT_ONCE = 64

_Levels = list[tuple[int, Stage, int, int]]  # iteration, stage, level and number of steps


def stored_result(summary: StoredSummary) -> SummaryResult | None:
    """Returns the result of the last run; that of an equal document of another name, under this one's."""
    if not summary.result:
        return None
    return replace(
        RESULT.validate_json(summary.result),
        summary_id=summary.summary_id,
        document_id=summary.request.document_id,
        document_name=summary.request.document_name,
        budget=summary.request.limited_to,
    )


@dataclass(slots=True)
class _Measured:
    """What the calls of an iteration kept, dropped and had wrong."""

    stages: list[StageRetention] = field(default_factory=list)
    duplicates: list[RemovedDuplicate] = field(default_factory=list)
    trusts: list[Trust] = field(default_factory=list)
    warnings: list[SummaryWarning] = field(default_factory=list)

    def add(self, step: StepId, outcomes: list[tuple[StepOutput, TextOutcome]]) -> None:
        """Adds the texts of a stage."""
        if step.stage is not Stage.COMPRESS:
            retention = add_up(outcome.retention for _, outcome in outcomes)
            self.stages.append(StageRetention(step.stage, step.level, retention))
        for output, outcome in outcomes:
            if step.stage is not Stage.COMPRESS:
                self.duplicates += outcome.duplicates_from(output.chunk_indexes[0])
            if outcome.trust:
                self.trusts.append(outcome.trust)
                self.warnings += trust_warnings(
                    outcome.trust, place_of(step._replace(position=output.position), output)
                )


class Assembler:
    """Reads one summary's steps."""

    def __init__(self, store: SummaryStore, summary: StoredSummary, config: SummarizeConfig) -> None:
        self._store = store
        self._summary = summary
        self._id = summary.summary_id
        self._config = config

    async def assemble(
        self,
        status: SummaryStatus,
        failure: SummaryFailure | None = None,
        *,
        meter: Meter | None = None,
        citation: Citations = NOT_CITED,
    ) -> SummaryResult:
        """Returns the result as far as the summary came.

        Args:
            status: how its last run ended, and `failure` why.
            meter: of that run; None if the result is put together without one.
            citation: of the finished text.
        """
        levels = await self._store.levels(self._id)
        finals = [iteration for iteration, stage, *_ in levels if stage is Stage.FINAL]
        verdicts = {number: found for number in finals if (found := await self._read(number, Stage.REFLECT, VERDICT))}
        begun = max((iteration for iteration, *_ in levels), default=1)
        is_done = status is SummaryStatus.DONE
        chosen = _with_topics(levels) if is_done else _best(finals, verdicts) or begun
        final = await self._read(chosen, Stage.FINAL, UNIQUE)
        text, warnings = (final.text, []) if final else await self._partial_text(chosen, levels)
        if failure and final and begun > chosen:
            warnings.append(SummaryWarning(WarningCode.ITERATION_FAILED, f"iteration {begun} failed: this is {chosen}"))
        verdict, measured = verdicts.get(chosen), await self._measure(chosen, levels)
        topics = await self._read(chosen, Stage.TOPICS, TOPICS)
        json = await self._read(chosen, Stage.JSON, WRITTEN, level=1)
        result = SummaryResult(
            summary_id=self._id,
            document_id=self._summary.request.document_id,
            document_name=self._summary.request.document_name,
            status=status,
            text="\n\n".join(filter(None, (text, flaw_note(measured.warnings)))),
            topics=topics.topics if topics and is_done else (),
            writer=self._summary.request.writer,
            iteration=chosen,
            iterations=begun,
            critic_verdict=verdict.verdict.critic_verdict if verdict else None,
            critique=verdict.verdict.text if verdict else "",
            warnings=(*await self._warnings(), *warnings, *first_warnings(measured.warnings)),
            failure=failure,
            output_tokens=(await self._store.outputs(self._id, chosen, Stage.FINAL))[0].tokens if final else 0,
            stages=tuple(measured.stages),
            retention=verdict.retention if verdict else None,
            duplicates=tuple(measured.duplicates[:_MOST_DUPLICATES]),
            duplicate_count=len(measured.duplicates),
            trust=add_up_trust(measured.trusts),
            citation=citation,
            length=final.length if final else None,
            layers=await self._read(chosen, Stage.LAYERS, LAYERS) or SummaryLayers(),
            budget=self._summary.request.limited_to,
            json=json.text if json and is_done else "",
        )
        return await self._with_totals(result, levels, meter)

    async def _with_totals(self, result: SummaryResult, levels: _Levels, meter: Meter | None) -> SummaryResult:
        """Adds what this run and all runs cost, and how far the summary is."""
        totals, plan = await self._store.run_costs.totals(self._id), self._summary.plan
        begun, calls_done = (result.iterations, Stage.MAP), await self._store.call_count(self._id)
        calls_planned = meter.calls_total if meter else plan.calls(result.iterations) if plan else 0
        return replace(
            result,
            calls_done=calls_done,
            calls_planned=max(calls_done, calls_planned),
            calls_reused=meter.calls_reused if meter else 0,
            usage=meter.usage if meter else LlmUsage(),
            elapsed_s=meter.elapsed_s if meter else 0.0,
            input_tokens=plan.input_tokens if plan else 0,
            total_usage=totals.usage,
            total_elapsed_s=totals.elapsed_s,
            run_count=totals.run_count,
            current_batch=sum(count for iteration, stage, _, count in levels if (iteration, stage) == begun),
            batch_count=plan.batch_count if plan else 0,
        )

    async def finished_text(self) -> str:
        """Returns the summary of the iteration whose topics were found, as it was written."""
        final = await self._read(_with_topics(await self._store.levels(self._id)), Stage.FINAL, UNIQUE)
        return final.text if final else ""

    async def intermediate_summaries(self, iteration: int) -> tuple[IntermediateSummary, ...]:
        """Returns what was extracted from each batch, then what merges made of it, as far as the bound goes."""
        found: list[IntermediateSummary] = []
        chars_left = _MOST_INTERMEDIATE_CHARS
        for number, stage, level, _ in sorted(await self._store.levels(self._id), key=lambda entry: entry[2]):
            if number != iteration or stage not in (Stage.MAP, Stage.REDUCE):
                continue
            async for output, body in self._bodies(StepId(iteration, stage, level), calls_only=True):
                if chars_left <= 0:
                    return tuple(found)
                text = TEXT.validate_json(body).written.text[:chars_left]
                chars_left -= len(text)
                found.append(IntermediateSummary(level, output.position, output.chunk_indexes, output.pages, text))
        return tuple(found)

    async def _partial_text(self, iteration: int, levels: _Levels) -> tuple[str, list[SummaryWarning]]:
        """Returns the texts of the highest level that is complete, or all extractions."""
        complete = [level for number, stage, level, _ in levels if number == iteration and stage is Stage.UNIQUE]
        texts: list[str] = []
        chars_left = self._config.partial_chars
        first = StepId(iteration, Stage.UNIQUE, max(complete)) if complete else StepId(iteration, Stage.MAP)
        async for _, body in self._bodies(first):
            text = UNIQUE.validate_json(body).text if complete else TEXT.validate_json(body).written.text
            texts.append(text[:chars_left])
            chars_left -= len(text)
            if chars_left < 0:
                message = f"only the first {self._config.partial_chars} characters: resume to get the summary"
                return "\n\n".join(texts), [SummaryWarning(WarningCode.TEXT_CUT, message)]
        return "\n\n".join(texts), []

    async def _measure(self, iteration: int, levels: _Levels) -> _Measured:
        """Adds up what the calls of an iteration kept, and collects what was said twice and what the gate found."""
        measured = _Measured()
        for number, stage, level, _ in sorted(levels, key=lambda entry: entry[2]):
            if number != iteration:
                continue
            step = StepId(iteration, stage, level)
            if stage in (Stage.MAP, Stage.REDUCE, Stage.COMPRESS):
                outcomes = [
                    (output, TEXT.validate_json(body)) async for output, body in self._bodies(step, calls_only=True)
                ]
                measured.add(step, outcomes)
            elif stage is Stage.UNIQUE:
                unique: list[UniqueText] = [UNIQUE.validate_json(body) async for _, body in self._bodies(step)]
                measured.duplicates += [each for text in unique for each in text.removed]
        return measured

    async def _bodies(self, first: StepId, *, calls_only: bool = False) -> AsyncIterator[tuple[StepOutput, str]]:
        """Yields the results of all steps from `first` on, some at a time."""
        while True:
            last = first.position + _TEXTS_AT_ONCE - 1
            bodies = await self._store.bodies(self._id, first, last, calls_only=calls_only)
            for found in bodies:
                yield found
            if not await self._store.has_steps_after(self._id, first._replace(position=last)):
                return
            first = first._replace(position=last + 1)

    async def _read(self, iteration: int, stage: Stage, form: TypeAdapter[Stored], *, level: int = 0) -> Stored | None:
        return await read_step(self._store, self._id, StepId(iteration, stage, level), form)

    async def _warnings(self) -> list[SummaryWarning]:
        return [SummaryWarning(code, message) for code, message in await self._store.warnings(self._id)]


def _with_topics(levels: _Levels) -> int:
    """Returns the iteration whose topics were found."""
    return max(iteration for iteration, stage, *_ in levels if stage is Stage.TOPICS)


def _best(finals: list[int], verdicts: dict[int, VerdictOutcome]) -> int | None:
    """Returns the summary that kept most, of those that were finished before the end came."""
    if not finals:
        return None
    return max(finals, key=lambda number: verdicts[number].retention.share if number in verdicts else -1.0)
