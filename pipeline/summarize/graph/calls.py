"""One call of a writer: the stored answer, or a new one that is checked, repaired and stored before anybody sees it.

Texts may not fit into one prompt, or a prompt may overflow the model's context, since token counts may be estimates. No
text is skipped then: less is asked at once, until it fits or cannot become less.

Texts pass the gate of their writer, if there is one. An answer is stored as a draft first. Then it is read, repaired,
asked for once more with the faults, or chosen from the input; the result becomes the text. Places in flight are free
for other calls while models read.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from pipeline.llm import errors
from pipeline.llm.chat_model import LlmUsage
from pipeline.summarize.errors import StalledReductionError
from pipeline.summarize.events import CallOutcome
from pipeline.summarize.gate.findings import Checked, FaultKind, Remedy, Trust, finding
from pipeline.summarize.gate.gate import Case, TrustGate
from pipeline.summarize.graph.run import TEXT, Run, Task, TextOutcome, VerdictOutcome, alongside, task_key, text_key
from pipeline.summarize.packing import head_by_tokens, split_by_tokens
from pipeline.summarize.result import WarningCode
from pipeline.summarize.retention import Retention, measure
from pipeline.summarize.steering.wishes import PLAIN
from pipeline.summarize.storage.records import Stage, StepId, StepOutput
from pipeline.summarize.trust_report import place_of, trust_warnings
from pipeline.summarize.writer import (
    Critique,
    ExtractTask,
    MergeStage,
    MergeTask,
    TextTask,
    TopicList,
    Written,
    stretch_of,
)

Outcome = TypeVar("Outcome", bound=TextOutcome | VerdictOutcome | TopicList | Written)
Paid = TypeVar("Paid", Critique, TopicList, Written)
_log = logging.getLogger(__name__)
_COMPLAINT_TOKENS = 400
_LEAST_TOKENS = 16  # of a text that is still worth cutting


@dataclass(frozen=True, slots=True)
class PlannedCall(Generic[Outcome]):
    """One planned call."""

    step: StepId
    task: Task  # what `ask` is given; with the run's `answer_scope` it is the answer's key
    ask: Callable[[Any], Awaitable[Outcome]]
    adapter: TypeAdapter[Outcome]
    begin_key: str = ""  # by which later summaries know where it began; empty of calls that are not taken over


@dataclass(frozen=True, slots=True)
class StepAnswer(Generic[Outcome]):
    """An outcome, new or from the store, and what is stored of it under its step."""

    outcome: Outcome
    output: StepOutput
    is_reused: bool


async def or_instead(answering: Awaitable[Paid], instead: Paid) -> Paid:
    """Returns an answer, or something in its place if the model fails: what a paid summary can do without.

    Raises LlmError: no call would be answered now; the rest is stored.
    """
    try:
        return await answering
    except errors.LlmError as error:
        if _is_of_all(error):
            raise
        _log.warning("answer_missing error=%s", type(error).__name__)
        return replace(instead, usage=error.usage)


_OF_ALL = (
    errors.BudgetExceededError
    | errors.EndpointUnavailableError
    | errors.AuthenticationFailedError
    | errors.UnknownModelError
    | errors.LlmSettingsError
)


def _is_of_all(error: errors.LlmError) -> bool:
    """Tells whether other calls fail likewise, until somebody pays, waits or mends a setting."""
    return isinstance(error, _OF_ALL) and not error.is_of_call


async def answer(run: Run, call: PlannedCall[Outcome], draft: StepId | None = None) -> StepAnswer[Outcome]:
    """Returns the stored answer, or makes the call and stores its answer.

    Args:
        draft: the step of an answer that is not yet the text of the call's step: the text will count.

    Raises PipelineError: the call failed, or another one did while this one had not begun.
    """
    key = task_key(run.answer_scope, call.task)
    key = key if draft is None else text_key("draft", key)
    stored = await run.store.result(key)
    if stored is not None:
        outcome = call.adapter.validate_json(stored)
        output, is_new = await _record(run, call, key, outcome, draft)  # again: its summary may be deleted meanwhile
        run.meter.count_reused(was_counted=draft is None and not is_new)
        run.observer.call_ended(call.step.stage, CallOutcome.REUSED, 0.0, LlmUsage())
        return StepAnswer(outcome, output, is_reused=True)
    async with run.calls:
        outcome, call_s = await _ask(run, call)
        output, _ = await _record(run, call, key, outcome, draft)
    run.meter.count(outcome.usage, call_s)
    return StepAnswer(outcome, output, is_reused=False)


async def _ask(run: Run, call: PlannedCall[Outcome]) -> tuple[Outcome, float]:
    """Makes a call and tells the observer how it ended. Returns the outcome and the seconds it took."""
    stage, began = call.step.stage, time.monotonic()
    try:
        outcome = await call.ask(call.task)
    except BaseException as error:
        how = CallOutcome.CANCELLED if isinstance(error, asyncio.CancelledError) else CallOutcome.FAILED
        run.observer.call_ended(stage, how, time.monotonic() - began, LlmUsage())
        raise
    call_s = time.monotonic() - began
    run.observer.call_ended(stage, CallOutcome.MADE, call_s, outcome.usage)
    return outcome, call_s


async def _record(
    run: Run, call: PlannedCall[Outcome], key: str, outcome: Outcome, draft: StepId | None = None
) -> tuple[StepOutput, bool]:
    """Stores an outcome under its key and its step. Returns what is stored of it, and whether the step is new."""
    output = StepOutput(call.step.position, key)
    if isinstance(outcome, TextOutcome) and isinstance(call.task, TextTask):
        output = StepOutput(call.step.position, key, outcome.tokens, *stretch_of(call.task.extractions))
    steps = [(draft or call.step, output, call.adapter.dump_json(outcome).decode())]
    begin_key = "" if draft else call.begin_key
    return output, await run.store.record(run.summary_id, steps, is_call=draft is None, begin_key=begin_key) == 1


async def ask_text(run: Run, step: StepId, task: TextTask, begin_key: str = "") -> StepAnswer[TextOutcome]:
    """Returns the text of a step, new or from the store. Its key is that of PlannedCall."""
    return await _Passage(run, step, task, begin_key).answer()


async def warn_of_text(run: Run, found: StepAnswer[TextOutcome], *, is_summary: bool = False) -> None:
    """Warns of an answer that was still cut after all continuations, and of what the gate found wrong with it.

    What the gate found is stored with the answer, and so not once more. A summary may miss its focus, a part may not.
    """
    trust, find_place = found.outcome.trust, partial(place_of, found.output, run.document.chunks)
    if found.outcome.written.finish_reason == "length":
        place = await run.off_loop(find_place)
        message = f"an answer was cut, for extraction_tokens or the length asked for allow no more: {place}"
        await run.warn(WarningCode.ANSWER_CUT, message)
    if is_summary and found.outcome.written.misses_focus:
        message = "nothing in the document seems to answer the focus: the summary has what comes nearest"
        await run.warn(WarningCode.FOCUS_MISSED, message)
    if trust and trust.findings:
        for warning in await run.off_loop(lambda: list(trust_warnings(trust, find_place))):
            run.channel.offer(warning)


def _is_of_call(task: TextTask, error: errors.LlmError | StalledReductionError) -> bool:
    """Tells whether the summary goes on without an answer: nobody would give it, or all but its shape is paid for."""
    if isinstance(error, StalledReductionError) or error.is_of_call:
        return True
    return isinstance(task, MergeTask) and task.stage is MergeStage.SHAPE and not _is_of_all(error)


async def _from_input(run: Run, task: TextTask) -> tuple[str, Remedy]:
    """Returns sentences of a task's texts, which the embedded writer chooses; without one what has room."""
    gate = run.gate
    if gate is not None and (writer := gate.fallback) is not None:
        written = await (writer.extract(task) if isinstance(task, ExtractTask) else writer.merge(task))
        return written.text, Remedy.REWRITTEN
    whole = "\n\n".join(_texts(task)).strip()
    text = head_by_tokens(whole, _most_tokens(run, task), run.count_tokens).strip()
    return text, Remedy.REWRITTEN if len(text) >= len(whole) else Remedy.NONE


