"""Benchmark: how close the server comes to ONNX Runtime alone on the same graph.

Raw, served and peer runs take turns in short rounds on inputs of the same mix. A ratio compares a run with the raw runs
just before and after it. The speed of a shared machine drifts by more than the differences of interest. The inputs are
distinct, so that the result cache cannot answer; a hit in any answer ends the benchmark.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from scripts.benchmarks.serving.fifo_server import FifoServer
from scripts.benchmarks.serving.load_series import Endpoint, Load, Series
from scripts.benchmarks.shared.corpus import Corpus, source_text
from scripts.benchmarks.shared.load_client import LoadClient, LoadResult
from scripts.benchmarks.shared.precis_server import PrecisServer
from scripts.benchmarks.shared.process_usage import read_usage
from scripts.benchmarks.shared.raw_model import Item, RawModel, Timing, best_provider
from scripts.benchmarks.shared.report import Figure, Report, Target
from scripts.benchmarks.shared.rpc import EMBED, ENTAIL, ENTAIL_OIP, Method

LIST_SIZE = 16
MIN_INPUTS = 320  # of a run: filling and draining 64 calls in flight takes 128, which are not counted
SEED = 20_240_501
TARGETS = (
    Target("embed_ratio_64", 0.90),
    Target("entail_ratio_64", 0.90),
    Target("embed_list_ratio", 0.96),
    Target("entail_list_ratio", 0.96),
    Target("oip_ratio", 0.97),
    Target("embed_p99_ratio_64", 1.5, at_least=False),
    Target("entail_p99_ratio_64", 1.5, at_least=False),
)


UNARY_1, UNARY_32, UNARY_64 = Load("1 in flight", 1), Load("32 in flight", 32), Load("64 in flight", 64)
LISTS = Load(f"lists of {LIST_SIZE}, 4 in flight", 4, LIST_SIZE)
PEER_64 = Load("bare grpc.aio, 64 in flight", 64)
OIP_64 = Load("by Open Inference, 64 in flight", 64, method=ENTAIL_OIP)


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes:
        run_s: length of one run; short, because rounds cancel drift and long runs do not.
        method_s: time for one RPC, the search for the best plan included.
        calibration_inputs: inputs for each batching plan.
    """

    run_s: float
    method_s: float
    calibration_inputs: int


QUICK = Effort(run_s=0.8, method_s=12.0, calibration_inputs=48)
FULL = Effort(run_s=3.0, method_s=150.0, calibration_inputs=320)


