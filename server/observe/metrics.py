"""Prometheus metrics of calls and of the engine.

Of the engine: one histogram entry for each forward pass, counters read when scraped.
"""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import Collector

from inference.statistics import BatchRecord, EngineStatistics
from pipeline.protocols import ModelIdentity

SECONDS = (
    *(0.0005, 0.001, 0.002, 0.004, 0.0075, 0.015, 0.03, 0.06, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
    *(15.0, 30.0, 60.0, 120.0, 240.0, 480.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 28_800.0),
)
"""Upper bounds for a batch, a look-up and a whole document: each twice the one before, so that all RPCs add up."""
MOST_CALLERS = 50  # with a series of their own; all others share one
OTHERS = "others"


M = TypeVar("M", bound=MetricWrapperBase)
Observe = Callable[[str, float, str | None], None]
"""Counts one call that ended: its code, its seconds, and its trace, if any, as an example of its bucket."""


class Makers:
    """Makes metrics of one registry, whose names begin with `precis_`.

    A label has its values, or None where the code does not fix them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def counter(self, name: str, text: str, **labels: Iterable[str] | None) -> Counter:
        """Makes a counter."""
        return _begun(Counter(f"precis_{name}", text, tuple(labels), registry=self._registry), labels)

    def histogram(self, name: str, text: str, buckets: Sequence[float], **labels: Iterable[str] | None) -> Histogram:
        """Makes a histogram; `buckets` are upper bounds."""
        made = Histogram(f"precis_{name}", text, tuple(labels), registry=self._registry, buckets=buckets)
        return _begun(made, labels)


def _begun(metric: M, labels: Mapping[str, Iterable[str] | None]) -> M:
    """Makes all series of fixed labels at once: a rate needs the zero before the first count."""
    fixed = [values for values in labels.values() if values is not None]
    for values in product(*fixed) if fixed else ():
        metric.labels(*values)
    return metric


class CallMetrics:
    """Metrics of all RPCs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        make = Makers(registry)
        self._calls = make.counter("calls", "Calls that ended.", rpc=None, code=None)
        text = "From the read request to the end of the call."
        self._seconds = make.histogram("call_seconds", text, SECONDS, rpc=None)
        text = f"Wait of a call's items, by the beginning of its key's digest; `{OTHERS}` beyond {MOST_CALLERS} keys."
        self._queue = make.histogram("caller_queue_seconds", text, (0.01, 0.05, 0.25, 1.0, 5.0, 30.0), caller=None)
        self._queue_of: dict[str, Histogram] = {}
        self._in_flight = Gauge("precis_calls_in_flight", "Calls that have started and not ended.", registry=registry)
        self._unsent = Gauge("precis_unsent_bytes", "Answers that clients have not taken.", registry=registry)

    def method(self, rpc: str) -> Observe:
        """Makes the metrics of one RPC, with the labels looked up once: that costs more than the increment."""
        seconds_of_rpc, by_code = self._seconds.labels(rpc), dict[str, Counter]()

        def observe(code: str, seconds: float, trace_id: str | None) -> None:
            if code not in by_code:
                by_code[code] = self._calls.labels(rpc, code)
            by_code[code].inc()
            seconds_of_rpc.observe(seconds, {"trace_id": trace_id} if trace_id else None)

        return observe

    def waited(self, key: str, seconds: float) -> None:
        """Notes how long a call of a known key waited."""
        if key not in self._queue_of:
            key = key if len(self._queue_of) < MOST_CALLERS else OTHERS
            self._queue_of[key] = self._queue.labels(key)
        self._queue_of[key].observe(seconds)

    def watch(self, in_flight: Callable[[], int], unsent_bytes: Callable[[], int]) -> None:
        """Reads the calls in flight, and the bytes of answers that wait, at every scrape."""
        self._in_flight.set_function(in_flight)
        self._unsent.set_function(unsent_bytes)


def new_registry() -> CollectorRegistry:
    """Makes a registry that holds the metrics of this process: its version, memory, CPU, file descriptors."""
    registry = CollectorRegistry()  # not the global one: two servers in one process must not share counts
    ProcessCollector(registry=registry)
    Info("precis_build", "What runs.", registry=registry).info(
        {"version": version("precis-server"), "python": platform.python_version()}
    )
    return registry


def show_models(registry: CollectorRegistry, models: Mapping[str, ModelIdentity]) -> None:
    """Notes which models compute, by role, once, when the server starts."""
    info = Info("precis_model", "Models that compute.", ["role"], registry=registry)
    for role, model in models.items():
        info.labels(role).info(asdict(model))


GAUGES = {
    "pending_items": "Items admitted and not answered.",
    "pending_tokens": "Tokens admitted and not computed.",
    "cached_rows": "Results in the cache.",
    "cached_bytes": "Memory of the cached results.",
}
COUNTERS = {
    "computed_items": "Items answered by a forward pass.",
    "cached_items": "Items answered from the result cache.",
    "joined_items": "Items attached to the same computation already in flight.",
    "failed_items": "Items that the model failed on, or that were lost with a worker.",
    "expired_items": "Items whose deadline passed while they waited.",
    "shed_items": "Items dropped because their deadline could not have been met.",
    "cancelled_items": "Items whose caller left.",
    "refused_calls": "Calls refused because the queue was full.",
    "tokens": "Useful tokens computed.",
    "padded_tokens": "Tokens computed with padding.",
    "compute_s": "Seconds of computing, summed over workers.",
}
NAMES = {"compute_s": "compute_seconds"}  # Prometheus spells units out


class BatchMetrics:
    """Takes the measurements of every forward pass."""

    def __init__(self, registry: CollectorRegistry) -> None:
        rows, shares = (1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 256), (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
        make = partial(Makers(registry).histogram, model=None)
        self._families = (
            make("batch_rows", "Rows in one forward pass.", rows),
            make("batch_queue_seconds", "Wait of the oldest row of a batch.", SECONDS),
            make("batch_compute_seconds", "Time of one forward pass.", SECONDS),
            make("batch_padding_share", "Share of a batch's tokens that is padding.", shares),
        )

    def batch_finished(self, record: BatchRecord) -> None:
        """Notes one forward pass."""
        values = (record.rows, record.queue_s, record.compute_s, 1 - record.tokens / record.padded_tokens)
        for family, value in zip(self._families, values, strict=True):
            family.labels(record.model).observe(value)


class EngineCollector(Collector):
    """Reads the engine's own counters at every scrape, so that calls pay nothing for them."""

    def __init__(self, statistics: Callable[[], EngineStatistics]) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        """Yields all counters and gauges of all models."""
        statistics = self._statistics()
        for kind, fields in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
            for field, text in fields.items():
                family = kind(f"precis_{NAMES.get(field, field)}", text, labels=["model"])
                for model, values in statistics.models.items():
                    family.add_metric([model], getattr(values, field))
                yield family
        yield GaugeMetricFamily("precis_ready", "1 when every worker can compute.", value=int(statistics.is_ready))
        yield CounterMetricFamily(
            "precis_worker_restarts", "Workers started again after they died.", value=statistics.worker_restarts
        )
