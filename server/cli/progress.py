"""How far a command is, on stderr: bars on a terminal, else a plain line every 10 seconds and one at the end.

A command that ends sooner prints no line.
"""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from server.cli.console import error_console, plain, print_note

INTERVAL_S = 10.0
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class State:
    """How far one piece of work is."""

    what: str  # in words, for example "judging"
    done: int = 0  # finished parts
    total: int | None = None  # None: not known
    unit: str = ""  # of the parts; "" for items
    details: str = ""  # what else is worth knowing
    eta_s: float | None = None  # estimate of the rest; None: by the share that is done

    def count(self) -> str:
        """Returns for example "12/40 calls", or "3.1/80.0 MiB"; empty when nothing can be said."""
        if self.unit == "bytes":
            return f"{'/'.join(f'{size / MEBIBYTE:.1f}' for size in (self.done, self.total) if size is not None)} MiB"
        total = "" if self.total is None else f"/{self.total}"
        return f"{self.done}{total} {self.unit}".rstrip() if self.done or total else ""

    def left(self, elapsed_s: float, age_s: float = 0.0) -> str:
        """Returns the estimate of the rest, `age_s` after it was made; empty when there is none, or it has passed."""
        seconds = None if self.eta_s is None else self.eta_s - age_s
        if seconds is None and self.total and 0 < self.done < self.total:
            seconds = elapsed_s / self.done * (self.total - self.done)
        return f"{timedelta(seconds=round(seconds))} left" if seconds is not None and round(seconds) > 0 else ""


class Progress:
    """Shows how far a command is. Owns the bars and the thread that prints the lines: enter it, and leave it.

    Args:
        clock: seconds, rising.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        console = error_console()
        self.is_drawn = console.is_terminal and sys.stderr.isatty() and not console.is_dumb_terminal
        self._clock = clock
        self._state: State | None = None
        self._start_s = self._stated_s = clock()
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[rest]}", markup=False),
            console=console,
            transient=True,
            disable=not self.is_drawn,
        )
        self._bar = self._bars.add_task("", rest="")
        self._has_printed = False
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._print_lines, name="precis-progress", daemon=True)

    def __enter__(self) -> Self:
        self._bars.start()
        if not self.is_drawn:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()
        if self.is_drawn:
            return
        self._is_over.set()
        self._thread.join()
        if self._has_printed:
            self.print_line()

    def update(self, state: State) -> None:
        """Takes in how far the work is; each piece of it has a time of its own."""
        self._stated_s = self._clock()
        if self._state is None or self._state.what != state.what:
            self._start_s = self._stated_s
        self._state = state
        rest = "  ".join(filter(None, (state.count(), state.details, state.left(self._stated_s - self._start_s))))
        self._bars.update(self._bar, description=plain(state.what), completed=state.done, total=state.total, rest=rest)

    def print_line(self) -> None:
        """Prints what is being done, how much of it is, the time since it began, and the time that is left."""
        state, elapsed_s = self._state, self._clock() - self._start_s
        if state is not None:
            self._has_printed = True
            left = state.left(elapsed_s, self._clock() - self._stated_s)
            rest = (state.count(), state.details, f"{timedelta(seconds=round(elapsed_s))} elapsed", left)
            print_note(f"{state.what}: {', '.join(filter(None, rest))}")

    def _print_lines(self) -> None:
        while not self._is_over.wait(INTERVAL_S):
            self.print_line()