class MethodBenchmark:
    """Measures one RPC against the raw limit of its model and against the bare peer."""

    def __init__(self, method: Method, model: RawModel, corpus: Corpus, effort: Effort) -> None:
        self.method = method
        self.raw_rates: list[float] = []
        self.series: dict[Load, Series] = {}
        self._model = model
        self._corpus = corpus
        self._stop = time.monotonic() + effort.method_s
        self.plan, best = model.best_plan(model.encode(method.draw(corpus, effort.calibration_inputs)))
        self._inputs = max(MIN_INPUTS, LIST_SIZE * round(best * effort.run_s / LIST_SIZE))

    def measure(self, served: Endpoint, peer: Endpoint) -> None:
        """Runs rounds until another one would take too long; at least one."""
        self._run_round([(UNARY_32, served), (UNARY_1, served)])
        order = [(UNARY_64, served), (PEER_64, peer), (LISTS, served)]
        if self.method is ENTAIL:
            order.insert(1, (OIP_64, served))
        round_s = 0.0
        while UNARY_64 not in self.series or time.monotonic() + round_s < self._stop:
            started = time.monotonic()
            self._run_round(order)
            order = [*order[1:], order[0]]  # no load always follows the same one
            round_s = time.monotonic() - started

    def _run_round(self, loads: Sequence[tuple[Load, Endpoint]]) -> None:
        before = self._time_raw()
        for load, endpoint in loads:
            items = self.method.draw(self._corpus, self._inputs if load.in_flight > 1 else self._inputs // 4)
            cpu_before = read_usage(endpoint.pid).cpu_s
            result = self._call(endpoint.client, load, items)
            seconds = len(items) / (load.size * result.calls_per_s)
            served = Timing(len(items), seconds, read_usage(endpoint.pid).cpu_s - cpu_before)
            after = self._time_raw()
            self.series.setdefault(load, Series()).add(served, (before, after), result)
            before = after

    def _time_raw(self) -> Timing:
        items = self.method.draw(self._corpus, self._inputs // 2)  # nothing to fill or drain: shorter will do
        timing = self._model.time(self._model.feeds(self._model.encode(items), self.plan))
        self.raw_rates.append(timing.rate)
        return timing

    def _call(self, client: LoadClient, load: Load, items: Sequence[Item]) -> LoadResult:
        size, method = load.size, load.method or self.method
        requests = [method.request(items[first : first + size]) for first in range(0, len(items), size)]
        result = client.run(method.path, requests, in_flight=load.in_flight)
        if hits := sum(method.check(response, size) for response in result.responses):
            raise RuntimeError(f"{hits} answers came from the result cache: this would not be a measurement")
        return result

    def rows(self) -> list[list[str]]:
        """Makes the lines of the table."""
        name = self.method.name
        raw = [f"{name}: ONNX Runtime alone, {self.plan.name}", f"{median(self.raw_rates):.1f}", "1.00", "1.00", "", ""]
        return [raw, *(self._row(load, series) for load, series in self.series.items())]

    def _row(self, load: Load, series: Series) -> list[str]:
        ratios = [f"{median(ratios):.3f}" for ratios in (series.ratios, series.cpu_ratios)]
        latencies = [f"{series.percentile_ms(percent):.1f}" for percent in (50, 99)]
        return [f"{self.method.name}: {load.name}", f"{median(series.rates):.1f}", *ratios, *latencies]

    def figures(self) -> dict[str, Figure]:
        """Makes this RPC's part of the JSON object."""
        served, peer, lists = self.series[UNARY_64], self.series[PEER_64], self.series[LISTS]
        figures: dict[str, Figure] = {
            "raw_per_s": median(self.raw_rates),
            "raw_plan": self.plan.name,
            "ratio_1": median(self.series[UNARY_1].ratios),
            "ratio_32": median(self.series[UNARY_32].ratios),
            "ratio_64": median(served.ratios),
            "list_ratio": median(lists.ratios),
            "peer_ratio_64": median(peer.ratios),
            "cpu_ratio_64": median(served.cpu_ratios),
            "list_cpu_ratio": median(lists.cpu_ratios),
            "peer_cpu_ratio_64": median(peer.cpu_ratios),
            "p50_ms_1": self.series[UNARY_1].percentile_ms(50),
            "p50_ms_64": served.percentile_ms(50),
            "p99_ms_64": served.percentile_ms(99),
            "p99_ratio_64": median(ours / theirs for ours, theirs in zip(served.p99s_ms, peer.p99s_ms, strict=True)),
            "rounds": len(served.rates),
            "cpu_share": self._model.cpu_share,
        }
        if by_oip := self.series.get(OIP_64):
            return self._named(figures) | {
                "oip_ratio": median(ours / native for ours, native in zip(by_oip.ratios, served.ratios, strict=True)),
                "oip_cpu_ratio": median(
                    ours / native for ours, native in zip(by_oip.cpu_ratios, served.cpu_ratios, strict=True)
                ),
            }
        return self._named(figures)

    def _named(self, figures: dict[str, Figure]) -> dict[str, Figure]:
        return {f"{self.method.name}_{key}": value for key, value in figures.items()}


def run(models: Path, data: Path, *, quick: bool) -> Report:
    """Starts the server and the peer, measures both RPCs, and reports."""
    effort, provider = (QUICK if quick else FULL), best_provider()
    text = source_text(data)
    with ExitStack() as stack:
        server = stack.enter_context(PrecisServer(models))
        fifo = stack.enter_context(FifoServer(models, provider))
        served, peer = (
            Endpoint(stack.enter_context(LoadClient(process.address)), process.pid) for process in (server, fifo)
        )
        benchmarks = []
        for method in (EMBED, ENTAIL):
            model = RawModel.load(models / method.role, provider)
            benchmark = MethodBenchmark(method, model, Corpus(text, model.tokenizer, SEED), effort)
            benchmark.measure(served, peer)
            benchmarks.append(benchmark)
    return _report(benchmarks, provider)


def _report(benchmarks: Sequence[MethodBenchmark], provider: str) -> Report:
    figures: dict[str, Figure] = {}
    for benchmark in benchmarks:
        figures |= benchmark.figures()
    for key, worst in (("p99_ms_64", max), ("p99_ratio_64", max), ("cpu_share", min)):
        figures[key] = worst(float(str(figures[f"{benchmark.method.name}_{key}"])) for benchmark in benchmarks)
    return Report(
        title=f"serving: one input a call unless a list, mixed lengths, {provider}",
        columns=("load", "inputs/s", "of the limit", "in CPU time", "p50 ms", "p99 ms"),
        rows=[row for benchmark in benchmarks for row in benchmark.rows()],
        figures=figures | {"provider": provider},
        targets=TARGETS,
    )
