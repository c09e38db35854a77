"""Asks for a text and passes it through the gate of its writer, if there is one.

An answer that nothing is wrong with is stored as the text of its step, and costs no further call. Any other is stored
as a draft first, so that no kill loses it, then read, repaired, asked for once more with the faults, or chosen from the
input; what comes of it becomes the text. Places in flight are free for other calls while models read.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import BadAnswerError, ContextOverflowError
from pipeline.summarize.gate.findings import Checked, FaultKind, Remedy, finding
from pipeline.summarize.gate.gate import Case, TrustGate
from pipeline.summarize.graph.run import PlannedCall, Run, StepAnswer
from pipeline.summarize.graph.texts import TEXT, TextOutcome, task_key
from pipeline.summarize.incremental.known_calls import CallTexts
from pipeline.summarize.packing import head_by_tokens
from pipeline.summarize.retention import Retention
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.writer import ExtractTask, MergeStage, MergeTask, Written, heard_by

TextTask = ExtractTask | MergeTask
_COMPLAINT_TOKENS = 400
_DRAFTS = 2  # of one text; keeps their positions apart


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call whose answer is a text of a stage.

    Attributes:
        write: asks the writer, whatever the model's context makes of the prompt.
        measure: what of the input a text has kept.
        output: the stretch of the document.
        texts: see PlannedCall.
    """

    step: StepId
    task: TextTask
    write: Callable[[TextTask], Awaitable[Written]]
    measure: Callable[[str], Retention]
    output: StepOutput
    texts: CallTexts | None = None

    def planned(self, run: Run, step: StepId | None = None, task: TextTask | None = None) -> PlannedCall[TextOutcome]:
        """Returns the call as the graph counts it; as a draft under another step, perhaps with another task."""
        asked = task or self.task
        listener = run.listener(self.step.iteration) if _is_summary(run, asked) else None

        async def ask() -> TextOutcome:
            with heard_by(listener):
                return self.outcome(run, await self.write(asked))

        return PlannedCall(
            step or self.step,
            asked,
            ask,
            TEXT,
            self.output,
            self.texts,
        )

    def outcome(self, run: Run, written: Written) -> TextOutcome:
        """Returns a text with what was measured on it."""
        text, first_chunk = written.text, self.output.chunk_indexes[0]
        return TextOutcome(written, run.count_tokens(text), self.measure(text), first_chunk=first_chunk)


def _is_summary(run: Run, task: TextTask) -> bool:
    """Tells whether the answer becomes the text of an iteration, if nothing is wrong with it."""
    if isinstance(task, ExtractTask):
        return task.batch_count == 1 and run.plan.shape.is_plain
    return task.stage in (MergeStage.FINAL, MergeStage.SHAPE)


async def ask_text(run: Run, call: TextCall) -> StepAnswer[TextOutcome]:
    """Returns the text of a step, new or from the store."""
    gate, key = run.job.gate, task_key(run.job.answer_scope, call.task)
    if gate is None or await run.job.store.result(key) is not None:
        return await run.answer(call.planned(run))
    reading = asyncio.ensure_future(gate.read(call.task, room=_room(run, call.task), caller=run.job.caller))
    try:
        return await _Passage(run, call, gate, key).answer(reading)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _room(run: Run, task: TextTask) -> float:
    """Returns the share of a task's texts that an answer has room for."""
    if isinstance(task, ExtractTask):
        texts, limit = [chunk.text for chunk in task.chunks], run.plan.limits.output_tokens
    else:
        texts, limit = [one.text for one in task.extractions], task.target_tokens
    return min(1.0, limit / max(1, sum(map(run.count_tokens, texts))))


def _trusted(outcome: TextOutcome, checked: Checked) -> TextOutcome:
    """Adds what the gate found and measured."""
    return replace(outcome, trust=checked.trust, retention=replace(outcome.retention, values=checked.recall))


