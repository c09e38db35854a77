"""How `precis load` paces its calls, and its options. Imports nothing heavy."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from server.cli.options import JsonOption, ReportOption, TimeoutOption

DEFAULT_CALLERS = 8


@dataclass(frozen=True, slots=True)
class Pace:
    """How calls follow each other.

    Attributes:
        callers: of a closed loop; 0 in an open one.
        rate: calls a second of an open loop; 0 in a closed one.
    """

    callers: int = 0
    rate: float = 0.0

    def __str__(self) -> str:
        return f"closed, {self.callers} callers" if self.callers else f"open, {self.rate:g}/s Poisson"

    def arrivals(self) -> Iterator[float]:
        """Yields the times of an open loop, in seconds from its beginning: a Poisson process, the same at every run."""
        generator, at_s = random.Random(0), 0.0  # noqa: S311 - no secret
        while True:
            at_s += generator.expovariate(self.rate)
            yield at_s


@dataclass(frozen=True, slots=True)
class Period:
    """How long a loop runs, and how much it may have on its way.

    Attributes:
        warmup_s: not measured.
        seconds: measured.
        max_in_flight: of an open loop; calls beyond are not made, and counted.
    """

    warmup_s: float
    seconds: float
    max_in_flight: int = 10_000


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
    seconds: Annotated[float, Option("--seconds", "-s", min=0.1, help="Measured time of each loop.")] = 10.0
    warmup: Annotated[float, Option(min=0, metavar="SECONDS", help="Time before it, not measured.")] = 2.0
    data: Annotated[
        Path | None, Option("--data", "-d", metavar="JSONL", help="Requests, one a line; - reads stdin.")
    ] = None
    report: ReportOption = None
    as_json: JsonOption = False
    timeout_s: TimeoutOption = 60.0

    @property
    def paces(self) -> list[Pace]:
        """The loops, the closed ones first."""
        closed = self.callers or ([] if self.rate else [DEFAULT_CALLERS])
        return [*(Pace(callers=count) for count in closed), *(Pace(rate=rate) for rate in self.rate or ())]