def _kept(run: Run, task: TextTask, text: str) -> Retention:
    """Measures what an answer has of the terms of its task's texts, or needs not say since the writer was shown it."""
    if isinstance(task, MergeTask):
        terms = dict.fromkeys(term for one in _texts(task) for term in run.mentions_of(one).terms)
        return measure(terms, [run.mentions_of(text)])
    shown = () if task.context_is_source else task.context
    return measure(run.terms_of(task.batch_index), [run.mentions_of(one) for one in (text, *shown)])


def _is_summary(run: Run, task: TextTask) -> bool:
    """Tells whether the answer becomes the text of an iteration, if nothing is wrong with it."""
    if isinstance(task, ExtractTask):
        return task.batch_count == 1 and run.plan.shape.is_plain
    return task.stage in (MergeStage.FINAL, MergeStage.SHAPE)


def _most_tokens(run: Run, task: TextTask) -> int:
    """Returns the longest answer that a task has room for."""
    if not isinstance(task, ExtractTask):
        return task.target_tokens
    share = 1.0 if run.plan.limits.chooses else task.least_share or 1.0
    tokens = sum(run.count_tokens(chunk.text) for chunk in task.chunks)
    return min(run.plan.limits.output_tokens, round(share * tokens)) if share < 1 else run.plan.limits.output_tokens


