"""The worst items of a bulk run, without keeping the others."""

import heapq
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class WorstItems(Generic[T]):
    """Keeps the `limit` items with the greatest badness; of equals the one that came earlier."""

    limit: int
    seen_count: int = 0
    _heap: list[tuple[float, int, T]] = field(default_factory=list)

    def add(self, badness: float, item: T) -> None:
        """Takes one item in."""
        entry = (badness, -self.seen_count, item)  # the count is unique: items themselves are never compared
        self.seen_count += 1
        (heapq.heappush if len(self._heap) < self.limit else heapq.heappushpop)(self._heap, entry)

    def ranked(self) -> list[tuple[float, T]]:
        """Lists what is kept with its badness, worst first."""
        return [(badness, item) for badness, _, item in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]
