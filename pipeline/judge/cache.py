"""An LRU cache of judgements, which also computes once for equal requests that arrive together.

Lives in one event loop. It is bounded twice: by number, and by the characters of the texts inside.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pipeline.judge.config import JudgementCacheConfig
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import MetricStatus
from pipeline.llm.chat_model import LlmUsage


class JudgementCache:
    """Keeps the last used judgements by the hash of their request.

    A judgement with an error in it, or one that a language model's failure degraded, is given to all who wait for it
    and then forgotten, so that the next request tries again.
    """

    def __init__(self, config: JudgementCacheConfig | None = None) -> None:
        self._config = config or JudgementCacheConfig()
        self._kept: OrderedDict[str, Judgement] = OrderedDict()
        self._kept_chars = 0
        self._under_way: dict[str, asyncio.Future[Judgement | None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    async def get(self, key: str, compute: Callable[[], Awaitable[Judgement]]) -> Judgement:
        """Returns a kept judgement, that of an equal request under way, or a new one.

        When the request that computes fails or is cancelled, the next one that waits computes: it has a deadline and
        a priority of its own, so another's failure need not be its own.
        """
        while True:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return _again(kept)
            under_way = self._under_way.get(key)
            if under_way is None:
                return await self._lead(key, compute)
            # Shielded, for a waiter that is cancelled must not cancel what the others wait for.
            if (shared := await asyncio.shield(under_way)) is not None:
                return _again(shared)

    async def _lead(self, key: str, compute: Callable[[], Awaitable[Judgement]]) -> Judgement:
        """Computes, and tells those who wait: the judgement, or None when there is none."""
        outcome: asyncio.Future[Judgement | None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = outcome
        judgement: Judgement | None = None
        try:
            judgement = await compute()
        finally:
            del self._under_way[key]
            outcome.set_result(judgement)
        self._keep(key, judgement)
        return judgement

    def _keep(self, key: str, judgement: Judgement) -> None:
        if self._config.max_judgements == 0 or not is_final(judgement):
            return
        self._kept[key] = judgement
        self._kept_chars += _chars(judgement)
        while len(self._kept) > self._config.max_judgements or self._kept_chars > self._config.max_chars:
            _, oldest = self._kept.popitem(last=False)
            self._kept_chars -= _chars(oldest)


def is_final(judgement: Judgement) -> bool:
    """Tells whether an equal request would get the same answer; a failure may pass."""
    failed = any(metric.status is MetricStatus.ERROR for result in judgement.frameworks for metric in result.metrics)
    return not failed and not judgement.degraded


def _again(judgement: Judgement) -> Judgement:
    """Returns a judgement as the answer to a later request, which it costs nothing."""
    return replace(judgement, is_cached=True, language_model_usage=LlmUsage())


def _chars(judgement: Judgement) -> int:
    return len(judgement.evidence.source) + len(judgement.evidence.summary)
