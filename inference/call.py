"""What a caller says about a call besides its items."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Priority(IntEnum):
    """Who waits for the answer. Neither class can starve the other."""

    INTERACTIVE = 0
    BULK = 1


@dataclass(frozen=True, slots=True)
class Call:
    """Deadline and priority of one call; it is cancelled by cancelling the task that awaits it."""

    deadline_s: float | None = None  # on the clock of time.monotonic(); None waits as long as it takes
    priority: Priority = Priority.INTERACTIVE
    caller: str = ""  # whose it is; callers share what there is equally
    owner: str = ""  # whose answers it may be given: a row is kept, and computed together, for calls of one owner
