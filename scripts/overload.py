"""Draws the picture of overload in docs/start/operate.md: what `precis load` gets at 0.5 to 20 times the knee.

Run: python -m scripts.overload   (two minutes; needs the installed models, and a machine that does nothing else)
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from precis.v1 import inference_pb2

from scripts.benchmarks.chaos.load import health_s, pairs
from scripts.benchmarks.chaos.victim import percentile
from scripts.benchmarks.shared.precis_server import PrecisServer

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "overload.svg"
MULTIPLES = (0.5, 1, 2, 5, 10, 20)
PAIRS, DEADLINE_S, SECONDS = 64, 5, 6
WIDTH, HEIGHT, LEFT, TOP, GAP = 640, 150, 70, 46, 60
STYLE = "text{font:12px system-ui,sans-serif;fill:#1b2733}polyline{fill:none;stroke-width:2}.g{stroke:#cdd6de}"


class Point(NamedTuple):
    """What came of one rate: answers over those at the knee, the share of accepted calls that expired, seconds."""

    multiple: float
    goodput: float
    expired: float
    health_p99_s: float


def measure() -> list[Point]:
    """Finds the knee, the highest rate of a closed loop of eight callers, and sends multiples of it."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as data:
        for _ in range(2_000):
            request = inference_pb2.EntailRequest.FromString(pairs(PAIRS))
            said = [{"premise": pair.premise, "hypothesis": pair.hypothesis} for pair in request.pairs]
            data.write(json.dumps({"pairs": said}) + "\n")
        data.flush()
        with PrecisServer(ROOT / "models", {"PRECIS_INFERENCE__CACHE__MAX_BYTES": "0"}) as server:

            def load(*pace: str) -> dict[str, Any]:
                period = ("--seconds", str(SECONDS), "--timeout", str(DEADLINE_S), "--data", data.name, "--json")
                command = [sys.executable, "-m", "precis", "load", "entail", *pace, *period]
                run = subprocess.run([*command, "--address", server.address], capture_output=True, cwd=ROOT, check=True)
                found: dict[str, Any] = json.loads(run.stdout.splitlines()[0])
                return found

            knee = load("--callers", "8")["answered_rate"]
            points = []
            for multiple in MULTIPLES:
                with ThreadPoolExecutor(1) as beside:
                    checks = beside.submit(health_s, server, SECONDS)
                    found = load("--rate", f"{multiple * knee:.1f}", "--warmup", "0")
                expired = found["codes"].get("DEADLINE_EXCEEDED", 0)
                accepted = expired + found["codes"].get("OK", 0)
                goodput, p99_s = found["answered_rate"] / knee, percentile(checks.result(), 0.99)
                points.append(Point(multiple, goodput, expired / accepted, p99_s))
                print(points[-1], flush=True)
    return points


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
    PICTURE.write_text(to_svg(measure()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
