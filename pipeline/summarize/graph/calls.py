"""One call of a writer: the stored answer, or a new one that is checked, repaired and stored before anybody sees it.

Texts may not fit into one prompt, and a prompt may overflow the model's context although it was within its budget,
which rests on counts that may be estimates. No text is skipped then: less is asked at once, until it fits or cannot
become less.

Texts pass the gate of their writer, if there is one. One that nothing is wrong with is stored as the text of its step,
and costs no further call. Any other is stored as a draft first, so that no kill loses it, then read, repaired, asked
for once more with the faults, or chosen from the input; what comes of it becomes the text. Places in flight are free
for other calls while models read.
"""

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.errors import (
    AuthenticationFailedError,
    BudgetExceededError,
    ContextOverflowError,
    EmptyAnswerError,
    EndpointUnavailableError,
    LlmError,
    LlmSettingsError,
    RequestRefusedError,
    UnknownModelError,
)
from pipeline.reading.values import find_terms
from pipeline.summarize.errors import StalledReductionError
from pipeline.summarize.events import CallOutcome
from pipeline.summarize.gate.findings import Checked, FaultKind, Remedy, Trust, finding
from pipeline.summarize.gate.gate import Case, TrustGate
from pipeline.summarize.graph.run import TEXT, Run, Task, TextOutcome, VerdictOutcome, alongside, task_key
from pipeline.summarize.packing import head_by_tokens, split_by_tokens
from pipeline.summarize.result import WarningCode
from pipeline.summarize.retention import Retention, measure
from pipeline.summarize.steering.wishes import PLAIN
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.trust_report import place_of, trust_warnings
from pipeline.summarize.writer import (
    Critique,
    Extraction,
    ExtractTask,
    MergeStage,
    MergeTask,
    TopicList,
    Written,
    heard_by,
)

Outcome = TypeVar("Outcome", bound=TextOutcome | VerdictOutcome | TopicList | Written)
Paid = TypeVar("Paid", Critique, TopicList, Written)
TextTask = ExtractTask | MergeTask
_log = logging.getLogger(__name__)
_NO_OUTPUT = StepOutput(0, "")
_COMPLAINT_TOKENS = 400
_LEAST_TOKENS = 16  # of a text that is still worth cutting


@dataclass(frozen=True, slots=True)
class PlannedCall(Generic[Outcome]):
    """One planned call.

    Attributes:
        task: what `ask` is given; with the job's `answer_scope` it is the answer's key.
        output: the stretch of the document that a text is of; `position` and key are filled in here.
        begin_key: by which later summaries know where it began; empty of calls that are not taken over.
    """

    step: StepId
    task: Task
    ask: Callable[[Any], Awaitable[Outcome]]
    adapter: TypeAdapter[Outcome]
    output: StepOutput = _NO_OUTPUT
    begin_key: str = ""


@dataclass(frozen=True, slots=True)
class StepAnswer(Generic[Outcome]):
    """An outcome, new or from the store."""

    outcome: Outcome
    result_key: str
    is_reused: bool


async def or_instead(answering: Awaitable[Paid], instead: Paid) -> Paid:
    """Returns an answer, or something in its place if the model fails: what a paid summary can do without.

    Raises:
        LlmError: no call would be answered now; the rest is stored.
    """
    try:
        return await answering
    except LlmError as error:
        if _is_of_all(error):
            raise
        _log.warning("answer_missing error=%s", type(error).__name__)
        return replace(instead, usage=error.usage)


_OF_ALL = (
    BudgetExceededError | EndpointUnavailableError | AuthenticationFailedError | UnknownModelError | LlmSettingsError
)


def _is_of_all(error: LlmError) -> bool:
    """Tells whether other calls fail likewise, until somebody pays, waits or mends a setting."""
    return isinstance(error, _OF_ALL) and not error.is_of_call


