"""`precis load`: runs closed and open loops of calls one after the other, and shows percentiles against rates.

A closed loop has a number of callers, each of whom calls again once it has its answer. It finds what a server can do at
most. It says nothing about waits, for while the server is slow nobody calls. An open loop calls at times that were
drawn beforehand, whatever the server does, and counts from the time that was drawn. So a call that is late because
others were slow has waited. Measuring from the time of sending would leave just these waits out (coordinated omission).
"""

import asyncio
import itertools
import math
import random
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from precis.calls import EVALUATE, INFERENCE, JUDGE, SUMMARIZE, Call, rpc_path
from precis.errors import PrecisError
from precis.oip import open_inference_pb2

from server.cli.commands.probe import LoadOptions
from server.cli.connection import ONCE, CommandClient, open_client
from server.cli.console import Grid, counted, number, output_console, print_note, write
from server.cli.errors import CliError, InputError
from server.cli.files import parse_message, read_rows, to_json_line, write_result
from server.cli.options import Connection
from server.cli.page.render import render_page

OPEN_INFERENCE = "oip:"


@dataclass(frozen=True, slots=True)
class LoadTarget:
    """An RPC, by the name that the person wrote, and its requests."""

    name: str
    path: str
    is_stream: bool
    make: Callable[[int], Message]  # the request of a number from 0 on
    distinct_count: int  # requests that differ; 0: all do


def find_target(name: str, data: Path | None) -> LoadTarget:
    """Finds an RPC of Precis, or a model of any server of the Open Inference Protocol. Raises InputError."""
    model = name.removeprefix(OPEN_INFERENCE) if name.startswith(OPEN_INFERENCE) else ""
    found = [method for full, method in METHODS.items() if name.lower() in {full.lower(), method.name.lower()}]
    if not model and not found:
        raise InputError(f"{name} is no RPC that can be called: {', '.join(METHODS)}, oip:MODEL")
    method = MODEL_INFER if model else found[0]

    def parse(fields: dict[str, Any], _place: str = "") -> Message:
        request = {"model_name": model, **fields} if model else fields
        return parse_message(request, GetMessageClass(method.input_type)())

    made_up, count = MADE_UP.get(name if model else method.name), 0
    if data is not None:
        requests = read_rows(data, parse, are_named=False)
        make, count = (lambda number: requests[number % count]), len(requests)
    elif made_up is not None:
        make = lambda number: parse(made_up(number))  # noqa: E731
    else:
        needed = f"a request a line, as JSON, with the fields of {method.input_type.name}"
        raise InputError(f"{name} needs --data FILE: {needed}")
    return LoadTarget(name, rpc_path(method.containing_service, method.name), method.server_streaming, make, count)


METHODS: dict[str, MethodDescriptor] = {
    f"{service.full_name}/{method.name}": method
    for service in (INFERENCE, JUDGE, EVALUATE, SUMMARIZE)
    for method in service.methods
    if not method.client_streaming
}
MODEL_INFER = open_inference_pb2.DESCRIPTOR.services_by_name["GRPCInferenceService"].methods_by_name["ModelInfer"]


def sentence(number: int) -> str:
    """Makes up a sentence that no other number has."""
    return f"The north bridge near the river closes after {number} days of work."


def _pair(number: int) -> dict[str, str]:
    return {"premise": f"{sentence(number)} {sentence(number + 1)}", "hypothesis": sentence(number)}


def _judged(number: int) -> dict[str, str]:
    source = " ".join(sentence(8 * number + offset) for offset in range(8))
    return {"source": source, "summary": f"{sentence(8 * number)} {sentence(8 * number + 3)}"}


def _tensors(**texts: str) -> dict[str, Any]:
    encoded = {name: [b64encode(text.encode()).decode()] for name, text in texts.items()}
    shared = {"datatype": "BYTES", "shape": [1, 1]}
    return {"inputs": [{"name": name, "contents": {"bytes_contents": one}, **shared} for name, one in encoded.items()]}


MADE_UP: dict[str, Callable[[int], dict[str, Any]]] = {
    "Embed": lambda number: {"texts": [sentence(number)]},
    "Entail": lambda number: {"pairs": [_pair(number)]},
    "Judge": _judged,
    f"{OPEN_INFERENCE}embed": lambda number: _tensors(text=sentence(number)),
    f"{OPEN_INFERENCE}nli": lambda number: _tensors(**_pair(number)),
    f"{OPEN_INFERENCE}judge": lambda number: _tensors(**_judged(number)),
}
"""Makes up the fields of a request, by RPC or model."""


CallOnce = Callable[[], Awaitable[str]]
"""Makes the next call, and returns the name of its status code."""

