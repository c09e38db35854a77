"""Prometheus metrics of calls, and the HTTP server that offers all metrics."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, start_http_server

from server.config import MetricsConfig
from server.errors import StartupError

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class MethodMetrics:
    """Metrics of one RPC, with the labels looked up beforehand: a look-up costs more than the increment."""

    def __init__(self, rpc: str, calls: Counter, seconds: Histogram) -> None:
        self.rpc = rpc
        self._calls = calls
        self._seconds = seconds.labels(rpc)
        self._by_code: dict[str, Counter] = {}

    def observe(self, code: str, seconds: float) -> None:
        """Counts one call that ended."""
        counter = self._by_code.get(code)
        if counter is None:
            counter = self._by_code[code] = self._calls.labels(self.rpc, code)
        counter.inc()
        self._seconds.observe(seconds)


class CallMetrics:
    """Metrics of all RPCs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter("precis_calls", "Calls that ended.", ["rpc", "code"], registry=registry)
        self._seconds = Histogram(
            "precis_call_seconds",
            "From the read request to the end of the call.",
            ["rpc"],
            registry=registry,
            buckets=SECONDS,
        )
        self._in_flight = Gauge("precis_calls_in_flight", "Calls that have started and not ended.", registry=registry)

    def method(self, rpc: str) -> MethodMetrics:
        """Makes the metrics of one RPC."""
        return MethodMetrics(rpc, self._calls, self._seconds)

    def watch_in_flight(self, count: Callable[[], int]) -> None:
        """Reads the number of calls in flight from `count` at every scrape."""
        self._in_flight.set_function(count)


def new_registry() -> CollectorRegistry:
    """Makes a registry that holds the metrics of this process: memory, CPU, file descriptors."""
    registry = CollectorRegistry()  # not the global one: two servers in one process must not share counts
    ProcessCollector(registry=registry)
    return registry


class MetricsServer:
    """Offers /metrics over HTTP while entered."""

    def __init__(self, config: MetricsConfig, registry: CollectorRegistry) -> None:
        self._config = config
        self._registry = registry
        self.port = 0

    def __enter__(self) -> Self:
        host, port = self._config.host, self._config.port
        try:
            self._server, self._thread = start_http_server(port, host, self._registry)
        except OSError as error:
            raise StartupError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}; "
                "choose another PRECIS_METRICS__PORT, or set PRECIS_METRICS__ENABLED=false"
            ) from error
        self.port = self._server.server_port
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
