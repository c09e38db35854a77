"""What is kept in memory between judgements: whole ones, for requests that come again, and sources as read."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

from pipeline.judge.config import JudgementCacheConfig
from pipeline.judge.evidence.claim import Claim
from pipeline.judge.evidence.draft import ReadSource
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import MetricStatus
from pipeline.llm.chat_model import LlmUsage
from pipeline.reading.passage import TextSpan
from pipeline.shared_cache import CacheBounds, SharedCache


class JudgeCaches:
    """The caches that judges with different settings share.

    Attributes:
        judgements: by the hash of their request.
        sources: as read, by text and settings: many summaries of one source cost its reading once.
    """

    def __init__(self, config: JudgementCacheConfig | None = None) -> None:
        config = config or JudgementCacheConfig()
        self.judgements = JudgementCache(CacheBounds(config.max_judgements, config.max_chars))
        self.sources: SharedCache[ReadSource] = SharedCache(
            CacheBounds(config.max_sources, config.max_source_chars), lambda read: len(read.side.read.text.text)
        )


class JudgementCache(SharedCache[Judgement]):
    """Keeps judgements by the hash of their request, without those that a failure may have made worse."""

    def __init__(self, bounds: CacheBounds) -> None:
        super().__init__(bounds, _chars, is_final)

    async def get(self, key: str, compute: Callable[[], Awaitable[Judgement]]) -> Judgement:
        """Returns a judgement as `SharedCache.get` does; to a request that did not compute it, it costs nothing."""
        computed: list[Judgement] = []

        async def noted() -> Judgement:
            computed.append(await compute())
            return computed[0]

        judgement = await super().get(key, noted)
        return judgement if computed else replace(judgement, is_cached=True, language_model_usage=LlmUsage())


def is_final(judgement: Judgement) -> bool:
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