async def answer(run: Run, call: PlannedCall[Outcome]) -> StepAnswer[Outcome]:
    """Returns the stored answer, or makes the call and stores its answer.

    Raises:
        PipelineError: the call failed, or another one did while this one had not begun.
    """
    key = task_key(run.job.answer_scope, call.task)
    stored = await run.job.store.result(key)
    if stored is not None:
        outcome = call.adapter.validate_json(stored)
        is_new = await _record(run, call, key, outcome)  # again: its summary may be deleted meanwhile
        run.meter.count_reused(was_counted=not is_new)
        run.job.observer.call_ended(call.step.stage, CallOutcome.REUSED, 0.0, LlmUsage())
        return StepAnswer(outcome, key, is_reused=True)
    async with run.calls:
        outcome, call_s = await _ask(run, call)
        await _record(run, call, key, outcome)
    run.meter.count(outcome.usage, call_s)
    return StepAnswer(outcome, key, is_reused=False)


async def _ask(run: Run, call: PlannedCall[Outcome]) -> tuple[Outcome, float]:
    """Makes a call and tells the observer how it ended. Returns the outcome and the seconds it took."""
    stage, began = call.step.stage, time.monotonic()
    try:
        outcome = await call.ask(call.task)
    except BaseException as error:
        how = CallOutcome.CANCELLED if isinstance(error, asyncio.CancelledError) else CallOutcome.FAILED
        run.job.observer.call_ended(stage, how, time.monotonic() - began, LlmUsage())
        raise
    call_s = time.monotonic() - began
    run.job.observer.call_ended(stage, CallOutcome.MADE, call_s, outcome.usage)
    return outcome, call_s


async def _record(run: Run, call: PlannedCall[Outcome], key: str, outcome: Outcome, *, is_call: bool = True) -> bool:
    """Stores an outcome under its key and its step; returns False for a known step.

    Args:
        is_call: False for an answer that is not yet the text of its step: the text will count.
    """
    output = call.output._replace(position=call.step.position, result_key=key)
    if isinstance(outcome, TextOutcome):
        output = output._replace(tokens=outcome.tokens)
    steps = [(call.step, output, call.adapter.dump_json(outcome).decode())]
    begin_key = call.begin_key if is_call else ""
    return await run.job.store.record(run.job.summary_id, steps, is_call=is_call, begin_key=begin_key) == 1


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call whose answer is a text of a stage.

    Attributes:
        measure: what of the input a text has kept.
        output: the stretch of the document.
        begin_key: see PlannedCall.
    """

    step: StepId
    task: TextTask
    measure: Callable[[str], Retention]
    output: StepOutput
    begin_key: str = ""


async def ask_text(run: Run, call: TextCall) -> StepAnswer[TextOutcome]:
    """Returns the text of a step, new or from the store."""
    gate = run.job.gate
    if gate is None or await run.job.store.result(task_key(run.job.answer_scope, call.task)) is not None:
        return await answer(run, _planned(run, call))
    async with alongside(gate.read(call.task, room=_room(run, call.task), caller=run.job.caller)) as reading:
        return await _Passage(run, call, gate).answer(reading)


async def warn_of_text(run: Run, outcome: TextOutcome, call: TextCall) -> None:
    """Warns of an answer that was still cut after all continuations, and of what the gate found wrong with it.

    What the gate found is stored with the answer, and so not once more.
    """
    where = place_of(call.output, run.job.document.chunks)
    if outcome.written.finish_reason == "length":
        message = f"the answer for {where} was cut: more output_tokens would help"
        await run.job.warn(WarningCode.ANSWER_CUT, message)
    for warning in trust_warnings(outcome.trust, where):
        run.job.channel.offer(warning)


async def ask_merge(
    run: Run, step: StepId, task: MergeTask, whole: Extraction, begin_key: str = ""
) -> StepAnswer[TextOutcome]:
    """Asks for one text out of `whole`, and says what is wrong with it."""

    def measured(text: str) -> Retention:
        return measure(find_terms(whole.text), [run.mentions_of(text)])

    output = StepOutput(step.position, "", 0, whole.chunk_indexes, whole.pages)
    call = TextCall(step, task, measured, output, begin_key)
    merged = await ask_text(run, call)
    await warn_of_text(run, merged.outcome, call)
    return merged


def _planned(run: Run, call: TextCall, *, is_extra: bool = False) -> PlannedCall[TextOutcome]:
    """Returns a text's call as the graph counts it; an extra one may fail."""
    listener = run.listener(call.step.iteration) if _is_summary(run, call.task) else None

    async def ask(task: TextTask) -> TextOutcome:
        try:
            with heard_by(listener):
                written = await _write(run, task)
        except (LlmError, StalledReductionError) as error:
            is_needed = not is_extra and not _is_of_call(task, error)
            if is_needed or isinstance(error, BudgetExceededError):
                raise
            return await _outcome_without(run, call, task, error, is_extra=is_extra)
        return _measured(run, call, written)

    return PlannedCall(call.step, call.task, ask, TEXT, call.output, call.begin_key)


