"""An LRU cache that computes once for equal requests that arrive together.

Lives in one event loop. It is bounded twice: by number, and by the characters of the texts inside.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheBounds:
    """What is kept at most: entries, and characters of their texts."""

    entries: int
    chars: int


class SharedCache(Generic[T]):
    """Keeps the last used results by key.

    Args:
        bounds: 0 entries: nothing is kept.
        chars_of: characters that a result holds.
        is_final: whether it may be given to a later request; one that is not is given to all who wait for it and then
            forgotten, so that the next request tries again.
    """

    def __init__(
        self, bounds: CacheBounds, chars_of: Callable[[T], int], is_final: Callable[[T], bool] = lambda _: True
    ) -> None:
        self._bounds, self._chars_of, self._is_final = bounds, chars_of, is_final
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
        if self._bounds.entries == 0 or not self._is_final(result):
            return
        self._kept[key] = result
        self._kept_chars += self._chars_of(result)
        while len(self._kept) > self._bounds.entries or self._kept_chars > self._bounds.chars:
            _, oldest = self._kept.popitem(last=False)
            self._kept_chars -= self._chars_of(oldest)
