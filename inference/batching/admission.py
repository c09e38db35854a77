"""How much work is in flight, whether more may come in, and when there will be room."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from inference.call import Call, Priority
from inference.config import QueueConfig
from inference.errors import ListTooLongError, QueueFullError

_SHARES = {Priority.INTERACTIVE: 7 / 8, Priority.BULK: 3 / 4}
"""Of the queue, what those may fill who have much in it; the rest is for who comes with little."""

_LITTLE = 64  # items of one caller; no more than a few batches


class Admission:
    """Counts items and tokens from admission to answer. One rule for single items, lists and streams.

    An item counts once for each caller that waits for it. Tokens count once for each computation: joining work in
    flight costs none. An empty queue takes all that it can hold. In any other, bulk work finds room up to three
    quarters, other work up to seven eighths. A caller with few items finds room up to the end.
    """

    def __init__(
        self, config: QueueConfig, turn_s: Callable[[int, Call], float], jitter: Callable[[], float] = random.random
    ) -> None:
        """Takes the bounds, when so many items of a call would be done, and what spreads retry times: in [0, 1)."""
        self._config = config
        self._turn_s = turn_s
        self._jitter = jitter
        self._items_of = Counter[str]()
        self.items = 0
        self.tokens = 0
        self.refused_count = 0

    def add(self, caller: str, items: int) -> None:
        """Counts items in."""
        self.items += items
        self._items_of[caller] += items

    def remove(self, caller: str, items: int) -> None:
        """Counts items out."""
        self.items -= items
        self._items_of[caller] -= items
        if self._items_of[caller] <= 0:
            del self._items_of[caller]

    def check(self, items: int, tokens: int, call: Call) -> None:
        """Refuses work for which there is no room now.

        Raises:
            QueueFullError: there will be room later.
            ListTooLongError: there will never be.
        """
        limits = self._config.max_queue_items, self._config.max_queue_tokens
        for size, limit, unit in ((items, limits[0], "items"), (tokens, limits[1], "tokens")):
            if size > limit:
                self.refused_count += 1
                raise ListTooLongError(size, limit=limit, unit=unit)
        share = self._share(items, call)
        if self.items + items > int(share * limits[0]) or self.tokens + tokens > int(share * limits[1]):
            raise self.refusal(self._turn_s(items, call))  # sooner others would have taken the room

    def refusal(self, retry_after_s: float) -> QueueFullError:
        """Counts a refusal, and returns it with a retry time that is spread."""
        self.refused_count += 1
        spread_s = retry_after_s * (1 + 0.5 * self._jitter())  # who is refused together shall not come back together
        return QueueFullError(min(max(spread_s, 0.05), 60.0))  # sooner than 50 ms costs both sides more than it wins

    def _share(self, items: int, call: Call) -> float:
        has_little = call.priority is Priority.INTERACTIVE and self._items_of[call.caller] + items <= _LITTLE
        return 1.0 if has_little or self.items == 0 else _SHARES[call.priority]
