"""Judges a summary against its source: evidence once, then the frameworks in their strict order.

What is kept in memory between judgements: whole ones, for requests that come again, and sources as read.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from pipeline.judge.config import JudgeConfig, JudgementCacheConfig
from pipeline.judge.evidence.build import Assistant, build_evidence
from pipeline.judge.evidence.plan import EvidenceRequest, ReadSource
from pipeline.judge.evidence.table import Claim, EvidenceTable
from pipeline.judge.judgement import EvidenceReady, JudgeEvent, Judgement, JudgeTimings, MetricReady
from pipeline.judge.language_model.level_judge import LlmLevelJudge
from pipeline.judge.language_model.proposals import LlmProposals
from pipeline.judge.language_model.second_reading import LlmSecondReader
from pipeline.judge.locks.score import score_lock
from pipeline.judge.request import (
    JudgeRequest,
    check_request,
    hash_request,
    tool_score_notes,
    usable_tool_scores,
)
from pipeline.judge.result import Framework, FrameworkResult, MetricStatus
from pipeline.judge.second_reader import ReadAgain, read_again
from pipeline.judge.ultra.score import score_ultra
from pipeline.llm.chat_model import LlmUsage
from pipeline.llm.config import LlmRole
from pipeline.llm.conversation import author_of
from pipeline.llm.metering import MeteredChatModel
from pipeline.off_loop import OffLoop, Stopwatch
from pipeline.protocols import Models
from pipeline.reading.passage import TextSpan
from pipeline.reading.summary_text import NoStatementError
from pipeline.tracing import note, open_judge_span

Emit = Callable[[JudgeEvent], None]
T = TypeVar("T")


class SharedCache(Generic[T]):
    """An LRU cache that computes once for equal requests that arrive together. Lives in one event loop.

    Args:
        entries: kept at most. 0: nothing is kept.
        chars: of the texts of all that is kept, at most.
        chars_of: characters that a result holds.
        is_final: whether it may be given to a later request. One that is not is given to all who wait for it, then
            forgotten: the next request tries again.
    """

    def __init__(
        self, entries: int, chars: int, chars_of: Callable[[T], int], is_final: Callable[[T], bool] = lambda _: True
    ) -> None:
        self._entries, self._chars, self._chars_of, self._is_final = entries, chars, chars_of, is_final
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._kept_chars = 0
        self._under_way: dict[str, asyncio.Future[T | None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    async def get(self, key: str, compute: Callable[[], Awaitable[T]]) -> T:
        """Returns a kept result, that of an equal request under way, or a new one.

        When the request that computes fails or is cancelled, the next one that waits computes. It has a deadline and a
        priority of its own, so another's failure need not be its own.
        """
        while True:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
            under_way = self._under_way.get(key)
            if under_way is None:
                return await self._lead(key, compute)
            # Shielded, for a waiter that is cancelled must not cancel what the others wait for.
            if (shared := await asyncio.shield(under_way)) is not None:
                return shared

    async def _lead(self, key: str, compute: Callable[[], Awaitable[T]]) -> T:
        """Computes, and tells those who wait: the result, or None when there is none."""
        outcome: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = outcome
        result: T | None = None
        try:
            result = await compute()
        finally:
            del self._under_way[key]
            outcome.set_result(result)
        self._keep(key, result)
        return result

    def _keep(self, key: str, result: T) -> None:
        if self._entries == 0 or not self._is_final(result):
            return
        self._kept[key] = result
        self._kept_chars += self._chars_of(result)
        while len(self._kept) > self._entries or self._kept_chars > self._chars:
            _, oldest = self._kept.popitem(last=False)
            self._kept_chars -= self._chars_of(oldest)


class JudgeCaches:
    """The caches that judges with different settings share.

    Attributes:
        judgements: by the hash of their request, without those that a failure may have made worse.
        sources: as read, by text and settings: many summaries of one source cost its reading once.
    """

    def __init__(self, config: JudgementCacheConfig | None = None) -> None:
        config = config or JudgementCacheConfig()
        self.judgements = SharedCache[Judgement](config.max_judgements, config.max_chars, _chars, _is_final)
        self.sources = SharedCache[ReadSource](
            config.max_sources, config.max_source_chars, lambda source: len(source.read.text.text)
        )


def _is_final(judgement: Judgement) -> bool:
    """Tells whether an equal request would get the same answer; a failure may pass."""
    failed = any(metric.status is MetricStatus.ERROR for result in judgement.frameworks for metric in result.metrics)
    return not failed and not judgement.degraded


def _chars(judgement: Judgement) -> int:
    """Counts both texts, and what the claims quote of them: of a long summary that is most."""
    table = judgement.evidence
    if table is None:
        return 0
    quoted = (len(span.quote) + len(span.text) for claim in table.claims for span in _spans(claim))
    return len(table.source) + len(table.summary) + sum(quoted)


def _spans(claim: Claim) -> Iterator[TextSpan]:
    replaced = (mismatch.source for mismatch in claim.mismatches)
    yield from filter(None, (claim.passage, claim.premise, claim.support, *claim.unsupported, *replaced))


class Judge:
    """Judges. Holds no state between calls besides the cache; one object serves any number of calls at once.

    Args:
        executor: runs what may hold up the event loop (`OffLoop`).
        caches: of earlier requests, which objects with other settings may share. None: nothing is kept.
        owner: whose requests these are; what is kept for one owner is not given to another.
    """

    def __init__(
        self,
        config: JudgeConfig | None = None,
        *,
        executor: Executor | None = None,
        caches: JudgeCaches | None = None,
        owner: str = "",
    ) -> None:
        self._config = config or JudgeConfig()
        self._off_loop = OffLoop(executor)
        self._caches = caches or JudgeCaches(JudgementCacheConfig(max_judgements=0, max_sources=0))
        self._owner = owner

    async def judge(self, request: JudgeRequest, models: Models) -> Judgement:
        """Returns the verdicts of all frameworks wanted, with the evidence they share.

        A metric that cannot be computed is an error inside the judgement; the others are scored. Texts that are not
        English are not scored, and no model reads them. Twin-Lock alone never asks a chat model.

        Raises:
            InvalidInputError: a field breaks a rule; raised before any model runs.
            ModelOutputError: a model's answer is unusable.
        """
        return await self._answer(request, models, lambda _: None)

    async def stream(self, request: JudgeRequest, models: Models) -> AsyncGenerator[JudgeEvent, None]:
        """Sends the evidence, each metric in the strict order, and the judgement, as soon as they are there.

        The work does not wait for a slow reader, since equal requests may wait for it. Closing the generator ends it.
        Arguments and errors are those of `judge`.
        """
        events: asyncio.Queue[JudgeEvent | None] = asyncio.Queue()  # holds no more than there are metrics
        work = asyncio.create_task(self._answer(request, models, events.put_nowait))
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)  # the reader has left, or has had the error already

    async def _answer(self, request: JudgeRequest, models: Models, emit: Emit) -> Judgement:
        """Checks the request, then takes its judgement from the cache or computes it; emits all that leads to it."""
        is_computed = False
        if request.wanted == (Framework.TWIN_LOCK,):  # rules alone, whose answer depends on no chat model
            models = replace(models, chat=None)

        async def compute() -> Judgement:
            nonlocal is_computed
            is_computed = True
            return await self._compute(request, models, key, emit)

        sizes = {"source_chars": len(request.source), "summary_chars": len(request.summary)}
        with open_judge_span("invoke_workflow judge", **sizes) as span:
            span.set_attributes({"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "judge"})
            span.set_attribute("precis.frameworks", [framework.value for framework in request.wanted])
            key = await self._off_loop(partial(self._check, request, models))
            judgement = await self._caches.judgements.get(f"{self._owner} {key}", compute)
            if not is_computed:
                judgement = replace(judgement, is_cached=True, language_model_usage=LlmUsage())
                if judgement.evidence:
                    emit(EvidenceReady(judgement.evidence))
                for result in judgement.frameworks:
                    _emit_metrics(result, emit)
            usage = judgement.language_model_usage
            note(
                span,
                request_hash=judgement.request_hash,
                cached=judgement.is_cached,
                degraded=judgement.degraded,
                model_calls=usage.calls,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                retries=usage.retries,
            )
            return judgement

    def _check(self, request: JudgeRequest, models: Models) -> str:
        """Refuses bad input, and returns the hash of the request."""
        check_request(request, self._config.limits)
        return hash_request(request, self._config, models.identities, _chat_identity(models))

    async def _compute(self, request: JudgeRequest, models: Models, key: str, emit: Emit) -> Judgement:
        meter = MeteredChatModel(models.chat) if models.chat else None
        models, stopwatch = replace(models, chat=meter), Stopwatch()
        foreign = await self._off_loop(lambda: request.foreign_text_ids)
        status, reason = MetricStatus.UNSUPPORTED_LANGUAGE, f"{' and '.join(foreign)} not English"
        table = None
        try:
            table = None if foreign else await self._gather(request, models)
        except NoStatementError as error:
            status, reason = MetricStatus.NO_STATEMENT, str(error)
        stopwatch.lap("evidence_ms")
        if table is None:
            frameworks = [FrameworkResult.unread(framework, status, reason) for framework in request.wanted]
            for result in frameworks:
                _emit_metrics(result, emit)
        else:
            emit(EvidenceReady(table))
            frameworks = [await self._score(framework, table, request, models, emit) for framework in request.wanted]
        stopwatch.lap("scoring_ms")
        return Judgement(
            request_hash=key,
            evidence=table,
            frameworks=tuple(frameworks),
            config=self._config,
            language_model=_chat_identity(models),
            degraded=(table is not None and table.proposals_failed) or any(result.degraded for result in frameworks),
            notes=(
                *(("the summary is longer than its source",) * (len(request.summary) > len(request.source))),
                *tool_score_notes(request.tool_scores),
                *(table.notes if table else ()),
                *(_unmeasured(models, self._config) if request.second_reading is None else ()),
                *(words for result in frameworks for words in result.notes),
            ),
            is_cached=False,
            timings=JudgeTimings(stopwatch.total_ms, **stopwatch.laps),
            language_model_usage=meter.usage if meter else LlmUsage(),
        )

    async def _gather(self, request: JudgeRequest, models: Models) -> EvidenceTable:
        propose = LlmProposals(models.chat, self._config.proposals).propose if models.chat else None
        with open_judge_span("judge evidence") as span:
            source = await self.read(request.source)
            asked = EvidenceRequest(source, request.summary, frozenset(request.wanted))
            assistant = Assistant(propose, self._second_reader(request, models))
            table = await build_evidence(
                asked, models, self._config.evidence, assistant=assistant, off_loop=self._off_loop
            )
            note(
                span,
                claim_count=len(table.claims),
                pair_count=table.pair_count,
                question_author=table.question_author,
                proposals_failed=table.proposals_failed,
            )
            return table

    def _second_reader(self, request: JudgeRequest, models: Models) -> ReadAgain | None:
        """Returns what has claims read again; None where nobody is asked, or another model than was measured."""
        reader = None if request.second_reading else self._config.second_reader
        is_measured = reader is not None and reader.reader == _chat_identity(models)
        if models.chat is None or request.second_reading is False or not (request.second_reading or is_measured):
            return None
        ask = LlmSecondReader(models.chat, self._config.proposals).read
        return partial(read_again, ask=ask, reader=reader, config=self._config.evidence)

    async def read(self, text: str) -> ReadSource:
        """Returns a source as read, the same object for the same text while it is kept."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        return await self._caches.sources.get(
            f"{self._owner} {digest}", lambda: self._off_loop(partial(ReadSource, text))
        )

    async def _score(
        self, framework: Framework, table: EvidenceTable, request: JudgeRequest, models: Models, emit: Emit
    ) -> FrameworkResult:
        """Scores a table. The two locks are pure functions of it; Ultra may ask models again."""
        with open_judge_span(f"judge {framework}") as span:
            if framework is Framework.ULTRA:
                read_level = LlmLevelJudge(models.chat, self._config.proposals).read_level if models.chat else None
                given = usable_tool_scores(request.tool_scores)
                result = await score_ultra(table, self._config.ultra, read_level=read_level, caller_tools=given)
            else:
                result = score_lock(table, self._config.lock.rules_of(framework))
            if table.omitted_claim_count:
                result = result.from_some_claims()
            statuses = [metric.status for metric in result.metrics]
            note(
                span,
                mean_score=result.mean_score,
                degraded=result.degraded,
                abstained_count=statuses.count(MetricStatus.ABSTAINED),
                error_count=statuses.count(MetricStatus.ERROR),
            )
        _emit_metrics(result, emit)
        return result


def _chat_identity(models: Models) -> str | None:
    return author_of(models.chat, LlmRole.JUDGE) if models.chat else None


def _unmeasured(models: Models, config: JudgeConfig) -> tuple[str, ...]:
    """Says that the second reader of the settings is another model, or has other prompts."""
    reader, identity = config.second_reader, _chat_identity(models)
    if reader is None or identity in (None, reader.reader):
        return ()
    return (f"no second reading: calibrated is {reader.reader}; run precis calibrate --second-reader again",)


def _emit_metrics(result: FrameworkResult, emit: Emit) -> None:
    for metric in result.metrics:
        emit(MetricReady(result.framework, metric))