OK = "OK"
WAITED = {OK, "DEADLINE_EXCEEDED"}  # others are refusals, whose time says nothing
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
ANSWERS_BEYOND = 5  # of a percentile that is shown
LATE_SHARE = 0.1  # of the median wait: a generator that is later than that measures itself


@dataclass(frozen=True, slots=True)
class Pace:
    """How calls follow each other."""

    callers: int = 0  # of a closed loop; 0 in an open one
    rate: float = 0.0  # calls a second of an open loop; 0 in a closed one

    def __str__(self) -> str:
        return f"closed, {counted(self.callers, 'caller')}" if self.callers else f"open, {self.rate:g}/s Poisson"

    def arrivals(self) -> Iterator[float]:
        """Yields the times of an open loop, in seconds from its beginning: a Poisson process, the same at every run."""
        generator, at_s = random.Random(0), 0.0  # noqa: S311 - no secret
        while True:
            at_s += generator.expovariate(self.rate)
            yield at_s


@dataclass
class Measurement:
    """What was measured of one loop; times are in milliseconds, from the time when a call was due."""

    pace: Pace
    seconds: float  # from the first call that was due to the last answer, and no less than was asked for
    waits_ms: list[float] = field(default_factory=list)  # to the answer, or until the time ran out
    lags_ms: list[float] = field(default_factory=list)  # to the sending: this program's own delay
    codes: Counter[str] = field(default_factory=Counter)  # of all calls that were due in the measured time

    @property
    def answered_rate(self) -> float:
        """Answers a second."""
        return self.codes[OK] / self.seconds

    @property
    def lag_ms(self) -> float | None:
        """How late calls were sent, in milliseconds: the 99th percentile. None in a closed loop."""
        return None if self.pace.callers or not self.lags_ms else _percentile(self.lags_ms, 99)

    def wait_ms(self, percentile: float) -> float | None:
        """Returns a percentile of the waits in milliseconds; None with too few answers beyond it."""
        is_known = len(self.waits_ms) * (100 - percentile) / 100 >= ANSWERS_BEYOND
        return _percentile(self.waits_ms, percentile) if is_known else None

    def count(self, code: str, due_s: float, sent_s: float) -> None:
        """Takes in a call that has ended."""
        self.codes[code] += 1
        self.lags_ms.append(1e3 * (sent_s - due_s))
        if code in WAITED:
            self.waits_ms.append(max(1e-3, 1e3 * (time.perf_counter() - due_s)))  # a page shows their logarithms


def _percentile(times_ms: Sequence[float], percentile: float) -> float:
    return float(np.percentile(times_ms, percentile, method="inverted_cdf"))


async def measure(call: CallOnce, pace: Pace, period: LoadOptions) -> Measurement:
    """Runs one loop, and waits for the answers of all its calls."""
    measurement = Measurement(pace, period.seconds)
    await (_closed if pace.callers else _open)(call, measurement, period)
    return measurement


async def _closed(call: CallOnce, into: Measurement, period: LoadOptions) -> None:
    measured_s = time.perf_counter() + period.warmup
    end_s = measured_s + period.seconds

    async def caller() -> None:
        while (begun_s := time.perf_counter()) < end_s:
            code = await call()
            if measured_s <= time.perf_counter() <= end_s:  # by its end: the rate would lack a call of each caller
                into.count(code, begun_s, begun_s)

    await asyncio.gather(*(caller() for _ in range(into.pace.callers)))


async def _open(call: CallOnce, into: Measurement, period: LoadOptions) -> None:
    start_s = time.perf_counter()
    measured_s = start_s + period.warmup
    end_s = measured_s + period.seconds

    async def one(due_s: float) -> None:
        sent_s = time.perf_counter()
        code = await call()
        if due_s >= measured_s:
            into.count(code, due_s, sent_s)

    async with asyncio.TaskGroup() as calls:
        for at_s in into.pace.arrivals():
            due_s = start_s + at_s
            if due_s >= end_s:
                break
            await asyncio.sleep(max(0.0, due_s - time.perf_counter()))  # 0 too: answers must be read
            calls.create_task(one(due_s))
    into.seconds = max(period.seconds, time.perf_counter() - measured_s)  # late answers are no rate of the period


