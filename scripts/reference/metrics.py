"""Reference of the metrics: what a server with all of them has in its registry."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import Collector

from inference.statistics import EngineStatistics, ModelStatistics
from pipeline.llm.config import LlmConfig
from pipeline.llm.endpoint import Endpoint
from pipeline.protocols import ModelIdentity
from server.backends import EndpointCollector
from server.observe.metrics import BatchMetrics, CallMetrics, EngineCollector, new_registry, show_models
from server.observe.service_metrics import AnswerMetrics, EvaluateMetrics, JudgeMetrics, SummaryMetrics

ROLES = ("embedding", "nli")
MAX_VALUES_CHARS = 80  # longer lists make a table unreadable; the contract has them
HEAD = """\
<!-- Made by python -m scripts.reference; change the texts of the metrics in the code. -->

# Metrics

At `http://HOST:9464/metrics` (`metrics.host`, `metrics.port`), in Prometheus' format. A histogram has the series
`_bucket`, `_sum` and `_count`. Values of a label stand here where the code fixes them and they are
few. `process_` metrics (memory, CPU, file descriptors) come with them. `precis_llm_` metrics add up all endpoints of
language models, and are there when the settings name one. [deploy/](../../deploy/README.md) has a dashboard and alerts
made of them.

| name | kind | labels | meaning |
|---|---|---|---|
"""


class RecordingRegistry(CollectorRegistry):
    """A registry that keeps what was registered, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Registers and keeps."""
        super().register(collector)
        self.collectors.append(collector)


def metrics_page() -> str:
    """Returns the text of the page."""
    return HEAD + "".join(
        f"| `{name}` | {kind} | {labels} | {text} |\n"
        for name, kind, labels, text in sorted(row for collector in _collectors() for row in _rows(collector))
    )


def _collectors() -> list[Collector]:
    registry = RecordingRegistry()
    CallMetrics(registry).method("")  # its histogram shows labels of series only
    for make in (BatchMetrics, EvaluateMetrics, JudgeMetrics, AnswerMetrics, SummaryMetrics):
        make(registry)
    show_models(registry, {role: ModelIdentity("", "", "", "") for role in ROLES})
    statistics = EngineStatistics(dict.fromkeys(ROLES, ModelStatistics()), is_ready=True, worker_restarts=0)
    registry.register(EngineCollector(lambda: statistics))
    registry.register(EndpointCollector([Endpoint(LlmConfig(base_url="http://127.0.0.1:1/v1", model="m"))]))
    build = [one for one in new_registry().collect() if one.name.startswith("precis_")]
    return [*registry.collectors, _Fixed(build)]


class _Fixed(Collector):
    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> list[Metric]:
        return self._metrics


def _rows(collector: Collector) -> Iterator[tuple[str, str, str, str]]:
    for family in collector.collect():
        values: dict[str, dict[str, None]] = {name: {} for name in _label_names(collector, family)}
        for sample in family.samples:
            for label, value in sample.labels.items():
                values.setdefault(label, {})[value] = None
        values.pop("le", None)
        ending = {"counter": "_total", "info": "_info"}.get(family.type, "")
        is_fixed = family.type != "info" or isinstance(collector, MetricWrapperBase)
        labels = (_label(name, [one for one in found if one and is_fixed]) for name, found in values.items())
        yield f"{family.name}{ending}", family.type, "; ".join(labels), family.documentation


def _label_names(collector: Collector, family: Metric) -> tuple[str, ...]:
    """Returns the labels of a metric that may have no series yet; no public attribute has them."""
    return (*getattr(collector, "_labelnames", ()), *getattr(family, "_labelnames", ()))


def _label(name: str, values: list[str]) -> str:
    shown = ", ".join(values)
    return f"`{name}`: {shown}" if shown and len(shown) <= MAX_VALUES_CHARS else f"`{name}`"
