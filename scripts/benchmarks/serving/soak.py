"""Benchmark: resident memory of the server over many calls, and the CPU it uses when nobody calls.

The result cache is made small, so that it is full long before the end and what still grows is a leak.
"""

import time
from pathlib import Path

from scripts.benchmarks.shared.corpus import Corpus, source_text
from scripts.benchmarks.shared.load_client import LoadClient
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import Usage, read_usage
from scripts.benchmarks.shared.raw_model import RawModel
from scripts.benchmarks.shared.report import Figure, Report, Target
from scripts.benchmarks.shared.rpc import EMBED, ENTAIL
from server.cli.console import progress_bar

FULL_CALLS, QUICK_CALLS = 20_000, 2_000
STEPS = 20  # points of the curve
ENTAIL_SHARE = 4  # one call in so many
IN_FLIGHT = 64
IDLE_S = 5.0
SMALL_CACHE = {"PRECIS_INFERENCE__CACHE__MAX_BYTES": str(2 << 20)}
TARGETS = (
    Target("resident_mb_max", 900, at_least=False),
    Target("second_half_growth_mb", 10, at_least=False),
    Target("idle_cpu_percent", 1, at_least=False),
)


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Calls the server in steps and reads its memory after each."""
    calls = QUICK_CALLS if quick else FULL_CALLS
    corpus = Corpus(source_text(data), RawModel.load(models / EMBED.role).tokenizer, seed=3)
    with (
        PrecisServer(models, SMALL_CACHE) as server,
        LoadClient(server.address) as client,
        progress_bar() as bar,
    ):
        curve = [read_usage(server.pid)]
        for _ in bar.track(range(STEPS), description="calls"):
            _call(client, corpus, calls // STEPS)
            curve.append(read_usage(server.pid))
        idle_percent = _idle_percent(server.pid)
    return _report(curve, calls, idle_percent)


def _call(client: LoadClient, corpus: Corpus, calls: int) -> None:
    entail = calls // ENTAIL_SHARE
    for method, count in ((EMBED, calls - entail), (ENTAIL, entail)):
        requests = [method.request([item]) for item in method.draw(corpus, count)]
        for answer in client.run(method.path, requests, in_flight=IN_FLIGHT).responses:
            method.check(answer, 1)


def _idle_percent(pid: int) -> float:
    """CPU use, in percent of one core, while nobody calls."""
    before, started = read_usage(pid), time.monotonic()
    time.sleep(IDLE_S)  # the quantity measured is what happens while nothing does
    return 100 * (read_usage(pid).cpu_s - before.cpu_s) / (time.monotonic() - started)


def _report(curve: list[Usage], calls: int, idle_percent: float) -> Report:
    resident = [usage.resident_mb for usage in curve]
    figures: dict[str, Figure] = {
        "calls": calls,
        "resident_mb_start": resident[0],
        "resident_mb_half": resident[STEPS // 2],
        "resident_mb_end": resident[-1],
        "resident_mb_max": max(resident),
        "second_half_growth_mb": resident[-1] - resident[STEPS // 2],
        "idle_cpu_percent": idle_percent,
        "cpu_s": curve[-1].cpu_s,
    }
    rows = [
        [f"{calls * step // STEPS}", f"{usage.resident_mb:.0f}", f"{usage.cpu_s:.1f}"]
        for step, usage in enumerate(curve)
    ]
    return Report("soak: resident memory over calls", ("calls", "resident MB", "CPU s"), rows, figures, TARGETS)
