"""Prometheus metrics of the language model's endpoint, read when scraped."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pipeline.llm.endpoint import Endpoint

COUNTERS = {
    "attempts": "Requests sent to the language model's endpoint.",
    "retries": "Those of them that were sent again after a failure.",
    "answers": "Requests that brought a completion.",
    "prompt_tokens": "Tokens read, as the endpoint counted them.",
    "completion_tokens": "Tokens written, likewise.",
    "cost": "What the answers cost, at the prices of the settings.",
}
GAUGES = {
    "in_flight": "Requests that hold one of the places in flight.",
    "waiting": "Requests that wait for one.",
    "concurrency_limit": "Places in flight; fewer after the endpoint said that it is busy.",
}


class EndpointCollector(Collector):
    """Reads the endpoint's own totals at every scrape, so that calls pay nothing for them."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def collect(self) -> Iterator[Metric]:
        """Yields all counters and gauges."""
        usage = self._endpoint.usage.snapshot()
        for field, text in COUNTERS.items():
            yield CounterMetricFamily(f"precis_llm_{field}", text, value=getattr(usage, field))
        failures = CounterMetricFamily("precis_llm_failures", "Requests that brought no completion.", labels=["error"])
        for name, count in usage.failures.items():
            failures.add_metric([name], count)
        yield failures
        for field, text in GAUGES.items():
            yield GaugeMetricFamily(f"precis_llm_{field}", text, value=getattr(self._endpoint.limiter, field))
