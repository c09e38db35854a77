"""One computation in flight, and everyone who waits for it."""

from __future__ import annotations

from inference.call import Priority
from inference.encoded import Encoded
from inference.ticket import Ticket


class Entry:
    """What will be computed once, however many items of however many calls asked for it.

    `waiters` belongs to the event loop's thread; `is_queued` is written under the pool's lock.
    """

    __slots__ = (
        "crash_count",
        "deadline_s",
        "encoded",
        "is_queued",
        "length",
        "priority",
        "queued_s",
        "waiters",
    )

    def __init__(self, encoded: Encoded, priority: Priority, *, deadline_s: float | None, now_s: float) -> None:
        self.encoded = encoded
        self.length = encoded.length
        self.priority = priority
        self.deadline_s = deadline_s  # the latest of its waiters' deadlines; None when one of them has none
        self.queued_s = now_s
        self.is_queued = False
        self.crash_count = 0  # workers that died while they computed it
        self.waiters: list[tuple[Ticket, int]] = []

    def allow(self, deadline_s: float | None) -> None:
        """Adds a waiter's deadline: the entry is worth computing until the last of them has passed."""
        if self.deadline_s is not None:
            self.deadline_s = None if deadline_s is None else max(self.deadline_s, deadline_s)
