"""How long work tells its caller how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class ProgressEvent:
    """One step of work on one thing.

    `done` and `total` count `unit`s; `total` is None while it is not known. A step ends with an
    event whose `done` equals its `total`.
    """

    step: str
    subject: str
    done: int
    total: int | None
    unit: Literal["bytes", "steps"]


class Progress(Protocol):
    """Receives progress, on the thread that does the work. Must not raise."""

    def __call__(self, event: ProgressEvent, /) -> None:
        """Called at the start, now and then, and at the end of every step."""


def no_progress(event: ProgressEvent, /) -> None:
    """Ignores progress."""