def _is_of_call(task: TextTask, error: LlmError | StalledReductionError) -> bool:
    """Tells whether the summary goes on without an answer: nobody would give it, or all but its shape is paid for."""
    if isinstance(error, StalledReductionError) or error.is_of_call:
        return True
    return isinstance(task, MergeTask) and task.stage is MergeStage.SHAPE and not _is_of_all(error)


async def _outcome_without(
    run: Run, call: TextCall, task: TextTask, error: LlmError | StalledReductionError, *, is_extra: bool
) -> TextOutcome:
    """Returns what stands in place of an answer that there will not be; of an extra call nothing."""
    usage = error.usage if isinstance(error, LlmError) else LlmUsage()
    if is_extra:
        return replace(_measured(run, call, Written("", "stop", usage)), trust=Trust())
    async with run.beside():
        text, remedy = await _from_input(run, task)
    is_refused = isinstance(error, RequestRefusedError | EmptyAnswerError)
    why = finding(FaultKind.REFUSAL if is_refused else FaultKind.EMPTY, remedy)
    return replace(_measured(run, call, Written(text, "stop", usage)), trust=Trust((why,)))


async def _from_input(run: Run, task: TextTask) -> tuple[str, Remedy]:
    """Returns sentences of a task's texts, which the embedded writer chooses; without one what has room."""
    gate = run.job.gate
    if gate is not None and (writer := gate.fallback) is not None:
        written = await (writer.extract(task) if isinstance(task, ExtractTask) else writer.merge(task))
        return written.text, Remedy.REWRITTEN
    whole = "\n\n".join(_texts(task)).strip()
    text = head_by_tokens(whole, _most_tokens(run, task), run.count_tokens).strip()
    return text, Remedy.REWRITTEN if len(text) >= len(whole) else Remedy.NONE


def _measured(run: Run, call: TextCall, written: Written, checked: Checked | None = None) -> TextOutcome:
    """Returns a text with what was measured on it, and what the gate found."""
    retention, first_chunk = call.measure(written.text), call.output.chunk_indexes[0]
    outcome = TextOutcome(written, run.count_tokens(written.text), retention, first_chunk=first_chunk)
    return _trusted(outcome, checked) if checked else outcome


def _trusted(outcome: TextOutcome, checked: Checked) -> TextOutcome:
    return replace(outcome, trust=checked.trust, retention=replace(outcome.retention, values=checked.recall))


def _is_summary(run: Run, task: TextTask) -> bool:
    """Tells whether the answer becomes the text of an iteration, if nothing is wrong with it."""
    if isinstance(task, ExtractTask):
        return task.batch_count == 1 and run.plan.shape.is_plain
    return task.stage in (MergeStage.FINAL, MergeStage.SHAPE)


def _most_tokens(run: Run, task: TextTask) -> int:
    """Returns the longest answer that a task has room for."""
    if not isinstance(task, ExtractTask):
        return task.target_tokens
    share = task.least_share if run.plan.limits.shapes_merges and task.least_share else 1.0
    tokens = sum(run.count_tokens(chunk.text) for chunk in task.chunks)
    return min(run.plan.limits.output_tokens, round(share * tokens)) if share < 1 else run.plan.limits.output_tokens


