"""How much work is in flight, whether more may come in, and when there will be room."""

from __future__ import annotations

from collections import deque

from inference.config import QueueConfig
from inference.errors import ListTooLongError, QueueFullError

_RATE_BATCHES = 64  # batches over which the drain rate is measured
_MIN_RETRY_S = 0.05  # sooner costs both sides more than it wins
_MAX_RETRY_S = 60.0
_UNMEASURED_RETRY_S = 1.0  # no two batches have ended since the queue was empty


class Admission:
    """Counts items and tokens from admission to answer. One rule for single items, lists and streams.

    An item counts once for each caller that waits for it. Tokens count once for each computation, so joining work
    that is in flight already costs none.
    """

    def __init__(self, config: QueueConfig) -> None:
        self._config = config
        self._drained: deque[tuple[float, int, int]] = deque(maxlen=_RATE_BATCHES)
        self.items = 0
        self.tokens = 0
        self.refused_count = 0

    def check(self, items: int, tokens: int) -> None:
        """Refuses work for which there is no room now.

        Raises:
            QueueFullError: there will be room later.
            ListTooLongError: there will never be.
        """
        for size, limit, unit in (
            (items, self._config.max_queue_items, "items"),
            (tokens, self._config.max_queue_tokens, "tokens"),
        ):
            if size > limit:
                self.refused_count += 1
                raise ListTooLongError(size, limit=limit, unit=unit)
        excess_items = self.items + items - self._config.max_queue_items
        excess_tokens = self.tokens + tokens - self._config.max_queue_tokens
        if excess_items > 0 or excess_tokens > 0:
            self.refused_count += 1
            raise QueueFullError(self._seconds_to_drain(excess_items, excess_tokens))

    def note_drained(self, now_s: float, items: int, tokens: int) -> None:
        """Takes the end of a batch into the drain rate."""
        if self.items <= items:
            self._drained.clear()  # the queue ran empty: what follows may be an idle time, which is no rate
        self._drained.append((now_s, items, tokens))

    def _seconds_to_drain(self, items: int, tokens: int) -> float:
        """When that much will be gone, at the rate of the last batches."""
        done = list(self._drained)[1:]
        if not done:
            return _UNMEASURED_RETRY_S
        span_s = max(self._drained[-1][0] - self._drained[0][0], 1e-6)
        item_rate = sum(batch[1] for batch in done) / span_s
        token_rate = sum(batch[2] for batch in done) / span_s
        wait_s = max(items / max(item_rate, 1e-9), tokens / max(token_rate, 1e-9))
        return min(max(wait_s, _MIN_RETRY_S), _MAX_RETRY_S)
