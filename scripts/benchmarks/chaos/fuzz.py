"""Random requests to every RPC, some of them cancelled: what ends as INTERNAL, whether the server lives, its memory.

The corpus, one JSON object a line, holds requests that once failed. It is sent first; what fails is added to it.
"""

import asyncio
import base64
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from google.protobuf.descriptor_pool import Default
from grpc_health.v1.health import SERVICE_NAME as HEALTH_SERVICE
from precis.calls import SERVICES

from scripts.benchmarks.chaos.messages import Fuzz
from scripts.benchmarks.chaos.victim import HEAVY, Outcome, Route, connection, outcome_of
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage
from server.observe.health import REFLECTION_SERVICES
from server.oip.servicer import SERVICE as OPEN_INFERENCE

CORPUS = Path(__file__).with_name("corpus.jsonl")
_BAD = {"INTERNAL", "UNKNOWN", "DATA_LOSS"}
_OF_CLIENT = "Internal error from Core"  # grpc.aio's own, where it still writes while the refusal is on its way
_TRACES = ("Traceback", "site-packages", ".py")
_IN_FLIGHT = 16
_TIMEOUT_S = 60.0
_CANCELLED_SHARE = 1 / 30
_WEIGHTS = {"Judge": 4, "Evaluate": 4, "Synthesize": 4, "Assess": 3, "Embed": 3, "Entail": 3, "ListModels": 1}
_WARM_SHARE = 0.4  # of the calls: then caches, pools and arenas have their size

METHODS = {
    method.full_name: (method, Route(f"/{name}/{method.name}", method.client_streaming, method.server_streaming))
    for name in (*SERVICES, OPEN_INFERENCE, HEALTH_SERVICE, REFLECTION_SERVICES[1])
    for method in Default().FindServiceByName(name).methods
    if method.name != "Watch"  # without end
}


class Shot(NamedTuple):
    """One call of the fuzzer.

    Attributes:
        cancel_after_s: None: it is read to its end.
    """

    method: str
    requests: tuple[bytes, ...]
    cancel_after_s: float | None = None


@dataclass
class Findings:
    """What came back."""

    codes: Counter[str] = field(default_factory=Counter)
    failed: list[Shot] = field(default_factory=list)
    traces: int = 0

    def add(self, shot: Shot, outcome: Outcome) -> None:
        """Counts one answer."""
        self.codes[outcome.code] += 1
        self.traces += any(word in outcome.message for word in _TRACES)
        if outcome.code in _BAD and outcome.message != _OF_CLIENT:
            self.failed.append(shot)


async def fuzz(server: PrecisServer, calls: int, *, limit_s: float, seed: int) -> dict[str, float]:
    """Sends the corpus, then random calls, until there are so many or the time is over."""
    findings, pid = Findings(), server.pid
    shots = _shots(seed, calls)
    end_s = time.monotonic() + limit_s
    memory: list[float] = []

    async def shooter(number: int) -> None:
        channel = channels[number % len(channels)]
        for shot in shots:
            findings.add(shot, await _fired(shot, channel))
            if _is_alive(pid):
                memory.append(read_usage(pid).resident_mb)
            if time.monotonic() > end_s or not _is_alive(pid):
                return

    channels = [connection(server) for _ in range(2)]
    await asyncio.gather(*map(shooter, range(_IN_FLIGHT)))
    for channel in channels:
        await channel.close()
    _keep(findings.failed)
    return {
        "fuzz_requests": findings.codes.total(),
        "fuzz_answered": findings.codes["OK"],
        "fuzz_cancelled": findings.codes["CANCELLED"],
        "fuzz_internal": len(findings.failed),
        "fuzz_traces": findings.traces,
        "fuzz_crashes": 0 if _is_alive(pid) else 1,
        "rss_growth": _growth(memory),
        "rss_mb": memory[-1] if memory else 0.0,
    }


def _shots(seed: int, calls: int) -> Iterator[Shot]:
    if CORPUS.exists():
        for line in CORPUS.read_text(encoding="utf-8").splitlines():
            known = json.loads(line)
            yield Shot(known["method"], tuple(map(base64.b64decode, known["requests"])))
    made, dice = Fuzz(seed), random.Random(seed)
    weights = [_WEIGHTS.get(name.rpartition(".")[2], 2) for name in METHODS]
    for name in dice.choices([*METHODS], weights, k=calls):
        method, route = METHODS[name]
        count = dice.randint(1, 3) if route.is_fed else 1
        requests = tuple(made.request(method.input_type) for _ in range(count))
        yield Shot(name, requests, dice.random() * 0.05 if dice.random() < _CANCELLED_SHARE else None)


async def _fired(shot: Shot, channel: object) -> Outcome:
    _, route = METHODS[shot.method]
    call = route.begin(channel, shot.requests, _TIMEOUT_S, HEAVY)  # type: ignore[arg-type]
    if shot.cancel_after_s is not None:
        asyncio.get_running_loop().call_later(shot.cancel_after_s, call.cancel)
    try:
        return await outcome_of(call, is_read=route.is_read)
    except asyncio.CancelledError:
        if shot.cancel_after_s is None:
            raise
        return Outcome("CANCELLED", 0.0, "")


def _is_alive(pid: int) -> bool:
    """Tells whether a child still runs; one that ended is a zombie until it is waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _growth(memory: list[float]) -> float:
    """Returns by which share memory grew after the warm-up: medians of tenths, since single readings jump."""
    tenth = max(1, len(memory) // 10)
    warm = int(len(memory) * _WARM_SHARE)
    before, after = sorted(memory[warm : warm + tenth]), sorted(memory[-tenth:])
    return after[len(after) // 2] / before[len(before) // 2] - 1 if before else 0.0


def _keep(failed: list[Shot]) -> None:
    known = set(CORPUS.read_text(encoding="utf-8").splitlines()) if CORPUS.exists() else set()
    lines = {
        json.dumps({"method": shot.method, "requests": [base64.b64encode(raw).decode() for raw in shot.requests]})
        for shot in failed
    }
    if new := sorted(lines - known):
        with CORPUS.open("a", encoding="utf-8") as file:
            file.write("\n".join(new) + "\n")
            os.fsync(file.fileno())