def _room(run: Run, task: TextTask) -> float:
    """Returns the share of a task's texts that an answer has room for."""
    return min(1.0, _most_tokens(run, task) / max(1, sum(map(run.count_tokens, _texts(task)))))


def _texts(task: TextTask) -> list[str]:
    return [one.text for one in (task.chunks if isinstance(task, ExtractTask) else task.extractions)]


@dataclass(frozen=True, slots=True)
class _Passage:
    """One text on its way through the gate."""

    run: Run
    call: TextCall
    gate: TrustGate

    async def answer(self, reading: asyncio.Future[Case]) -> StepAnswer[TextOutcome]:
        """Returns the text that is stored under the step."""
        key = task_key(self.run.job.answer_scope, self.call.task)
        first, is_reused = await self._first(key, reading)
        if first.trust is not None:  # nothing was wrong with it
            return StepAnswer(first, key, is_reused=False)
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
        written = replace(first.written, text=checked.text, usage=usage)
        outcome = _measured(self.run, self.call, written, checked)
        await _record(self.run, _planned(self.run, self.call), key, outcome)
        return StepAnswer(outcome, key, is_reused)

    async def _first(self, key: str, reading: asyncio.Future[Case]) -> tuple[TextOutcome, bool]:
        """Returns the first answer, with its trust if it is the text as it stands, and whether it cost nothing."""
        run = self.run
        draft_key = hashlib.sha256(f"draft\n{key}".encode()).hexdigest()
        stored = await run.job.store.result(draft_key)
        if stored is not None:
            run.meter.count_reused(was_counted=False)
            return TEXT.validate_json(stored), True
        call = _planned(run, self.call)
        async with run.calls:
            outcome, call_s = await _ask(run, call)
            if outcome.trust is None and (checked := await self.gate.if_clean(outcome.written.text, await reading)):
                outcome = _trusted(outcome, checked)
            if outcome.trust is not None:
                await _record(run, call, key, outcome)
            else:
                await _record(run, replace(call, step=self._draft_step(0)), draft_key, outcome, is_call=False)
        run.meter.count(outcome.written.usage, call_s)
        return outcome, False

    async def _again(self, first: Checked, case: Case) -> tuple[Checked, LlmUsage]:
        """Asks once more with the faults. Returns the better of both answers, and the cost."""
        task = self._with_complaint(first.complaint())
        self.run.meter.calls_total += 1
        again = replace(_planned(self.run, self.call, is_extra=True), step=self._draft_step(1), task=task)
        outcome = (await answer(self.run, again)).outcome
        second = outcome.written
        if outcome.trust is not None:  # there is none
            return first, second.usage
        async with self.run.beside():
            checked = await self.gate.check(second.text, case)
        if checked.rank > first.rank:
            first = checked.with_finding(finding(first.whole or FaultKind.EMPTY, Remedy.ASKED_AGAIN))
        return first, second.usage

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
        task = self.call.task
        text, remedy = await _from_input(self.run, task)
        if isinstance(task, MergeTask) and task.shape.language and checked.whole is FaultKind.LANGUAGE:
            remedy = Remedy.NONE  # the input's sentences are not in that language either
        return await self.gate.instead(text, case, finding(checked.whole or FaultKind.EMPTY, remedy))

    def _draft_step(self, number: int) -> StepId:
        step = self.call.step
        # A text has two drafts. Map and compress have level 0 and positions of their own, which never meet.
        stage_offset = {Stage.MAP: 0, Stage.REDUCE: 1, Stage.COMPRESS: 2}[step.stage]
        position = (step.position * 2 + number) * 3 + stage_offset
        return step._replace(stage=Stage.DRAFT, position=position)


