"""What is recorded about each way of calling a server."""

from dataclasses import dataclass, field

import numpy as np

from scripts.benchmarks.shared.load_client import LoadClient, LoadResult
from scripts.benchmarks.shared.raw_model import Timing
from scripts.benchmarks.shared.rpc import Method


@dataclass(frozen=True)
class Load:
    """One way to call a server.

    Attributes:
        name: in the table.
        in_flight: calls at a time.
        size: inputs of a call.
        method: another RPC than the measured one, for the same inputs.
    """

    name: str
    in_flight: int
    size: int = 1
    method: Method | None = None


@dataclass(frozen=True)
class Endpoint:
    """A running server: the client that calls it, and its process id."""

    client: LoadClient
    pid: int


@dataclass
class Series:
    """All runs of one load; parallel lists, one entry per run.

    Attributes:
        rates: inputs per second.
        ratios: that rate over the raw one just before and after.
        cpu_ratios: raw CPU time per input over that of server and client together. On a quiet machine whose cores are
            all busy this is the ratio of the rates; unlike it, it hardly moves when other processes run.
        p99s_ms: 99th percentile of the latency.
        latencies_ms: of all calls of all runs.
    """

    rates: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    cpu_ratios: list[float] = field(default_factory=list)
    p99s_ms: list[float] = field(default_factory=list)
    latencies_ms: list[float] = field(default_factory=list)

    def add(self, served: Timing, raw: tuple[Timing, Timing], result: LoadResult) -> None:
        """Records one run between two raw ones; `served.cpu_s` is that of the server process."""
        latencies_ms = [1000 * latency for latency in result.latencies_s]
        raw_cpu_per_input = sum(timing.cpu_s for timing in raw) / sum(timing.inputs for timing in raw)
        self.rates.append(served.rate)
        self.ratios.append(served.rate / (sum(timing.rate for timing in raw) / len(raw)))
        self.cpu_ratios.append(raw_cpu_per_input / ((served.cpu_s + result.cpu_s) / served.inputs))
        self.p99s_ms.append(float(np.percentile(latencies_ms, 99)))
        self.latencies_ms += latencies_ms

    def percentile_ms(self, percent: float) -> float:
        """Latency that `percent` of all calls stay below."""
        return float(np.percentile(self.latencies_ms, percent))
