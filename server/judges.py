"""The judge on the terms of one request: the server's settings with the caller's laid over them, models, one cache."""

from collections.abc import AsyncGenerator
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import dataclass

from pipeline.judge.cache import JudgementCache
from pipeline.judge.config import JudgeConfig
from pipeline.judge.judge import Judge
from pipeline.judge.judgement import JudgeEvent, Judgement
from pipeline.judge.request import JudgeRequest
from pipeline.llm.chat_model import ChatModel
from server.backends import Backends
from server.bound_models import Terms
from server.config import JudgeServiceConfig
from server.judge_metrics import JudgeMetrics
from server.scoring_models import BoundModels


@dataclass(frozen=True, slots=True)
class BoundJudge:
    """A judge with the models on one request's terms; counts what it judges.

    Attributes:
        inner: the judge.
        models: of the engine.
        chat: the language model that may be asked; None: none.
        metrics: counts.
    """

    inner: Judge
    models: BoundModels
    chat: ChatModel | None
    metrics: JudgeMetrics

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Returns the judgement."""
        judgement = await self.inner.judge(
            request,
            entailment=self.models.entailment,
            embedder=self.models.embedder,
            tokenizer=self.models.tokenizer,
            chat_model=self.chat,
        )
        self.metrics.observe(judgement)
        return judgement

    async def stream(self, request: JudgeRequest) -> AsyncGenerator[JudgeEvent, None]:
        """Yields what leads to the judgement, and the judgement last. Closing it ends the work."""
        events = self.inner.stream(
            request,
            entailment=self.models.entailment,
            embedder=self.models.embedder,
            tokenizer=self.models.tokenizer,
            chat_model=self.chat,
        )
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Judgement):
                    self.metrics.observe(event)
                yield event


class Judges:
    """Makes judges.

    Args:
        defaults: settings of judgements, which a request may override.
        config: where CPU work runs.
        backends: the models.
        cpu: threads for reading long texts; owned by the app.
        metrics: counts what is judged.
    """

    def __init__(
        self,
        defaults: JudgeConfig,
        config: JudgeServiceConfig,
        backends: Backends,
        *,
        cpu: Executor,
        metrics: JudgeMetrics,
    ) -> None:
        self.defaults = defaults
        self._inline_chars = config.inline_chars
        self._backends = backends
        self._cpu = cpu
        self._metrics = metrics
        self._cache = JudgementCache(defaults.cache)

    def bound(self, terms: Terms, chat: ChatModel | None, *, config: JudgeConfig, char_count: int) -> BoundJudge:
        """Makes the judge of one request.

        Args:
            terms: of its call.
            chat: the language model that may be asked.
            config: how to judge.
            char_count: of both texts. Short ones are read on the event loop: that is done before a thread has begun.

        Raises:
            ModelNotLoadedError: the server runs without a model that judgements need.
        """
        executor = self._cpu if char_count > self._inline_chars else None
        judge = Judge(config, executor=executor, cache=self._cache)
        return BoundJudge(judge, self._backends.scoring.bound(terms), chat, self._metrics)
