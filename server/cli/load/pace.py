"""How `precis load` paces its calls, and its options. Imports nothing heavy."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from server.cli.options import JsonOption, TimeoutOption

DEFAULT_CALLERS = 8


@dataclass(frozen=True, slots=True)
class Pace:
    """How calls follow each other.

    Attributes:
        callers: of a closed loop; 0 in an open one.
        rate: calls a second of an open loop; 0 in a closed one.
        is_poisson: gaps are drawn from the exponential distribution; else all are equal.
    """

    callers: int = 0
    rate: float = 0.0
    is_poisson: bool = True

    def __str__(self) -> str:
        if self.callers:
            return f"closed, {self.callers} callers"
        return f"open, {self.rate:g}/s {'Poisson' if self.is_poisson else 'constant'}"

    def arrivals(self, seed: int) -> Iterator[float]:
        """Yields the times of an open loop, in seconds from its beginning."""
        generator, at_s = random.Random(seed), 0.0  # noqa: S311 - no secret
        while True:
            at_s += generator.expovariate(self.rate) if self.is_poisson else 1 / self.rate
            yield at_s


@dataclass(frozen=True, slots=True)
class Period:
    """How long a loop runs, and how much it may have on its way.

    Attributes:
        warmup_s: not measured.
        seconds: measured.
        max_in_flight: of an open loop; calls beyond are not made, and counted.
        seed: of the arrivals.
    """

    warmup_s: float
    seconds: float
    max_in_flight: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class LoadOptions:
    """What is to be measured, and where it goes."""

    rate: Annotated[
        list[float] | None,
        Option("--rate", "-r", min=0.001, metavar="R", help="Calls a second of an open loop. Repeatable."),
    ] = None
    callers: Annotated[
        list[int] | None,
        Option("--callers", "-c", min=1, max=4096, help="Callers of a closed loop (default 8). Repeatable."),
    ] = None
    arrivals: Annotated[Literal["poisson", "constant"], Option(help="Gaps between the calls of an open loop.")] = (
        "poisson"
    )
    seconds: Annotated[float, Option("--seconds", "-s", min=0.1, help="Measured time of each loop.")] = 10.0
    warmup: Annotated[float, Option(min=0, metavar="SECONDS", help="Time before it, not measured.")] = 2.0
    data: Annotated[
        Path | None, Option("--data", "-d", metavar="JSONL", help="Requests, one a line; - reads stdin.")
    ] = None
    seed: Annotated[int, Option(help="Of the arrivals.")] = 0
    report: Annotated[Path | None, Option(metavar="HTML", help="Also write a page with a plot.")] = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 60.0

    @property
    def paces(self) -> list[Pace]:
        """The loops, the closed ones first."""
        closed = self.callers or ([] if self.rate else [DEFAULT_CALLERS])
        is_poisson = self.arrivals == "poisson"
        return [*(Pace(callers=count) for count in closed), *(Pace(0, rate, is_poisson) for rate in self.rate or ())]

    @property
    def period(self) -> Period:
        """How long each loop runs."""
        return Period(self.warmup, self.seconds, seed=self.seed)
