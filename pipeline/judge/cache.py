"""What is kept in memory between judgements: whole ones, for requests that come again, and sources as read."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Generic, TypeVar

from pipeline.judge.config import JudgementCacheConfig
from pipeline.judge.evidence.plan import ReadSource, read_source
from pipeline.judge.evidence.table import Claim
from pipeline.judge.judgement import Judgement
from pipeline.judge.result import MetricStatus
from pipeline.off_loop import OffLoop
from pipeline.reading.passage import TextSpan

T = TypeVar("T")


class SharedCache(Generic[T]):
    """An LRU cache that computes once for equal requests that arrive together. Lives in one event loop.

    Args:
        entries: kept at most. 0: nothing is kept.
        chars: of the texts of all that is kept, at most.
        chars_of: characters that a result holds.
        is_final: whether it may be given to a later request; one that is not is given to all who wait for it and then
            forgotten, so that the next request tries again.
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

        When the request that computes fails or is cancelled, the next one that waits computes: it has a deadline and
        a priority of its own, so another's failure need not be its own.
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
            config.max_sources, config.max_source_chars, lambda read: len(read.side.read.text.text)
        )


class SourceReader:
    """Reads sources, each once for all of its summaries that come soon.

    Args:
        off_loop: where long texts are read. None: in the event loop.
        kept: sources as read. None: nothing is kept.
        owner: for whom; nobody else is given them.
    """

    def __init__(
        self, off_loop: OffLoop | None = None, kept: SharedCache[ReadSource] | None = None, owner: str = ""
    ) -> None:
        self.off_loop = off_loop or OffLoop()
        self._kept = kept
        self._owner = owner

    async def read(self, text: str) -> ReadSource:
        """Returns a source as read, the same object for the same text while it is kept."""

        async def compute() -> ReadSource:
            return await self.off_loop(partial(read_source, text))

        if self._kept is None:
            return await compute()
        digest = hashlib.sha256(text.encode()).hexdigest()
        key = f"{self._owner} {digest}"
        return await self._kept.get(key, compute)


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
