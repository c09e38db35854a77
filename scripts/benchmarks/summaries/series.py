"""Wall time, CPU time and memory of summaries whose calls take a second each."""

import os
import resource
import time
from dataclasses import dataclass
from statistics import median

from pipeline.summarize.document import Document
from scripts.benchmarks.shared.process_usage import read_usage
from scripts.benchmarks.summaries.bench import Documents, SummaryBench, Timed, finished, open_bench
from scripts.benchmarks.summaries.endpoint_process import EndpointProcess, Seen

LATENCY_S = 1.0  # what a fast endpoint takes for a short answer; an extraction of 4,000 tokens takes 20 s and more
MB = 1e6


@dataclass(frozen=True)
class Load:
    """One way to summarize.

    Attributes:
        concurrency: calls in flight.
        chunks: of each document.
        repeats: documents that are summarized one after the other.
    """

    concurrency: int
    chunks: int
    repeats: int = 1


@dataclass(frozen=True)
class Series:
    """The summaries of one load.

    Attributes:
        load: as asked for.
        runs: in order.
        added_mb: growth of this process's resident memory at its highest point during the first run, in 10^6 bytes.
        rerun_calls: calls when the first document is sent again.
        rerun_time_ratio: the time of that over the time of the first run.
    """

    load: Load
    runs: tuple[Timed, ...]
    added_mb: float
    rerun_calls: int
    rerun_time_ratio: float

    @property
    def ratios(self) -> list[float]:
        """Wall time over critical path."""
        return [run.wall_s / run.critical_path_s(LATENCY_S) for run in self.runs]

    @property
    def cpu_ms(self) -> list[float]:
        """CPU time of a call."""
        return [run.cpu_ms_per_call for run in self.runs]

    def row(self) -> list[str]:
        """Shows the load."""
        first, walls = self.runs[0], [run.wall_s for run in self.runs]
        return [
            f"{self.load.concurrency} in flight",
            *(f"{first.result.calls_done}", f"{first.plan.rounds()}", f"{first.critical_path_s(LATENCY_S):.0f}"),
            *(f"{median(walls):.2f}", f"{min(self.ratios):.3f}", f"{median(self.ratios):.3f}"),
            *(f"{min(self.cpu_ms):.2f}", f"{median(self.cpu_ms):.2f}"),
        ]


async def measure_series(endpoint: EndpointProcess, documents: Documents, load: Load) -> Series:
    """Summarizes `repeats` documents, and the first of them again."""
    async with open_bench(endpoint.base_url, load.concurrency) as bench:
        document = documents.next(load.chunks)
        resident_mb = read_usage(os.getpid()).resident_mb
        runs = [await _checked(bench, endpoint, document)]
        added_mb = _peak_mb() - resident_mb
        rerun_s = await _rerun_s(bench, document, runs[0])
        rerun_calls = endpoint.seen().requests
        runs += [await _checked(bench, endpoint, documents.next(load.chunks)) for _ in range(1, load.repeats)]
    return Series(load, tuple(runs), added_mb, rerun_calls, rerun_s / runs[0].wall_s)


async def _checked(bench: SummaryBench, endpoint: EndpointProcess, document: Document) -> Timed:
    """Summarizes a document. Raises RuntimeError unless the endpoint saw the plan's calls, and as many at once."""
    timed, seen = await bench.time(document), endpoint.seen()
    calls = timed.plan.calls()
    at_once = min(timed.plan.concurrency, timed.plan.map_calls)
    if seen != Seen(requests=calls, answered=calls, repeated=0, faults=0, peak_in_flight=at_once):
        raise RuntimeError(f"planned {calls} calls, {at_once} at once; the endpoint saw {seen}")
    return timed


async def _rerun_s(bench: SummaryBench, document: Document, first: Timed) -> float:
    """Sends the same request again."""
    started_s = time.perf_counter()
    result = await finished(bench.summarizer.stream(document, writer=bench.writer))
    elapsed_s = time.perf_counter() - started_s
    if result.text != first.result.text:
        raise RuntimeError("the same document again has another summary")
    return elapsed_s


def _peak_mb() -> float:
    """Most resident memory of this process so far; Linux counts it in units of 1,024 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
