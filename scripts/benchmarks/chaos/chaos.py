"""Benchmark: what crowds, hostile clients, a leaping clock and dying servers do to a server and its other clients."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from rich.progress import Progress

from scripts.benchmarks.chaos.clock import clock_jumps
from scripts.benchmarks.chaos.failover import failover
from scripts.benchmarks.chaos.fuzz import fuzz
from scripts.benchmarks.chaos.hostile import (
    descriptors,
    idle_connections,
    idle_streams,
    slow_scrapers,
    unauthenticated,
    unread,
)
from scripts.benchmarks.chaos.leftovers import cancelled_work, tenants
from scripts.benchmarks.chaos.liars import faulty, lies
from scripts.benchmarks.chaos.load import burst, fairness, overload
from scripts.benchmarks.chaos.over_http import METRICS_PORT, SETTINGS, bodiless_checks, large_bodies, unread_bodies
from scripts.benchmarks.chaos.shares import document_bomb, shares
from scripts.benchmarks.chaos.victim import victim
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.report import Figure, Report, Target
from server.cli.console import error_console

Part = Callable[[], Coroutine[Any, Any, Mapping[str, Figure]]]
SEED = 20
TARGETS = (
    Target("burst_cancelled", 0, at_least=False),
    Target("overload_expired_share", 0.01, at_least=False),
    Target("overload_health_p99_s", 0.25, at_least=False),
    Target("retry_ratio", 2, at_least=False),
    Target("request_bytes_served", 1),
    Target("unread_places_served", 1),
    Target("llm_fair_ratio", 3, at_least=False),
    Target("document_bomb_s", 30, at_least=False),
    Target("fair_p99_ratio", 3, at_least=False),
    Target("idle_streams_served", 1),
    Target("idle_connections_served", 1),
    Target("descriptors_served", 1),
    Target("ready_served", 1),
    Target("llm_answer_stall_s", 0.5, at_least=False),
    Target("faulty_completed_share", 1),
    Target("faulty_calls_ratio", 1.5, at_least=False),
    Target("unauth_peak_mb", 1_000, at_least=False),
    Target("unread_peak_mb", 1_000, at_least=False),
    Target("health_mb", 60, at_least=False),
    Target("http_stall_s", 0.25, at_least=False),
    Target("http_unread_mb", 300, at_least=False),
    Target("utf16_stall_s", 0.25, at_least=False),
    Target("cancel_left_s", 0, at_least=False),
    Target("tenant_leaks", 0, at_least=False),
    Target("clock_failed", 0, at_least=False),
    Target("clock_repeated", 0, at_least=False),
    Target("clock_given_away", 0, at_least=False),
    Target("failover_failed", 0, at_least=False),
    Target("failover_repeated", 0, at_least=False),
    Target("fuzz_internal", 0, at_least=False),
    Target("fuzz_crashes", 0, at_least=False),
    Target("rss_growth", 0.02, at_least=False),
)


def run(models: Path, _data: Path, *, quick: bool) -> Report:
    """Attacks one server in every way, one after the other; the ways that leave much memory behind come last."""
    figures: dict[str, Figure] = {"quick": quick}
    rows: list[tuple[str, str, str]] = []

    def attack(name: str, part: Part) -> None:
        started_s = time.monotonic()
        found = asyncio.run(_finished(part))
        rows.append((name, f"{time.monotonic() - started_s:.1f}", _shown(found)))
        figures.update(found)

    with victim(models, SETTINGS) as server, Progress(console=error_console(), transient=True) as bar:
        for name, part in bar.track(_parts(server, quick=quick).items(), description="attacks"):
            attack(name, part)
    attack("few descriptors", lambda: descriptors(models))
    attack("shares", lambda: shares(models))
    attack("answers that lie", lambda: lies(models, quick=quick))
    attack("faulty endpoints", lambda: faulty(models, quick=quick))
    attack("documents", lambda: asyncio.to_thread(document_bomb, quick=quick))
    attack("clock jumps", lambda: clock_jumps(models, quick=quick))
    if not quick:
        attack("failover", lambda: failover(models.resolve()))
    return Report("chaos", ("attack", "s", "found"), rows, figures, TARGETS)


def _shown(found: Mapping[str, Figure]) -> str:
    """Writes what one part found; of the values that are no numbers, why there are none."""
    parts = (f"{key} {value:.4g}" for key, value in found.items() if isinstance(value, int | float))
    return ", ".join([*parts, *(value for value in found.values() if isinstance(value, str))])


async def _finished(part: Part) -> Mapping[str, Figure]:
    return await part()


def _parts(server: PrecisServer, *, quick: bool) -> dict[str, Part]:
    return {
        "tenants": lambda: tenants(server),
        "fuzz": lambda: fuzz(server, 100_000, limit_s=10 if quick else 3_600, seed=SEED),
        "work after a cancel": lambda: cancelled_work(server, quick=quick),
        "a crowd beside one": lambda: fairness(server, 150 if quick else 800),
        "burst": lambda: burst(server, 2_000 if quick else 8_000),
        "idle streams": lambda: idle_streams(server, 1_200),
        "idle connections": lambda: idle_connections(server, 4_200),
        "slow scrapers": lambda: slow_scrapers(METRICS_PORT, 300),
        "bodies without a key": lambda: unauthenticated(server, 6 if quick else 24),
        "checks without a body": lambda: bodiless_checks(server, 20 if quick else 120),
        "large bodies over HTTP": lambda: large_bodies(server),
        "unread answers over HTTP": lambda: unread_bodies(server, 40 if quick else 120),
        "unread answers": lambda: unread(server, 60 if quick else 250),
        "overload": lambda: overload(server, *((6, 5) if quick else (60, 30))),
    }
