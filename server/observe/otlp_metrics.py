"""Sends all metrics to an OpenTelemetry collector, over OTLP/HTTP, beside the page that Prometheus reads.

What the registry holds is sent as it is: the same names, labels and buckets. Needs the extra `tracing`.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby, pairwise
from typing import Any
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import export as sdk
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.samples import Sample

from server.config import MetricsConfig
from server.observe.tracing import process_attributes

_TIMEOUT_S = 5.0  # of one export, and of the last one after SIGTERM
_CUMULATIVE = sdk.AggregationTemporality.CUMULATIVE
_SUMS = {"counter": "_total", "gauge": "", "info": "_info", "unknown": ""}
"""The ending of the samples that count, by the kind of metric that is one number."""


@contextmanager
def pushed(config: MetricsConfig, registry: CollectorRegistry) -> Iterator[None]:
    """Sends every `otlp_every_s` while entered, and once more at the end."""
    headers = {name: value.get_secret_value() for name, value in config.otlp_headers.items()}
    exporter = OTLPMetricExporter(config.otlp_endpoint, headers=headers, timeout=_TIMEOUT_S)
    snapshots, is_over = Snapshots(registry), threading.Event()

    def push() -> None:
        while not is_over.wait(config.otlp_every_s):
            exporter.export(snapshots.take())
        exporter.export(snapshots.take())

    thread = threading.Thread(target=push, name="precis-otlp", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(_TIMEOUT_S)  # a collector that is away must not keep the server
        exporter.shutdown()


class Snapshots:
    """Turns what a registry holds into OpenTelemetry's own data."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._resource = Resource.create({**process_attributes(), "service.instance.id": uuid4().hex})
        self._scope = InstrumentationScope("precis", version("precis-server"))
        self._registry = registry
        self._began_ns = time.time_ns()

    def take(self) -> sdk.MetricsData:
        """Reads all metrics now."""
        now_ns = time.time_ns()
        metrics = [self._metric(family, now_ns) for family in self._registry.collect()]
        scope = sdk.ScopeMetrics(self._scope, [one for one in metrics if one.data.data_points], "")
        return sdk.MetricsData([sdk.ResourceMetrics(self._resource, [scope], "")])

    def _metric(self, family: Metric, now_ns: int) -> sdk.Metric:
        times = (self._began_ns, now_ns)
        if family.type == "histogram":
            data: Any = sdk.Histogram(self._histograms(family.samples, times), _CUMULATIVE)
            return sdk.Metric(family.name, family.documentation, family.unit, data)
        name = family.name + _SUMS.get(family.type, "")
        points = [sdk.NumberDataPoint(one.labels, *times, one.value) for one in family.samples if one.name == name]
        is_counter = family.type == "counter"
        data = sdk.Sum(points, _CUMULATIVE, is_counter) if is_counter else sdk.Gauge(points)
        return sdk.Metric(name, family.documentation, family.unit, data)

    def _histograms(self, samples: Sequence[Sample], times: tuple[int, int]) -> list[sdk.HistogramDataPoint]:
        counts = (one for one in samples if not one.name.endswith("_created"))
        series = groupby(counts, lambda one: {name: value for name, value in one.labels.items() if name != "le"})
        return [self._histogram(labels, list(parts), times) for labels, parts in series]

    def _histogram(
        self, labels: Mapping[str, str], parts: Sequence[Sample], times: tuple[int, int]
    ) -> sdk.HistogramDataPoint:
        """Makes one series: Prometheus counts all that lies below a bound, OpenTelemetry what lies between two."""
        buckets = [one for one in parts if one.name.endswith("_bucket")]
        [total] = [one.value for one in parts if one.name.endswith("_sum")]
        below = [0, *(int(one.value) for one in buckets)]
        return sdk.HistogramDataPoint(
            labels,
            *times,
            count=below[-1],
            sum=total,
            bucket_counts=[upper - lower for lower, upper in pairwise(below)],
            explicit_bounds=[float(one.labels["le"]) for one in buckets[:-1]],
            min=None,  # type: ignore[arg-type]  # unknown, and optional on the wire
            max=None,  # type: ignore[arg-type]
        )
