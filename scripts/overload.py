"""Draws the picture of overload in docs/start/operate.md: what callers get at 0.5 to 20 times the knee.

Run: python -m scripts.overload   (two minutes; needs the installed models, and a machine that does nothing else)
"""

import asyncio
import itertools
import sys
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.benchmarks.chaos.load import CONNECTIONS, ENTAIL, Crowd, health_s, pairs
from scripts.benchmarks.chaos.victim import Outcome, connection, percentile
from scripts.benchmarks.shared.precis_server import PrecisServer

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "overload.svg"
MULTIPLES = (0.5, 1, 2, 5, 10, 20)
PAIRS, DEADLINE_S, SECONDS = 64, 5, 15
WIDTH, HEIGHT, LEFT, TOP, GAP = 640, 150, 70, 46, 60
STYLE = "text{font:12px system-ui,sans-serif;fill:#1b2733}polyline{fill:none;stroke-width:2}.g{stroke:#cdd6de}"


class Point(NamedTuple):
    """What came of one rate: answers over those at the knee, the share of accepted calls that expired, seconds."""

    multiple: float
    goodput: float
    expired: float
    health_p99_s: float
    retry_ratio: float | None  # what the refused are told over what the answered waited; None: nobody is refused
    own_cpu: float  # cores that this program took


async def measure(server: PrecisServer) -> list[Point]:
    """Finds the knee, what callers get that come again when they are told to, and sends multiples of it."""
    channels = [connection(server) for _ in range(CONNECTIONS)]
    requests = itertools.cycle([pairs(PAIRS) for _ in range(2_000)])
    crowd = Crowd(channels, ENTAIL, lambda: next(requests), DEADLINE_S, key=())
    await crowd.closed(CONNECTIONS, 2)
    knee = (await _timed(crowd.closed(CONNECTIONS, SECONDS)))[1]
    points = []
    for multiple in MULTIPLES:
        checks = asyncio.create_task(asyncio.to_thread(health_s, server, SECONDS))
        cpu_s = time.process_time()
        outcomes, rate = await _timed(crowd.open_loop(multiple * knee, SECONDS))
        own_cpu = (time.process_time() - cpu_s) / SECONDS
        codes = Counter(one.code for one in outcomes)
        expired = codes["DEADLINE_EXCEEDED"] / (codes["DEADLINE_EXCEEDED"] + codes["OK"])
        waited_s = [one.seconds for one in outcomes if one.is_answered]
        told_s = [one.retry_delay_s for one in outcomes if one.retry_delay_s is not None]
        ratio = percentile(told_s, 0.5) / percentile(waited_s, 0.5) if told_s else None
        points.append(Point(multiple, rate / knee, expired, percentile(await checks, 0.99), ratio, own_cpu))
        print(points[-1], flush=True)
    for channel in channels:
        await channel.close()
    return points


async def _timed(loop: Coroutine[Any, Any, list[Outcome]]) -> tuple[list[Outcome], float]:
    """Runs a loop to its last answer. Returns what came of it, and answers a second."""
    started_s = time.monotonic()
    outcomes = await loop
    return outcomes, sum(one.is_answered for one in outcomes) / (time.monotonic() - started_s)


def to_svg(points: Sequence[Point]) -> str:
    """Draws shares above, health checks below, with the multiples evenly spaced."""
    panels = [
        ("of the answers at the knee (blue); expired of the accepted (red)", 1.2, ("goodput", "expired")),
        ("health check, 99th percentile, in milliseconds", 50, ("health_p99_ms",)),
    ]
    step, parts = (WIDTH - LEFT - 30) / (len(points) - 1), []
    for at, (title, top, names) in enumerate(panels):
        y0 = TOP + at * (HEIGHT + GAP)
        parts.append(f'<text x="{LEFT}" y="{y0 - 12}">{title}</text>')
        for mark in (0, top / 2, top):
            y = y0 + HEIGHT * (1 - mark / top)
            parts.append(f'<line class="g" x1="{LEFT}" x2="{WIDTH - 30}" y1="{y:g}" y2="{y:g}"/>')
            parts.append(f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{mark:g}</text>')
        for name, color in zip(names, ("#2f6fab", "#b3402d"), strict=False):
            values = [1e3 * one.health_p99_s if name == "health_p99_ms" else getattr(one, name) for one in points]
            line = " ".join(
                f"{LEFT + step * x:g},{y0 + HEIGHT * (1 - min(value / top, 1)):.1f}" for x, value in enumerate(values)
            )
            parts.append(f'<polyline stroke="{color}" points="{line}"/>')
        for x, point in enumerate(points):
            parts.append(
                f'<text x="{LEFT + step * x:g}" y="{y0 + HEIGHT + 18}" text-anchor="middle">{point.multiple:g}x</text>'
            )
    height = TOP + 2 * HEIGHT + GAP + 30
    said = "Answers, expired calls and health checks at 0.5 to 20 times the load that a server can do"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{said}">'
    ground = f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#fafbfc"/>'
    return "\n".join([head, f"<title>{said}</title>", f"<style>{STYLE}</style>", ground, *parts, "</svg>\n"])


def main() -> int:
    """Measures and draws."""
    with PrecisServer(ROOT / "models", {"PRECIS_INFERENCE__CACHE__MAX_BYTES": "0"}) as server:
        points = asyncio.run(measure(server))
    PICTURE.write_text(to_svg(points), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
