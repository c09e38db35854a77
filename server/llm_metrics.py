"""Prometheus metrics of the language model's endpoint, read when scraped."""

from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from pipeline.llm.usage import UsageSnapshot

COUNTERS = {
    "attempts": "Requests sent to the language model's endpoint.",
    "answers": "Requests that brought a completion.",
    "prompt_tokens": "Tokens read, as the endpoint counted them.",
    "completion_tokens": "Tokens written, likewise.",
    "cost": "What the answers cost, at the prices of the settings.",
}


class EndpointCollector(Collector):
    """Reads the endpoint's own totals at every scrape, so that calls pay nothing for them."""

    def __init__(self, snapshot: Callable[[], UsageSnapshot]) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        """Yields all counters."""
        usage = self._snapshot()
        for field, text in COUNTERS.items():
            yield CounterMetricFamily(f"precis_llm_{field}", text, value=getattr(usage, field))
        failures = CounterMetricFamily("precis_llm_failures", "Requests that brought no completion.", labels=["error"])
        for name, count in usage.failures.items():
            failures.add_metric([name], count)
        yield failures