async def run_load(name: str, options: LoadOptions, connection: Connection) -> None:
    """Measures all paces and prints them. Raises CliError when nothing was answered."""
    target = find_target(name, options.data)
    closed = options.callers or ([] if options.rate else [8])
    paces = [*(Pace(callers=count) for count in closed), *(Pace(rate=rate) for rate in options.rate or ())]
    rows: list[Measurement] = []
    async with open_client(connection, options.timeout_s, ONCE) as client:
        call = caller_of(client, target)
        for pace in paces:
            print_note(f"{target.name}: {pace}, {options.seconds:g} s")
            rows.append(await measure(call, pace, options))
    notes = notes_of(target, rows)
    write_result(options.report, lambda: render_load(target, rows, notes))
    if options.as_json:
        write("".join(to_json_line(to_fields(row)) for row in rows))
    else:
        output_console().print(to_grid(rows).to_table(title=target.name))
    for note in notes:
        print_note(note)
    if not any(row.codes[OK] for row in rows):
        codes = ", ".join(sorted({code for row in rows for code in row.codes})) or "no call was made"
        raise CliError(f"nothing was answered: {codes}")


def caller_of(client: CommandClient, target: LoadTarget) -> CallOnce:
    """Returns what makes one call and tells how it ended. A stream ends with its last message."""
    numbers = itertools.count()

    async def call() -> str:
        request = Call(target.path, target.make(next(numbers)), len)
        try:
            if target.is_stream:
                async for _ in client.stream(request):
                    pass
            else:
                await client.send(request)
        except PrecisError as error:
            return error.code.name
        return OK

    return call


def notes_of(target: LoadTarget, rows: Sequence[Measurement]) -> list[str]:
    """Says what a reader has to know of the figures."""
    notes = ["waits count from the time when a call was due; in a closed loop nobody calls while the server is slow"]
    calls = sum(row.codes.total() for row in rows)
    if 0 < target.distinct_count < calls:
        notes.append(f"{calls} calls had {target.distinct_count} different requests: a cache may have answered")
    for row in rows:
        lag_ms, median_ms = row.lag_ms, row.wait_ms(50)
        if lag_ms is not None and median_ms and lag_ms > LATE_SHARE * median_ms:
            notes.append(f"{row.pace}: this program was {lag_ms:.1f} ms late (99%): its waits are partly its own")
        failed = {code: count for code, count in row.codes.items() if code != OK}
        if failed:
            notes.append(f"{row.pace}: {', '.join(f'{count} {code}' for code, count in failed.items())}")
    return notes


def to_fields(row: Measurement) -> dict[str, object]:
    """Returns a row for programs."""
    return {
        "pace": str(row.pace),
        "rate": row.pace.rate or None,
        "callers": row.pace.callers or None,
        "answered_rate": row.answered_rate,
        "codes": dict(row.codes),
        **{f"p{percentile:g}_ms": row.wait_ms(percentile) for percentile in PERCENTILES},
        "max_ms": max(row.waits_ms, default=0.0),
        "lag_p99_ms": row.lag_ms,
    }


def to_grid(rows: Sequence[Measurement]) -> Grid:
    """Builds the table of percentiles against rates."""
    cells = []
    for row in rows:
        waits = [*(row.wait_ms(percentile) for percentile in PERCENTILES), max(row.waits_ms, default=0.0)]
        failed = row.codes.total() - row.codes[OK]
        cells.append((str(row.pace), f"{row.answered_rate:.1f}", str(failed), *map(number, waits)))
    percentiles = (f">p{percentile:g} ms" for percentile in PERCENTILES)
    return Grid(("loop", ">answers/s", ">failed", *percentiles, ">max ms"), cells)


WIDTH, HEIGHT = 640.0, 320.0


def render_load(target: LoadTarget, rows: Sequence[Measurement], notes: Sequence[str]) -> str:
    """Renders the page: the table, and a plot of percentiles against answers a second."""
    lines = {f"p{percentile:g}": points(rows, percentile) for percentile in PERCENTILES}
    powers = [math.log10(wait) for line in lines.values() for _, wait in line] or [0.0]
    floor = math.floor(min(powers))
    top = max(math.ceil(max(powers) + 1e-9), floor + 1)
    fastest = max(row.answered_rate for row in rows) or 1.0

    def height(wait_ms: float) -> float:
        return HEIGHT * (top - math.log10(wait_ms)) / (top - floor)

    return render_page(
        "load.html",
        title=f"Load of {target.name}",
        waits=to_grid(rows),
        notes=notes,
        lines={name: [(WIDTH * x / fastest, height(y)) for x, y in line] for name, line in lines.items() if line},
        marks_ms=[(10.0**power, height(10.0**power)) for power in range(floor, top + 1)],
        fastest=fastest,
        size=(WIDTH, HEIGHT),
    )


def points(rows: Sequence[Measurement], percentile: float) -> list[tuple[float, float]]:
    """Returns answers a second and the percentile of the waits, in milliseconds, by rate."""
    found = ((row.answered_rate, row.wait_ms(percentile)) for row in rows)
    return sorted((rate, wait) for rate, wait in found if wait is not None)
