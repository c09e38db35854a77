"""Judges a summary against its source: evidence once, then the frameworks in their strict order.

One framework's verdict on an evidence table, whichever framework it is.

Measures the phases of one judgement.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from time import perf_counter
from typing import TypeVar

from pipeline.judge.cache import JudgementCache
from pipeline.judge.config import JudgeConfig
from pipeline.judge.evidence.build import build_evidence
from pipeline.judge.evidence.table import EvidenceTable
from pipeline.judge.judgement import EvidenceReady, FrameworkOutcome, JudgeEvent, Judgement, JudgeTimings, MetricReady
from pipeline.judge.language_model.level_judge import LlmLevelJudge
from pipeline.judge.language_model.proposals import LlmProposals
from pipeline.judge.locks.score import score_judge_lock, score_twin_lock
from pipeline.judge.models import JudgeModels
from pipeline.judge.request import (
    JudgeRequest,
    MetricToolScore,
    check_request,
    hash_request,
    tool_score_notes,
    usable_tool_scores,
)
from pipeline.judge.result import Framework
from pipeline.judge.tracing import (
    TracedEmbedder,
    TracedEntailment,
    judgement_span,
    note_evidence,
    note_judgement,
    note_verdict,
    open_span,
)
from pipeline.judge.ultra.score import UltraHelp, score_ultra
from pipeline.llm.chat_model import ChatModel, LlmUsage
from pipeline.llm.metering import MeteredChatModel
from pipeline.protocols import Embedder, Entailment, Tokenizer


async def reach_verdict(
    framework: Framework,
    table: EvidenceTable,
    config: JudgeConfig,
    *,
    models: JudgeModels,
    tool_scores: tuple[MetricToolScore, ...],
) -> FrameworkOutcome:
    """Scores a table. The two locks are pure functions of it; Ultra may ask models again."""
    if framework is Framework.TWIN_LOCK:
        return FrameworkOutcome(score_twin_lock(table, config.lock))
    if framework is Framework.JUDGE_LOCK:
        return FrameworkOutcome(score_judge_lock(table, config.lock))
    level_judge = LlmLevelJudge(models.chat, config.proposals) if models.chat else None
    help_ = UltraHelp(level_judge, models.entailment, usable_tool_scores(tool_scores))
    outcome = await score_ultra(table, config.ultra, help_)
    return FrameworkOutcome(outcome.result, outcome.degraded, outcome.notes)


logger = logging.getLogger(__name__)

T = TypeVar("T")
Emit = Callable[[JudgeEvent], None]


class Judge:
    """Judges. Holds no state between calls besides the cache; one object serves any number of calls at once.

    Args:
        config: how to judge.
        executor: where work that may take longer than 5 ms runs, so that the event loop stays free; the caller owns
            it. None: in the loop's own thread, for scripts and tests.
        cache: judgements of earlier requests, which objects with other settings may share. None: nothing is kept.
    """

    def __init__(
        self,
        config: JudgeConfig | None = None,
        *,
        executor: Executor | None = None,
        cache: JudgementCache | None = None,
    ) -> None:
        self._config = config or JudgeConfig()
        self._executor = executor
        self._cache = cache

    async def judge(
        self,
        request: JudgeRequest,
        *,
        entailment: Entailment,
        embedder: Embedder,
        tokenizer: Tokenizer,
        chat_model: ChatModel | None = None,
    ) -> Judgement:
        """Returns the verdicts of all frameworks wanted, with the evidence they share.

        A metric that cannot be computed is an error inside the judgement; the others are scored. Without a chat model
        every step has a deterministic form; Twin-Lock alone never asks one.

        Raises:
            InvalidInputError: a field breaks a rule; raised before any model runs.
            ModelOutputError: a model's answer is unusable.
        """
        models = JudgeModels(entailment, embedder, tokenizer, _needed(chat_model, request))
        return await self._answer(request, models, _ignore)

    async def stream(
        self,
        request: JudgeRequest,
        *,
        entailment: Entailment,
        embedder: Embedder,
        tokenizer: Tokenizer,
        chat_model: ChatModel | None = None,
    ) -> AsyncGenerator[JudgeEvent, None]:
        """Sends the evidence, each metric in the strict order, and the judgement, as soon as they are there.

        The work does not wait for a slow reader, since equal requests may wait for it. Closing the generator ends it.
        Arguments and errors are those of `judge`.
        """
        models = JudgeModels(entailment, embedder, tokenizer, _needed(chat_model, request))
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

    async def _answer(self, request: JudgeRequest, models: JudgeModels, emit: Emit) -> Judgement:
        """Checks the request, then takes its judgement from the cache or computes it; emits all that leads to it."""
        with judgement_span(request) as span:
            judgement = await self._cached_or_computed(request, models, emit)
            note_judgement(span, judgement)
            return judgement

    async def _cached_or_computed(self, request: JudgeRequest, models: JudgeModels, emit: Emit) -> Judgement:
        key = await self._run(partial(self._check, request, models))
        is_computed = False

        async def compute() -> Judgement:
            nonlocal is_computed
            is_computed = True
            return await self._compute(request, models, key, emit)

        judgement = await (compute() if self._cache is None else self._cache.get(key, compute))
        if not is_computed:
            for event in _replay(judgement):
                emit(event)
        return judgement

    def _check(self, request: JudgeRequest, models: JudgeModels) -> str:
        """Refuses bad input, and returns the hash of the request."""
        check_request(request, self._config.limits)
        return hash_request(request, self._config, models.evidence_models, models.chat_identity)

    async def _compute(self, request: JudgeRequest, models: JudgeModels, key: str, emit: Emit) -> Judgement:
        meter = MeteredChatModel(models.chat) if models.chat else None
        models = JudgeModels(
            TracedEntailment(models.entailment), TracedEmbedder(models.embedder), models.tokenizer, meter
        )
        stopwatch = Stopwatch()
        table = await self._gather(request, models)
        stopwatch.lap()
        emit(EvidenceReady(table))
        verdicts = [await self._score(framework, table, request, models, emit) for framework in request.wanted]
        stopwatch.lap()
        judgement = Judgement(
            request_hash=key,
            evidence=table,
            frameworks=tuple(verdict.result for verdict in verdicts),
            config=self._config,
            language_model=models.chat_identity,
            degraded=table.proposals_failed or any(verdict.degraded for verdict in verdicts),
            notes=(*_notes(request, table), *(note for verdict in verdicts for note in verdict.notes)),
            is_cached=False,
            timings=stopwatch.timings(),
            language_model_usage=meter.usage if meter else LlmUsage(),
        )
        _log(judgement)
        return judgement

    async def _gather(self, request: JudgeRequest, models: JudgeModels) -> EvidenceTable:
        with open_span("judge evidence") as span:
            table = await self._build(request, models)
            note_evidence(span, table)
            return table

    def _build(self, request: JudgeRequest, models: JudgeModels) -> Awaitable[EvidenceTable]:
        return build_evidence(
            request.source,
            request.summary,
            config=self._config.evidence,
            entailment=models.entailment,
            embedder=models.embedder,
            tokenizer=models.tokenizer,
            proposals=LlmProposals(models.chat, self._config.proposals) if models.chat else None,
            executor=self._executor,
        )

    async def _score(
        self, framework: Framework, table: EvidenceTable, request: JudgeRequest, models: JudgeModels, emit: Emit
    ) -> FrameworkOutcome:
        with open_span(f"judge {framework}") as span:
            verdict = await reach_verdict(
                framework, table, self._config, models=models, tool_scores=request.tool_scores
            )
            note_verdict(span, verdict)
        for metric in verdict.result.metrics:
            emit(MetricReady(framework, metric))
        return verdict

    async def _run(self, work: Callable[[], T]) -> T:
        """Runs CPU work of more than 5 ms where it does not hold up the event loop."""
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _needed(chat_model: ChatModel | None, request: JudgeRequest) -> ChatModel | None:
    """Twin-Lock is rules alone: a request for nothing else asks no chat model, and does not depend on which it is."""
    return None if request.wanted == (Framework.TWIN_LOCK,) else chat_model


def _notes(request: JudgeRequest, table: EvidenceTable) -> tuple[str, ...]:
    longer = ("the summary is longer than its source",) if len(request.summary) > len(request.source) else ()
    return (*longer, *tool_score_notes(request.tool_scores), *table.notes)


def _replay(judgement: Judgement) -> Iterator[JudgeEvent]:
    """Returns what led to a judgement that is there already."""
    yield EvidenceReady(judgement.evidence)
    for result in judgement.frameworks:
        for metric in result.metrics:
            yield MetricReady(result.framework, metric)


def _ignore(_: JudgeEvent) -> None:
    """For callers who want the judgement alone."""


def _log(judgement: Judgement) -> None:
    means = " ".join(
        f"{result.framework}={'none' if result.mean_score is None else format(result.mean_score, '.2f')}"
        for result in judgement.frameworks
    )
    pairs = judgement.evidence.pairs.scored_pair_count
    calls = judgement.language_model_usage.calls
    logger.info("judge %s pairs=%d llm_calls=%d degraded=%s", means, pairs, calls, judgement.degraded)


class Stopwatch:
    """Counts the milliseconds of two consecutive phases: evidence, scoring."""

    def __init__(self) -> None:
        self._laps_s = [perf_counter()]

    def lap(self) -> None:
        """Ends a phase."""
        self._laps_s.append(perf_counter())

    def timings(self) -> JudgeTimings:
        """Returns what was measured, after both phases."""
        start_s, evidence_s, end_s = self._laps_s
        return JudgeTimings(
            total_ms=1e3 * (end_s - start_s),
            evidence_ms=1e3 * (evidence_s - start_s),
            scoring_ms=1e3 * (end_s - evidence_s),
        )
