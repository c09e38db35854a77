"""Prometheus metrics of the engine: one histogram entry for each forward pass, counters read when scraped."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from inference.statistics import BatchRecord, EngineStatistics
from server.metrics import SECONDS

ROWS = (1, 2, 4, 8, 12, 16, 24, 32, 64, 128, 256)
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75)

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


@dataclass(frozen=True, slots=True)
class _ModelHistograms:
    rows: Histogram
    queue: Histogram
    compute: Histogram
    padding: Histogram


class BatchMetrics:
    """Takes the measurements of every forward pass. An `inference.statistics.Observer`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"precis_batch_{name}", text, ["model"], registry=registry, buckets=buckets)

        self._families = _ModelHistograms(
            rows=histogram("rows", "Rows in one forward pass.", ROWS),
            queue=histogram("queue_seconds", "Wait of the oldest row of a batch.", SECONDS),
            compute=histogram("compute_seconds", "Time of one forward pass.", SECONDS),
            padding=histogram("padding_share", "Share of a batch's tokens that is padding.", SHARES),
        )
        self._models: dict[str, _ModelHistograms] = {}

    def batch_finished(self, record: BatchRecord) -> None:
        """Notes one forward pass."""
        model = self._models.get(record.model)
        if model is None:
            model = self._models[record.model] = self._labelled(record.model)
        model.rows.observe(record.rows)
        model.queue.observe(record.queue_s)
        model.compute.observe(record.compute_s)
        model.padding.observe(1 - record.tokens / record.padded_tokens)

    def _labelled(self, name: str) -> _ModelHistograms:
        families = self._families
        return _ModelHistograms(
            families.rows.labels(name),
            families.queue.labels(name),
            families.compute.labels(name),
            families.padding.labels(name),
        )


class EngineCollector(Collector):
    """Reads the engine's own counters at every scrape, so that calls pay nothing for them."""

    def __init__(self, statistics: Callable[[], EngineStatistics]) -> None:
        self._statistics = statistics

    def describe(self) -> list[Metric]:
        """Names nothing beforehand: the registry would otherwise read the engine before it runs."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yields all counters and gauges of all models."""
        statistics = self._statistics()
        for field, text in GAUGES.items():
            gauge = GaugeMetricFamily(f"precis_{field}", text, labels=["model"])
            for model, values in statistics.models.items():
                gauge.add_metric([model], getattr(values, field))
            yield gauge
        for field, text in COUNTERS.items():
            counter = CounterMetricFamily(f"precis_{NAMES.get(field, field)}", text, labels=["model"])
            for model, values in statistics.models.items():
                counter.add_metric([model], getattr(values, field))
            yield counter
        yield GaugeMetricFamily("precis_ready", "1 when every worker can compute.", value=int(statistics.is_ready))
        yield CounterMetricFamily(
            "precis_worker_restarts", "Workers started again after they died.", value=statistics.worker_restarts
        )