async def _write(run: Run, task: TextTask, tries: int = 4) -> Written:
    """Asks for a text. What does not fit into a prompt is asked for without its context, then in halves.

    Of the texts of a merge the long ones are shortened first.

    Args:
        tries: how often they may be.

    Raises:
        ContextOverflowError: not even a scrap of text fits.
        StalledReductionError: texts did not become short enough.
    """
    smaller = [] if _has_room(run, task) else _smaller(run, task)
    if not smaller:
        try:
            return await (run.job.writer.extract(task) if isinstance(task, ExtractTask) else run.job.writer.merge(task))
        except ContextOverflowError:
            smaller = _smaller(run, task)
            if not smaller:
                raise
    if isinstance(task, ExtractTask) or task.stage is MergeStage.COMPRESS:
        return _join([await _write(run, part) for part in smaller])
    written = [await _write(run, part) for part in smaller]
    parts = dict(zip((part.extractions[0] for part in smaller if isinstance(part, MergeTask)), written, strict=True))
    texts = [replace(one, text=parts[one].text) if one in parts else one for one in task.extractions]
    sizes = [sum(run.count_tokens(one.text) for one in some) for some in (task.extractions, texts)]
    if sizes[1] >= sizes[0] or not tries:
        raise StalledReductionError("shortening the texts of a merge", *sizes)
    merged = await _write(run, replace(task, extractions=tuple(texts)), tries - 1)
    return replace(merged, usage=sum((one.usage for one in written), merged.usage))


def _has_room(run: Run, task: TextTask) -> bool:
    """Tells whether the texts of a merge, or one to compress, fit into a prompt; all others do as they are planned."""
    is_bounded = isinstance(task, MergeTask) and (len(task.extractions) > 1 or task.stage is MergeStage.COMPRESS)
    return not is_bounded or sum(map(run.count_tokens, _texts(task))) <= run.plan.reduce_budget_tokens


def _smaller(run: Run, task: TextTask) -> list[TextTask]:
    """Returns what is asked in place of a task that overflowed the model; nothing where only a scrap is left."""
    if isinstance(task, ExtractTask):
        if task.context:
            return [replace(task, context=())]
        chunks, middle = task.chunks, len(task.chunks) // 2
        if middle:
            return [replace(task, chunks=half) for half in (chunks[:middle], chunks[middle:])]
        return [replace(task, chunks=(replace(chunks[0], text=text),)) for text in _half_texts(run, chunks[0].text)]
    if task.stage is MergeStage.COMPRESS:
        (whole,) = task.extractions
        halves = _half_texts(run, whole.text)
        target = max(1, task.target_tokens // max(1, len(halves)))
        return [replace(task, extractions=(replace(whole, text=text),), target_tokens=target) for text in halves]
    sizes, budget = [run.count_tokens(one.text) for one in task.extractions], run.plan.reduce_budget_tokens
    # Where the budget is kept, the endpoint holds less than its settings say.
    share = (budget if sum(sizes) > budget else sum(sizes) // 2) // len(sizes)
    # A piece has a length of its own: the shape is that of the whole.
    target = max(1, min(share, run.plan.limits.output_tokens))
    task = replace(task, stage=MergeStage.COMPRESS, shape=PLAIN, target_tokens=target)
    return [
        replace(task, extractions=(one,)) for one, size in zip(task.extractions, sizes, strict=True) if size > share
    ]


def _half_texts(run: Run, text: str) -> list[str]:
    if (tokens := run.count_tokens(text)) < _LEAST_TOKENS:
        return []
    return [part for part in split_by_tokens(text, tokens // 2 + 1, run.job.writer.count_tokens) if part.strip()]


def _join(parts: list[Written]) -> Written:
    """Returns parts as one text, cut if one of them was cut."""
    is_cut = any(part.finish_reason == "length" for part in parts)
    return Written(
        "\n\n".join(part.text for part in parts),
        "length" if is_cut else parts[-1].finish_reason,
        sum((part.usage for part in parts), LlmUsage()),
        tuple(duplicate for part in parts for duplicate in part.duplicates),
    )