def _texts(task: TextTask) -> list[str]:
    return [one.text for one in task.extractions]


@dataclass(frozen=True, slots=True)
class _Passage:
    """One text on its way through the gate, if its writer has one."""

    run: Run
    step: StepId
    task: TextTask
    begin_key: str

    async def answer(self) -> StepAnswer[TextOutcome]:
        """Returns the text that is stored under the step."""
        run, gate = self.run, self.run.gate
        if gate is None or await run.store.result(key := task_key(run.answer_scope, self.task)) is not None:
            return await answer(run, self._planned())
        room = min(1.0, _most_tokens(run, self.task) / max(1, sum(map(run.count_tokens, _texts(self.task)))))
        keeps_values = not run.plan.limits.chooses  # who chooses sentences knows what it leaves out
        read = gate.read(self.task, room=room, caller=run.caller, keeps_values=keeps_values)
        async with alongside(read) as reading:
            return await self._checked(gate, key, reading)

    async def _checked(self, gate: TrustGate, key: str, reading: asyncio.Future[Case]) -> StepAnswer[TextOutcome]:
        """Returns the text that the gate makes of the answer, which is stored as a draft: it is paid for."""
        call = self._planned()
        first = await answer(self.run, call, self._draft_step(0))
        outcome = first.outcome
        if outcome.trust is None:  # else sentences of the input stand in its place
            outcome = await self._passed(gate, outcome.written, await reading)
        output, _ = await _record(self.run, call, key, outcome)
        return StepAnswer(outcome, output, first.is_reused)

    async def _passed(self, gate: TrustGate, written: Written, case: Case) -> TextOutcome:
        """Returns what the gate makes of an answer."""
        checked, usage = await self._read(gate, written.text, case), written.usage
        if checked.whole and gate.asks_again:
            checked, cost = await self._again(gate, checked, case)
            usage += cost
        if checked.whole and not checked.is_usable:
            async with self.run.beside():
                checked = await self._rewritten(gate, checked, case)
        elif checked.whole:
            checked = checked.with_finding(finding(checked.whole, Remedy.NONE, "; ".join(checked.recall.missing)))
        outcome = self._measured(replace(written, text=checked.text, usage=usage))
        return replace(outcome, trust=checked.trust, retention=replace(outcome.retention, values=checked.recall))

    async def _read(self, gate: TrustGate, text: str, case: Case) -> Checked:
        found = await gate.inspect(text, case)
        async with self.run.beside() if found.to_read else nullcontext():
            return await gate.check(found, case)

    def _planned(self, *, is_extra: bool = False) -> PlannedCall[TextOutcome]:
        """Returns the call as the graph counts it; an extra one may fail."""
        run = self.run
        listener = run.listener(self.step.iteration) if _is_summary(run, self.task) else None

        async def ask(task: TextTask) -> TextOutcome:
            try:
                written = await _write(run, replace(task, on_draft=listener))
            except (errors.LlmError, StalledReductionError) as error:
                is_needed = not is_extra and not _is_of_call(task, error)
                if is_needed or isinstance(error, errors.BudgetExceededError):
                    raise
                return await self._without(error, is_extra=is_extra)
            return self._measured(written)

        return PlannedCall(self.step, self.task, ask, TEXT, self.begin_key)

    async def _without(self, error: errors.LlmError | StalledReductionError, *, is_extra: bool) -> TextOutcome:
        """Returns what stands in place of an answer that there will not be; of an extra call nothing."""
        usage = error.usage if isinstance(error, errors.LlmError) else LlmUsage()
        if is_extra:
            return replace(self._measured(Written("", "stop", usage)), trust=Trust())
        async with self.run.beside():
            text, remedy = await _from_input(self.run, self.task)
        is_refused = isinstance(error, errors.RequestRefusedError | errors.EmptyAnswerError)
        why = finding(FaultKind.REFUSAL if is_refused else FaultKind.EMPTY, remedy)
        return replace(self._measured(Written(text, "stop", usage)), trust=Trust((why,)))

    def _measured(self, written: Written) -> TextOutcome:
        kept, ((first_chunk, _), _) = _kept(self.run, self.task, written.text), stretch_of(self.task.extractions)
        return TextOutcome(written, self.run.count_tokens(written.text), kept, first_chunk=first_chunk)

    async def _again(self, gate: TrustGate, first: Checked, case: Case) -> tuple[Checked, LlmUsage]:
        """Asks once more with the faults. Returns the better of both answers, and the cost."""
        task = self._with_complaint(first.complaint())
        self.run.meter.calls_total += 1
        again = replace(self._planned(is_extra=True), step=self._draft_step(1), task=task, begin_key="")
        outcome = (await answer(self.run, again)).outcome
        second = outcome.written
        if outcome.trust is not None:  # there is none
            return first, second.usage
        checked = await self._read(gate, second.text, case)
        if checked.rank > first.rank:
            first = checked.with_finding(finding(first.whole or FaultKind.EMPTY, Remedy.ASKED_AGAIN))
        return first, second.usage

    def _with_complaint(self, complaint: str) -> TextTask:
        """Returns the task with what was wrong; the context gives up its room for it."""
        run, task = self.run, self.task
        limit = max(_COMPLAINT_TOKENS, run.count_tokens(task.critique) if task.critique else 0)
        words = head_by_tokens("\n".join(filter(None, (complaint, task.critique))), limit, run.count_tokens)
        if isinstance(task, ExtractTask):
            return replace(task, critique=words, context=())
        return replace(task, critique=words)

    async def _rewritten(self, gate: TrustGate, checked: Checked, case: Case) -> Checked:
        """Returns sentences of the input in place of an answer that cannot be used."""
        task = self.task
        text, remedy = await _from_input(self.run, task)
        if isinstance(task, MergeTask) and task.shape.language and checked.whole is FaultKind.LANGUAGE:
            remedy = Remedy.NONE  # the input's sentences are not in that language either
        return await gate.instead(text, case, finding(checked.whole or FaultKind.EMPTY, remedy))

    def _draft_step(self, number: int) -> StepId:
        step = self.step
        # A text has two drafts. Map and compress have level 0 and positions of their own, which never meet.
        stage_offset = {Stage.MAP: 0, Stage.REDUCE: 1, Stage.COMPRESS: 2}[step.stage]
        position = (step.position * 2 + number) * 3 + stage_offset
        return step._replace(stage=Stage.DRAFT, position=position)


async def _write(run: Run, task: TextTask, tries: int = 4) -> Written:
    """Asks for a text. What does not fit into a prompt is asked for without its context, then in halves.

    Of the texts of a merge the long ones are shortened first.

    Args:
        tries: how often they may be.

    Raises ContextOverflowError: not even a scrap of text fits; StalledReductionError: texts did not become short
    enough.
    """
    smaller = [] if _has_room(run, task) else _smaller(run, task)
    if not smaller:
        try:
            return await (run.writer.extract(task) if isinstance(task, ExtractTask) else run.writer.merge(task))
        except errors.ContextOverflowError:
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
    return [part for part in split_by_tokens(text, tokens // 2 + 1, run.writer.count_tokens) if part.strip()]


def _join(parts: list[Written]) -> Written:
    """Returns parts as one text, cut if one of them was cut."""
    is_cut = any(part.finish_reason == "length" for part in parts)
    return Written(
        "\n\n".join(part.text for part in parts),
        "length" if is_cut else parts[-1].finish_reason,
        sum((part.usage for part in parts), LlmUsage()),
        tuple(duplicate for part in parts for duplicate in part.duplicates),
    )