@dataclass(frozen=True, slots=True)
class _Passage:
    """One text on its way through the gate."""

    run: Run
    call: TextCall
    gate: TrustGate
    key: str

    async def answer(self, reading: asyncio.Future[Case]) -> StepAnswer[TextOutcome]:
        """Returns the text that is stored under the step."""
        first, is_reused = await self._first(reading)
        if first.trust is not None:  # nothing was wrong with it
            return StepAnswer(first, self.key, is_reused=False)
        case = await reading
        async with self.run.beside():
            checked = await self.gate.check(first.written.text, case)
        usage = first.written.usage
        if checked.whole and self.gate.asks_again:
            checked, cost = await self._again(checked, case)
            usage += cost
        if not checked.is_usable:
            async with self.run.beside():
                checked = await self._rewritten(checked, case)
        elif checked.whole:
            checked = checked.with_finding(finding(checked.whole, Remedy.NONE, "; ".join(checked.recall.missing)))
        outcome = self.call.outcome(self.run, replace(first.written, text=checked.text, usage=usage))
        outcome = _trusted(outcome, checked)
        question = self.call.planned(self.run)
        await self.run.record(question, self.key, outcome, TEXT.dump_json(outcome).decode())
        return StepAnswer(outcome, self.key, is_reused)

    async def _first(self, reading: asyncio.Future[Case]) -> tuple[TextOutcome, bool]:
        """Returns the first answer, with its trust if it is the text as it stands, and whether it cost nothing."""
        run = self.run
        draft_key = self._draft_key(self.call.task)
        stored = await run.job.store.result(draft_key)
        if stored is not None:
            run.meter.count_reused(was_counted=False)
            return TEXT.validate_json(stored), True
        async with run.gate:
            outcome, call_s = await run.ask(self.call.planned(run))
            checked = await self.gate.if_clean(outcome.written.text, await reading)
            if checked is not None:
                outcome = _trusted(outcome, checked)
            question, key = (self._draft(0), draft_key) if checked is None else (self.call.planned(run), self.key)
            body = TEXT.dump_json(outcome).decode()
            await run.record(question, key, outcome, body, is_call=checked is not None)
        run.meter.count(outcome.written.usage, call_s)
        return outcome, False

    async def _again(self, first: Checked, case: Case) -> tuple[Checked, LlmUsage]:
        """Asks once more with the faults. Returns the better of both answers, and the cost."""
        task = self._with_complaint(first.complaint())
        self.run.meter.calls_total += 1
        try:
            answer = await self.run.answer(self.call.planned(self.run, self._draft(1).step, task))
        except (BadAnswerError, ContextOverflowError):
            return first, LlmUsage()
        async with self.run.beside():
            second = await self.gate.check(answer.outcome.written.text, case)
        if second.rank > first.rank:
            first = second.with_finding(finding(first.whole or FaultKind.EMPTY, Remedy.ASKED_AGAIN))
        return first, answer.outcome.written.usage

    def _with_complaint(self, complaint: str) -> TextTask:
        """Returns the task with what was wrong; the context gives up its room for it."""
        run, task = self.run, self.call.task
        limit = max(_COMPLAINT_TOKENS, run.count_tokens(task.critique) if task.critique else 0)
        words = head_by_tokens("\n".join(filter(None, (complaint, task.critique))), limit, run.count_tokens)
        if isinstance(task, ExtractTask):
            return replace(task, critique=words, context=())
        return replace(task, critique=words)

    async def _rewritten(self, checked: Checked, case: Case) -> Checked:
        """Returns sentences of the input in place of an answer that cannot be used."""
        task, writer = self.call.task, self.gate.fallback
        remedy = Remedy.REWRITTEN
        if writer is not None:
            text = (await (writer.extract(task) if isinstance(task, ExtractTask) else writer.merge(task))).text
        else:
            limit = self.run.plan.limits.output_tokens if isinstance(task, ExtractTask) else task.target_tokens
            text = head_by_tokens(case.text, limit, self.run.count_tokens).strip()
            remedy = remedy if len(text) >= len(case.text.strip()) else Remedy.NONE
        if isinstance(task, MergeTask) and task.shape.language and checked.whole is FaultKind.LANGUAGE:
            remedy = Remedy.NONE  # the input's sentences are not in that language either
        return await self.gate.instead(text, case, finding(checked.whole or FaultKind.EMPTY, remedy))

    def _draft(self, number: int) -> PlannedCall[TextOutcome]:
        step = self.call.step
        # Map and compress have level 0 and positions of their own; a stage and its drafts never meet.
        stage_offset = {Stage.MAP: 0, Stage.REDUCE: 1, Stage.COMPRESS: 2}[step.stage]
        position = (step.position * _DRAFTS + number) * 3 + stage_offset
        return self.call.planned(self.run, step._replace(stage=Stage.DRAFT, position=position))

    def _draft_key(self, task: TextTask) -> str:
        return hashlib.sha256(f"draft\n{task_key(self.run.job.answer_scope, task)}".encode()).hexdigest()
